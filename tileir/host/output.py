"""The output of a launch: where `print_tko` writes (spec: misc#print_tko).

Does not know: what is written (`host.printing`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

Output = TextIO | Callable[[str], object] | None
"""A text stream, or a function that takes each text; None is standard output, as it is when something is written."""


def write(output: Output, text: str) -> None:
    """Hand a text to the output, at once."""
    if output is None:
        sys.stdout.write(text)
    elif callable(output):
        output(text)
    else:
        output.write(text)
