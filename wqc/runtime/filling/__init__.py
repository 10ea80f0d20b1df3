"""`wqc fill`: items onto the queue, topic or list that a source reads."""
