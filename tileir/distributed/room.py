"""Room on the disk for what bands write into mapped files: the system ends a worker that finds none in a write.

Knows: how room is reserved, and which errors say that there is none. Does not know: which bytes are written (`plan`).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def reserve(path: str | Path, begin: int, size: int) -> None:
    """Give bytes of a file a place on the disk, where the system can do that; what is in them stays.

    Raises OSError with the name of the file if there is no room.
    """
    if not size or not hasattr(os, "posix_fallocate"):
        return
    with open(path, "r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), begin, size)
        except OSError as error:
            if error.errno in _FULL:
                raise OSError(
                    error.errno, f"no room for the {size} bytes that the kernel may write", str(path)
                ) from None
