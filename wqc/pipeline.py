"""The compiler as a list of named steps."""
