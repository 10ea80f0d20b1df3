"""Programs beside a manager that serve the Source API: sources, and pattern nodes in front of any source."""
