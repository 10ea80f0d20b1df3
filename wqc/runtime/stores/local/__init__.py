"""Jobs as processes on this machine, their state in a folder."""
