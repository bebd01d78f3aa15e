"""Documents with their style, their program and their data inside, for a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from tileir.gpu.arch import CAPABILITIES
from tileir.tools.serve.panes import available


def document(package: str, data: object, **texts: str) -> str:
    """Return the document of ``page.html``, ``page.css`` and ``page.js`` of a package, with `data`, and with texts,
    which are HTML, in the places of their names."""
    folder = files(package)
    template, style, program = ((folder / f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    parts: Mapping[str, str] = {**texts, "STYLE": style, "DATA": embedded_json(data), "PROGRAM": program}
    for name, part in parts.items():
        template = template.replace(f"<!-- {name} -->", part, 1)
    return template


def embedded_json(data: Any) -> str:
    """Return JSON that stands in a script of a document."""
    content = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return content.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


# ---------------------------------------------------------------- the page of the server


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
