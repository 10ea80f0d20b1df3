"""One queue: its items, their Jobs, and the record of what is finished."""
