"""The page of a launch: one document with its style, its program and its data inside.

Knows: how the three are put together so that nothing in the data ends a script. Does not know: what the data says.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

_HEIGHT = 820


def page(data: dict[str, Any]) -> str:
    """The whole document."""
    folder = files(__package__)
    style, program = ((folder / name).read_text("utf-8") for name in ("page.css", "page.js"))
    content = json.dumps(data, separators=(",", ":"), allow_nan=False)
    content = content.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    template = (folder / "page.html").read_text("utf-8")
    title = html.escape(f"@{data['kernel']}, grid {' x '.join(map(str, data['grid']))}")
    for name, part in (("TITLE", title), ("STYLE", style), ("DATA", content), ("PROGRAM", program)):
        template = template.replace(f"<!-- {name} -->", part, 1)
    return template


def embedded(document: str) -> str:
    """The document inside another one, such as a notebook."""
    quoted = html.escape(document, quote=True)
    return f'<iframe srcdoc="{quoted}" style="width:100%;height:{_HEIGHT}px;border:1px solid #8884"></iframe>'
