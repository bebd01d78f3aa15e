"""Documents with their style, their program and their data inside, for a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


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
