"""Settings that libraries read once, when they are imported: import this first.

Triton runs in its interpreter. BLAS uses one thread, for `tileir` and for its peers: on the small matrices of a tile a
second one gains little, and waits for a long time on a machine that has something else to do.
"""

import os

os.environ["TRITON_INTERPRET"] = "1"
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
