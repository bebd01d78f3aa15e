"""Kernels of cuTile Python as people write them for a GPU: not tuned for this target, and not changed for it.

Each module yields comparisons: a name, the launch, and torch eager on the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

Results = torch.Tensor | tuple[torch.Tensor, ...]
Comparison = tuple[str, Callable[[], Results], Callable[[], Results]]

PROCESSORS = torch.get_num_threads()
"""The processors that a persistent kernel finds on its device."""


def normal(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape).to(dtype)
