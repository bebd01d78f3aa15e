"""The listings of the documents the project started from, read where they are present.

They lie beside the repository, not in it; without them the tests that use this module are skipped.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "seeds"

needed = pytest.mark.skipif(not FOLDER.is_dir(), reason="the seed documents are not beside the repository")


@cache
def appendix() -> dict[str, str]:
    """The listings of the appendix by their section number (``12.3.9``)."""
    text = (FOLDER / "seed-1-appendix-examples.txt").read_text()
    parts = re.split(r"(?m)^(12\.\d+(?:\.\d+)?)\. .*?#[ \t]*$", text)
    return {number: body for number, body in zip(parts[1::2], parts[2::2]) if number.count(".") == 2}


def mutex_program() -> str:
    """The cross-block program of the programming model."""
    text = (FOLDER / "seed-0-programming-model-13.1.txt").read_text()
    begin = text.index("cuda_tile.module @hello_cross_block")
    depth = 0
    for position in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0 and text[position] == "}":
            return text[begin : position + 1]
    raise AssertionError("the program has no end")
