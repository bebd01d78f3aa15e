"""Machine code kept on disk from run to run.

An entry is a file: a magic word, the SHA-256 of all that follows, the lengths of its two parts, the parts. It appears
whole, by renaming; one that is damaged is not used. The checksum finds accidents: anyone who can write entries can make
this process run any code. So a directory that others may write to, or that belongs to somebody else, is not used.
Without a usable directory nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import struct
import sys
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

Parts = tuple[bytes, bytes]

MAGIC = b"tileirN1"
MAX_BYTES = 512 << 20
_LENGTHS = struct.Struct("<QQ")
_DIGEST = 32
_SUFFIX, _NEW = ".native", ".new."
STALE_SECONDS = 3600
"""The age at which an unfinished file counts as garbage."""
_ROOT = 0
"""The user, and the group, whom our files may belong to too: root could change our memory, and need not plant code."""


def key_of(*texts: str) -> str:
    """Return the name of what depends on `texts` and on nothing else."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def default_directory() -> Path | None:
    """Return ``TILEIR_CACHE_DIR``, else ``tileir`` in the place that this system has for caches; None without a
    home."""
    chosen = os.environ.get("TILEIR_CACHE_DIR")
    if chosen:
        return Path(chosen)
    with contextlib.suppress(RuntimeError):
        return _caches() / "tileir"
    return None


def _caches() -> Path:
    """Return the folder for caches. Raises RuntimeError if the user has no home directory."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


class Cache:
    """Entries by key, in `directory`; None keeps nothing. Safe to share among threads and processes."""

    def __init__(self, directory: Path | None, max_bytes: int = MAX_BYTES) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self._warned = False

    def get(self, key: str) -> Parts | None:
        """Return the parts of an entry; None if there is none or it is damaged."""
        if self.directory is None or not self._trusted():
            return None
        path = self._path(key)
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return _parts(content)

    def put(self, key: str, parts: Parts) -> None:
        """Keep an entry, if possible."""
        if self.directory is None:
            return
        with contextlib.suppress(OSError):
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._trusted():
                return
            self._write(self._path(key), _content(parts))
            self._shrink()

    def used(self) -> tuple[int, int]:
        """Return the number of entries, and their bytes."""
        sizes = [size for _, size, _ in self._files(suffix=_SUFFIX)]
        return len(sizes), sum(sizes)

    def distrust(self) -> str | None:
        """Return the reason not to use the directory, if it is there: somebody else may write to it."""
        if self.directory is None or not hasattr(os, "getuid"):
            return None
        try:
            status = os.stat(self.directory)
            if status.st_uid not in (os.getuid(), _ROOT):
                return "it belongs to another user"
            if writers := _foreign_writers(status):
                return f"{writers} may write to it"
            around = os.stat(os.path.join(self.directory, os.pardir))  # of a link, where it leads
        except OSError:
            return None
        replacers = "" if around.st_mode & stat.S_ISVTX else _foreign_writers(around)
        return f"{replacers} may put another in its place" if replacers else None

    def _trusted(self) -> bool:
        """Return whether the directory may be used; warn once if not."""
        reason = self.distrust()
        if reason is not None and not self._warned:
            self._warned = True
            what = f"the cache directory {str(self.directory)!r} is not used: {reason}"
            hint = "machine code found there would be run; TILEIR_CACHE_DIR may name another place"
            warnings.warn(f"{what} ({hint})", RuntimeWarning, stacklevel=2)
        return reason is None

    def _path(self, key: str) -> Path:
        assert self.directory is not None
        return self.directory / (key + _SUFFIX)

    def _write(self, path: Path, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.directory, prefix=_NEW)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _shrink(self) -> None:
        """Remove the entries that were used longest ago, until the others fit, and what killed processes left."""
        for begun, _, path in self._files(prefix=_NEW):
            if begun < time.time() - STALE_SECONDS:
                with contextlib.suppress(OSError):
                    os.unlink(path)
        files = sorted(self._files(suffix=_SUFFIX), reverse=True)
        total = 0
        for _, size, path in files:
            total += size
            if total > self.max_bytes:
                with contextlib.suppress(OSError):
                    os.unlink(path)

    def _files(self, prefix: str = "", suffix: str = "") -> list[tuple[float, int, str]]:
        """Return the time of the last use of each file of such a name, its size and its path."""
        found = []
        with contextlib.suppress(OSError):
            for file in os.scandir(self.directory) if self.directory is not None else ():
                if file.name.startswith(prefix) and file.name.endswith(suffix):
                    with contextlib.suppress(OSError):
                        status = file.stat()
                        found.append((status.st_mtime, status.st_size, file.path))
        return found


def shared_cache() -> Cache:
    """Return the cache of this user."""
    return _cache_in(default_directory())


@cache
def _cache_in(directory: Path | None) -> Cache:
    return Cache(directory)


def _foreign_writers(status: os.stat_result) -> str:
    """Name who else may write to a directory: everybody, a group with other members, or nobody ("")."""
    if status.st_mode & stat.S_IWOTH:
        return "everybody"
    shared = status.st_mode & stat.S_IWGRP and status.st_gid != _ROOT and not _is_private(status.st_gid)
    return f"the group {status.st_gid}" if shared else ""


def _is_private(group: int) -> bool:
    """Return whether a group is its user's alone: it has the user's number, by convention, and no other members."""
    import grp  # not on Windows
    import pwd

    user = os.getuid()
    with contextlib.suppress(KeyError):  # a container's user may have no name
        return group == user and set(grp.getgrgid(group).gr_mem) <= {pwd.getpwuid(user).pw_name}
    return group == user


def _content(parts: Parts) -> bytes:
    body = _LENGTHS.pack(*map(len, parts)) + b"".join(parts)
    return MAGIC + hashlib.sha256(body).digest() + body


def _parts(content: bytes) -> Parts | None:
    head = len(MAGIC) + _DIGEST
    body = content[head:]
    if content[: len(MAGIC)] != MAGIC or hashlib.sha256(body).digest() != content[len(MAGIC) : head]:
        return None
    first, second = _LENGTHS.unpack_from(body)
    begin = _LENGTHS.size
    return body[begin : begin + first], body[begin + first : begin + first + second]
