"""Where items go that leave the workflow."""
