"""What a workflow consists of, how its nodes are joined, and an item on its way through them."""
