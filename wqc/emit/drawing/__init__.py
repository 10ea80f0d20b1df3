"""A workflow's graph as text: what to draw, and one file per format."""
