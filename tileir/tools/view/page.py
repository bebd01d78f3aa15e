"""The page of a launch: one document with its style, its program and its data inside.

Knows: its title, and how it stands in a notebook. Does not know: what the data says.
"""

from __future__ import annotations

import html
from typing import Any

from tileir.tools.documents import document

_HEIGHT = 820


def page(data: dict[str, Any]) -> str:
    """The whole document."""
    title = html.escape(f"@{data['kernel']}, grid {' x '.join(map(str, data['grid']))}")
    return document(__package__, data, TITLE=title)


def embedded(document: str) -> str:
    """The document inside another one, such as a notebook."""
    quoted = html.escape(document, quote=True)
    return f'<iframe srcdoc="{quoted}" style="width:100%;height:{_HEIGHT}px;border:1px solid #8884"></iframe>'
