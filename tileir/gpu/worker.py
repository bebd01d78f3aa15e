"""The process that Triton's compiler runs in, so that its aborts end this process and not the user's.

Nothing of `tileir` is imported here. Requests and answers are JSON with the length in front (`read_message`,
`write_message`), one answer to each request:

    {"ttir": text, "target": ["cuda", 90, 32], "options": {...}, "stages": ["ttgir", "cubin"]}
    {"stages": {"ttgir": text, "cubin": base64}, "metadata": {...}}  or  {"error": text}
"""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

STAGES = {
    "cuda": ("ttir", "ttgir", "llir", "ptx", "cubin"),
    "hip": ("ttir", "ttgir", "llir", "amdgcn", "hsaco"),
}
"""The stages of each back end, in order; the last is machine code, all others are texts."""
METADATA = (
    "name", "num_warps", "num_ctas", "shared", "tmem_size", "global_scratch_size", "global_scratch_align",
    "profile_scratch_size", "profile_scratch_align", "tensordesc_meta",
)  # fmt: skip
"""Properties of a cubin that the launcher needs."""

FILE = "kernel.ttir"

_LENGTH = struct.Struct("<Q")


def read_message(stream: IO[bytes]) -> dict[str, Any] | None:
    """Return the next message; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None


def write_message(stream: IO[bytes], message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def compiled(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import Language

    backend = _backend(*request["target"])
    options = backend.parse_options(request["options"])
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = _parsed(request["ttir"], context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language.TRITON)
    metadata: dict[str, Any] = dict(options.__dict__)
    made: dict[str, str] = {}
    names = STAGES[request["target"][0]]
    last = max(map(names.index, request["stages"]))
    for stage in names[: last + 1]:
        module = stages[stage](module, metadata)
        if stage in request["stages"]:
            made[stage] = base64.b64encode(module).decode() if stage == names[-1] else str(module)
    return {"stages": made, "metadata": {name: metadata.get(name) or 0 for name in METADATA}}


def _backend(name: str, arch: int | str, warp: int) -> Any:
    from triton.backends.compiler import GPUTarget

    if name == "cuda":
        from triton.backends.nvidia.compiler import CUDABackend as Backend
    else:
        from triton.backends.amd.compiler import HIPBackend as Backend
    return Backend(GPUTarget(name, arch, warp))


def _parsed(text: str, context: Any) -> Any:
    """Return the module that the text describes."""
    from triton._C.libtriton import ir

    before = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        # A name without its folder: it goes into the machine code, which is to be the same each time.
        os.chdir(directory)
        try:
            Path(FILE).write_text(text, encoding="utf-8")
            module = ir.parse_mlir_module(FILE, context)
        finally:
            os.chdir(before)
    module.context = context
    return module


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return compiled(request)
    except Exception as error:  # whatever Triton raises is for the user's process to report
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Answer requests from standard input until it ends. What Triton prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (request := read_message(sys.stdin.buffer)) is not None:
        write_message(answers, _answer(request))


if __name__ == "__main__":
    main()
