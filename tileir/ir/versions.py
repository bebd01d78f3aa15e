"""Versions of the language, in which everything that came after the first says since when it exists."""

from __future__ import annotations

from functools import cache

Version = tuple[int, int]
"""Major and minor number: versions in this form can be compared."""

VERSIONS = ("13.1", "13.2", "13.3", "13.4", "13.5")
NEWEST = VERSIONS[-1]


@cache
def version_key(version: str) -> Version:
    """Return ``(13, 3)`` for ``"13.3"``."""
    major, minor = version.split(".")
    return int(major), int(minor)


def version_text(version: Version) -> str:
    """Return ``"13.3"`` for ``(13, 3)``."""
    major, minor = version
    return f"{major}.{minor}"
