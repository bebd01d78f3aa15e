"""Documents with their style, their program and their data inside, for a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_STRICT = '"use strict";\n'


def document(package: str, data: object, **texts: str) -> str:
    """Return the document of ``page.html``, ``page.css`` and ``page.js`` of a package, with `data`, with texts, which
    are HTML, in the places of their names, and with the functions that all pages share."""
    folder = files(package)
    template, style, own = ((folder / f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    program = own.replace(_STRICT, _STRICT + (files(__name__.rpartition(".")[0]) / "page.js").read_text("utf-8"), 1)
    parts: Mapping[str, str] = {**texts, "STYLE": style, "DATA": embedded_json(data), "PROGRAM": program}
    for name, part in parts.items():
        template = template.replace(f"<!-- {name} -->", part, 1)
    return template


def embedded_json(data: Any) -> str:
    """Return JSON that stands in a script of a document."""
    content = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return content.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
