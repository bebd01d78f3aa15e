"""Errors for requests that a user cannot have, and the commands that bring packages that are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from shlex import quote

from tileir.ir.diagnostics import UnsupportedError

_EXTRA = re.compile(r"(.+?)\s*;.*extra\s*==\s*['\"]([\w-]+)['\"]")


class UsageError(Exception):
    """Something the user asked for that cannot be done: shown in one line, exit status 2."""


@cache
def pip_install(extra: str) -> str:
    """Return the command that installs the packages of an extra, which are named as tileir itself may be a clone."""
    try:
        found = [_EXTRA.match(text) for text in requires("tileir") or ()]
    except PackageNotFoundError:
        found = []
    packages = [quote(match[1]) for match in found if match and match[2] == extra]
    return f"pip install {' '.join(packages) or quote(f'.[{extra}]')}"


@contextmanager
def extra(tool: str, *packages: str) -> Iterator[None]:
    """Import packages of the extra ``tools`` inside the block. Raises `UnsupportedError` where one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise UnsupportedError(f"{tool} needs {error.name}: {pip_install('tools')}", "tools") from None
