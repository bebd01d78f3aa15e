"""The example programs, as files beside this one, and what is needed to run and check them (`checks`).

Knows: where the programs are, and the shape of an example. Does not know: any single example (`checks`), nor how a
kernel is launched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Arguments = dict[str, np.ndarray | np.generic]
    Sizes = Mapping[str, int]
    Answer = Mapping[str, np.ndarray]

FOLDER = Path(__file__).parent
"""The folder of the programs."""


@dataclass(frozen=True)
class Example:
    """One way to run one kernel of an example program, with the right answer.

    ``arguments(sizes, random)`` makes the arguments by parameter name, in order; ``grid(sizes)`` the grid.
    ``answer(arguments)`` gives, for each array that the kernel writes, what it must hold afterwards (from the arguments
    as they were before); ``printed(sizes)`` the lines the kernel prints, in any order. An element may be off by
    ``tolerance`` times the largest element of the answer.
    """

    name: str
    file: str
    kernel: str
    sizes: Sizes
    grid: Callable[[Sizes], tuple[int, ...]]
    arguments: Callable[[Sizes, np.random.Generator], Arguments]
    answer: Callable[[Arguments], Answer]
    tolerance: float = 0.0
    printed: Callable[[Sizes], list[str]] = field(default=lambda sizes: [])

    @property
    def path(self) -> Path:
        return FOLDER / self.file

    def resized(self, **sizes: int) -> Example:
        """Return the same example on larger or smaller arrays."""
        unknown = sizes.keys() - self.sizes.keys()
        if unknown:
            raise ValueError(f"example '{self.name}' has the sizes {', '.join(self.sizes)}, got {', '.join(unknown)}")
        return replace(self, sizes={**self.sizes, **sizes})
