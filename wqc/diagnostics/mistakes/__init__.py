"""Every mistake, one file per family. Importing this package fills `MISTAKES`."""
