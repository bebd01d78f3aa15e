"""The target ``cuda:tileiras``: GPUs, through the vendor's assembler.

Knows: what must be there for it. Importing this raises ImportError where something is missing.
"""

from __future__ import annotations

from tileir.gpu.driver import shared_driver
from tileir.gpu.vendor import require_program
from tileir.runtime.gpu import Gpu
from tileir.runtime.gpu_routes import VendorRoute

require_program()
TARGET = Gpu(
    "cuda:tileiras",
    "GPUs, through the vendor's assembler; memory accesses are not checked",
    shared_driver(),
    VendorRoute,
    gives_output=False,
)
