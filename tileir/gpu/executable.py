"""A compiled kernel as a launch needs it: the machine code, and the facts that the cache keeps beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tileir.gpu import extents
from tileir.gpu.arch import Vendor
from tileir.gpu.extents import Extent
from tileir.gpu.object_files import KernelInfo, cubin_kernels, hsaco_kernels, vendor_of
from tileir.gpu.ttir.lowering import BlockMemory, ConstantMemory, GlobalMemory, Hidden, Mailbox
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown

PARAMETER_BYTES = 8
"""Bytes passed for every parameter, a smaller value in the low ones."""


def kernels_of(binary: bytes) -> dict[str, KernelInfo]:
    """Return the kernels of a cubin or a hsaco by name. Raises ValueError for what is neither."""
    return hsaco_kernels(binary) if vendor_of(binary) is Vendor.AMD else cubin_kernels(binary)


@dataclass(frozen=True)
class Scratch:
    """Memory that Triton's code wants beside: `size` bytes for each block of hardware threads, at a multiple of
    `alignment`. Code that has this, of whatever size, takes its address and one more, which is null, at the end."""

    size: int
    alignment: int


@dataclass(frozen=True)
class Executable:
    """Machine code, a cubin or a hsaco, and one kernel in it.

    ``threads`` is the block size passed to the driver: 1 for kernels of `tileiras`, whose cubins know it. ``cluster``
    is the number of hardware blocks of a tile block, ``shared`` their dynamic shared memory in bytes. The parameters
    are those of the entry, then one address for each of ``hidden``, then those of ``scratch``. ``sites`` are the
    operations that need the host, by their numbers in the program. ``narrow`` are the extents that must be below 2^31.
    ``polls`` says that tile blocks wait for others, so that all must run at the same time.
    """

    binary: bytes
    kernel: str
    threads: int = 1
    cluster: int = 1
    shared: int = 0
    hidden: tuple[Hidden, ...] = ()
    scratch: Scratch | None = None
    sites: tuple[int, ...] = ()
    narrow: tuple[Extent, ...] = ()
    polls: bool = False

    def require_parameters(self, given: int) -> None:
        """Check that the cubin takes the parameters that a launch passes: `given` arguments and the hidden ones. Code
        with more parameters would read arbitrary memory. Raises UnsupportedError.
        """
        count = given + len(self.hidden) + (0 if self.scratch is None else 2)
        found = kernels_of(self.binary)
        target = (vendor_of(self.binary) or Vendor.NVIDIA).value
        if self.kernel not in found:
            raise UnsupportedError(f"there is no code for kernel @{shown(self.kernel)} in its machine code", target)
        sizes = found[self.kernel].parameters
        if len(sizes) != count or max(sizes, default=0) > PARAMETER_BYTES:
            what = f"the code of kernel @{shown(self.kernel)} takes parameters of {list(sizes)} bytes"
            raise UnsupportedError(f"{what}, a launch passes {count} of at most {PARAMETER_BYTES}", target)

    def to_parts(self) -> tuple[bytes, bytes]:
        """Return the two parts that the cache keeps."""
        names = "kernel", "threads", "cluster", "shared", "sites", "narrow", "polls"
        facts = {name: getattr(self, name) for name in names}
        facts["hidden"] = [_written(hidden) for hidden in self.hidden]
        facts["scratch"] = None if self.scratch is None else (self.scratch.size, self.scratch.alignment)
        return json.dumps(facts).encode(), self.binary

    @staticmethod
    def from_parts(parts: tuple[bytes, bytes]) -> Executable:
        facts: dict[str, Any] = json.loads(parts[0])
        hidden, scratch = facts.pop("hidden"), facts.pop("scratch")
        return Executable(
            binary=parts[1],
            hidden=tuple(_KINDS[kind](content) for kind, content in hidden),
            scratch=None if scratch is None else Scratch(*scratch),
            sites=tuple(facts.pop("sites")),
            narrow=tuple(map(extents.read, facts.pop("narrow"))),
            **facts,
        )


_KINDS: dict[str, Callable[[str], Hidden]] = {
    "global": GlobalMemory,
    "constant": lambda text: ConstantMemory(bytes.fromhex(text)),
    "block": lambda text: BlockMemory(int(text)),
    "mailbox": lambda _: Mailbox(),
}


def _written(hidden: Hidden) -> tuple[str, str]:
    """Return the kind of hidden memory and its description."""
    if isinstance(hidden, GlobalMemory):
        return "global", hidden.name
    if isinstance(hidden, ConstantMemory):
        return "constant", hidden.content.hex()
    if isinstance(hidden, BlockMemory):
        return "block", str(hidden.size)
    return "mailbox", ""
