"""What is written, as frozen views: one module per kind of file, with values that a template only prints."""
