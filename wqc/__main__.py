"""`python -m wqc`."""

import sys

from wqc.cli.main import main

sys.exit(main())
