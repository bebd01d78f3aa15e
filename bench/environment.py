"""Settings that libraries read once, when they are imported: import this first.

Triton runs in its interpreter. BLAS uses one thread, for `tileir` and for its peers: on the small matrices of a tile a
second one gains little, and waits for a long time on a machine that has something else to do.
"""

import os

SETTINGS = {"TRITON_INTERPRET": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
BEFORE = dict(os.environ)
"""The environment without them, for what is to use all processors."""

os.environ.update(SETTINGS)
