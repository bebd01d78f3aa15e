"""Warnings of a running kernel, as Python gives them.

Their texts are in `host.undefined`.
"""

from __future__ import annotations

import linecache
import os
import warnings

from tileir.ir.diagnostics import Coordinates
from tileir.ir.escaping import shown, shown_lines
from tileir.ir.loc import FileLoc, Location, SourceLoc, file_position

MAX_SOURCE_BYTES = 1 << 24
NO_FILE = "<string>"
"""The name of a text without a file, which Python does not open."""


class KernelWarning(UserWarning):
    """Behaviour that a program should not rely on, met while a kernel ran (one per operation and launch).

    Attributes
    ----------
    message : str
        What was met.
    kernel : str
        The entry's name.
    block : tuple of int
        The tile block, ``(x, y, z)``.
    op : str
        The operation's name.
    loc : Location
        Its place.
    """

    __module__ = "tileir"

    def __init__(self, message: str, kernel: str, block: Coordinates, op: str, loc: Location) -> None:
        super().__init__(shown_lines(f"{message} ['{op}', kernel @{shown(kernel)}, tile block {block}]"))
        self.message = message
        self.kernel = kernel
        self.block = block
        self.op = op
        self.loc = loc


def issue(warning: KernelWarning) -> None:
    """Give it at the line of the program's own source, of debug info or of the text, so that Python shows that line."""
    place = file_position(warning.loc)
    if isinstance(place, SourceLoc):
        place = place.file_loc
    if isinstance(place, FileLoc) and place.line > 0 and _is_text(place.file):
        # Python keeps in the registry what it has said, in ours as it would in that file's.
        registry = globals().setdefault("__warningregistry__", {})
        warnings.warn_explicit(warning, None, place.file, place.line, registry=registry)
    else:
        warnings.warn(warning, stacklevel=3)


def _is_text(file: str) -> bool:
    """Return whether Python may open what a program calls its file: no device, and nothing huge."""
    if not file.isprintable():
        return False
    if file == NO_FILE:
        return True
    try:
        return file in linecache.cache or (os.path.isfile(file) and os.path.getsize(file) <= MAX_SOURCE_BYTES)
    except OSError:
        return False
