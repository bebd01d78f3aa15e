"""Runs a range of rounds: the child process of a campaign. Each round gives a line of JSON before it, and one after."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
from random import Random

import numpy as np

import tileir
from tests.fuzz.launching import kernels
from tests.fuzz.launching.rounds import DROPPED, note_dropped, run_round
from tileir.host import limits


def main() -> None:
    first, count = map(int, sys.argv[1:3])
    # Whoever started this process may have had it ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = note_dropped
    limits.GRACE = 3600.0  # whoever waits for nobody is to be interrupted, however late
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEIR_CACHE_DIR"] = folder
        _warm_up()
        for seed in range(first, first + count):
            print(json.dumps({"begin": seed}), flush=True)
            print(json.dumps({"seed": seed, "wrong": run_round(seed)}), flush=True)
        print(json.dumps({"dropped": DROPPED}), flush=True)


def _warm_up() -> None:
    """Have every kernel compiled: children that are forked meanwhile need not."""
    random = Random(0)
    for launch in kernels.ENDING:
        for target in ("cpu", "interp"):
            launch(random, target)
    for text in (kernels.BUSY, kernels.SPIN.replace("ORDER", "acquire device")):
        with contextlib.suppress(tileir.Trap):
            kernels.kernel(text).launch(1, np.zeros(1, np.int32), max_iterations=1)


if __name__ == "__main__":
    main()
