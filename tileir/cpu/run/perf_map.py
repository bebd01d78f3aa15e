"""Names of native code for `perf`: the file ``/tmp/perf-PID.map``.

Knows: the format (Linux, ``tools/perf/Documentation/jit-interface.txt``). `perf` takes a name for each range of
addresses and has no lines there, so a range is the code of one line and its name says which. Does not know: how code is
made or loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from tileir.cpu.llvm.object_files import CodeMap
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.shown import shown

_PLACE = "/tmp/perf-{}.map"


def write_names(kernel: str, code: CodeMap, base: int) -> None:
    """Add the code of a kernel at `base` to the file of this process. Raises UnsupportedError if that cannot be."""
    if not sys.platform.startswith("linux"):
        raise UnsupportedError(f"debug_info: expected Linux, got {sys.platform}", "cpu")
    lines = "".join(f"{base + begin:x} {end - begin:x} {name}\n" for begin, end, name in _names(kernel, code))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    try:
        handle = os.open(_PLACE.format(os.getpid()), flags, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            if os.fstat(handle).st_uid != os.getuid():
                raise UnsupportedError("debug_info: the file of names for perf belongs to another user", "cpu")
            stream.write(lines)
    except OSError as error:
        raise UnsupportedError(f"debug_info: the file of names for perf: {error.strerror}", "cpu") from None


def _names(kernel: str, code: CodeMap) -> Iterator[tuple[int, int, str]]:
    """Ranges in order, none over another, and what they are called."""
    name = shown(kernel)
    for function in code.functions:
        at, end = function.begin, function.begin + function.size
        for one in code.ranges:
            begin, limit = max(one.begin, at), min(one.end, end)
            if begin >= limit or not one.line:
                continue
            if begin > at:
                yield at, begin, f"@{name} [{function.name}]"
            yield begin, limit, f"@{name} {shown(os.path.basename(one.file))}:{one.line}"
            at = limit
        if at < end:
            yield at, end, f"@{name} [{function.name}]"
