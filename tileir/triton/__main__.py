"""``python -m tileir.triton SCRIPT.py [ARGUMENT...]``: the same as ``tileir triton``."""

import sys

from tileir.cli import main

sys.exit(main(["triton", *sys.argv[1:]]))
