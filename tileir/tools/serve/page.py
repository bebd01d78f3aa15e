"""The page that the server sends: one document with its style, its program and what it begins with."""

from __future__ import annotations

from typing import Any

from tileir.gpu.arch import CAPABILITIES
from tileir.tools.documents import document
from tileir.tools.serve.panes import available

FIRST = ("Tile IR", "LLVM IR", "assembly")
"""The panes that are open at first."""
LAUNCHES = ("run", "sanitize")


def page(text: str, grid: str = "1", words: str = "") -> str:
    """Return the document, with a program in its editor."""
    state: dict[str, Any] = {
        "text": text,
        "kernel": "",
        "level": "2",
        "passes": "",
        "arch": "sm_90",
        "grid": grid,
        "arguments": words,
        "target": "cpu",
        "panes": list(FIRST),
    }
    data = {"state": state, "panes": [*available(), *LAUNCHES], "archs": [f"sm_{one}" for one in CAPABILITIES]}
    return document(__package__, data)
