"""How many items of a queue are worked on at a time, where, and with which template."""
