"""The target ``cuda``: GPUs, through Triton's compiler.

Knows: what must be there for it. Importing this raises ImportError where something is missing.
"""

from __future__ import annotations

from tileir.gpu.compiler import require_triton
from tileir.gpu.driver import shared_driver
from tileir.runtime.gpu import Gpu
from tileir.runtime.gpu_routes import OpenRoute

require_triton()
TARGET = Gpu(
    "cuda",
    "GPUs, through Triton's compiler; memory accesses are not checked",
    shared_driver(),
    OpenRoute,
)
