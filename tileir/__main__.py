"""``python -m tileir`` is the `tileir` command."""

import sys

from tileir.cli import main

if __name__ == "__main__":
    sys.exit(main())
