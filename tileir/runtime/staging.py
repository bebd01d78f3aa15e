"""Arrays of this process on targets whose memory is elsewhere.

Knows: that they are copied there and back. Does not know: how (the targets), nor what is launched meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from tileir.runtime.arrays import Array
from tileir.runtime.targets import DeviceTarget, Target


@contextmanager
def placed(target: Target, values: Sequence[object]) -> Iterator[list[object]]:
    """The values, arrays where the target has its memory; what they hold there at the end is put into those given.

    Raises Trap for a fault of what was launched meanwhile.
    """
    there = list(values)
    if isinstance(target, DeviceTarget):
        there = [target.placed(value) if isinstance(value, np.ndarray) else value for value in values]
    yield there
    for value, copy in zip(values, there):
        if isinstance(value, np.ndarray) and isinstance(copy, Array) and isinstance(target, DeviceTarget):
            target.fetch(copy, value)
