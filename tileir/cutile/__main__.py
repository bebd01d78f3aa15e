"""``python -m tileir.cutile SCRIPT.py [ARGUMENT...]``: the same as ``tileir cutile``."""

import sys

from tileir.cli import main

sys.exit(main(["cutile", *sys.argv[1:]]))
