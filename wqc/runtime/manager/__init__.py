"""The manager, what it is told, and what it says about itself."""
