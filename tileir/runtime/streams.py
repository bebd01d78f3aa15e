"""The stream of a GPU that a launch goes to.

Knows: the stream objects of other libraries, and which of their streams is current; none of them is imported unless the
program has. Does not know: what is launched.
"""

from __future__ import annotations

import sys
from typing import Any

from tileir.gpu.arch import Vendor
from tileir.runtime.arrays import is_for_rocm

DEFAULT = 0
"""The default stream of the device, which waits for all others that are not made otherwise."""


def current_stream(ordinal: int, vendor: Vendor) -> int:
    """The stream that torch's work on device `ordinal` of the vendor goes to now; CuPy's if torch does not use such."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized() and is_for_rocm(torch) is (vendor is Vendor.AMD):
        stream: int = _torch_stream(torch, ordinal)
        return stream
    cupy = sys.modules.get("cupy")
    if cupy is None or is_for_rocm(cupy) is not (vendor is Vendor.AMD):
        return DEFAULT
    return int(cupy.cuda.get_current_stream().ptr)


def _torch_stream(torch: Any, ordinal: int) -> int:
    """The current stream, by the function that compiled code of torch calls: ten times faster than the public one."""
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(torch.cuda.current_stream(ordinal).cuda_stream if quick is None else quick(ordinal))


def stream_number(stream: object) -> int:
    """The driver's number of a stream: an integer, or a stream of torch, CuPy, Numba, cuda-core or the bindings.

    Raises TypeError for anything else.
    """
    number = _number(stream)
    if number is None or not 0 <= number < 1 << 64:
        expected = "the number of a stream, or a stream of torch, CuPy or any library with __cuda_stream__"
        raise TypeError(f"stream: expected {expected}, got {stream!r}")
    return number


def _number(stream: Any) -> int | None:
    if isinstance(stream, bool):
        return None
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for attribute in ("cuda_stream", "ptr"):
        if isinstance(getattr(stream, attribute, None), int):
            return int(getattr(stream, attribute))
    return int(stream) if hasattr(stream, "__int__") and not isinstance(stream, str | float) else None
