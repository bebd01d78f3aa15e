"""A compiled kernel as a launch needs it: the machine code, and the facts that the cache keeps beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tileir.gpu.arch import Vendor
from tileir.gpu.descriptors import DESCRIPTOR_BYTES, CopyLayout, DescriptorParameter
from tileir.gpu.expressions import Expression, read
from tileir.gpu.object_files import KernelInfo, cubin_kernels, hsaco_kernels, vendor_of
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown

PARAMETER_BYTES = 8
"""Bytes passed for every parameter but descriptors, a smaller value in the low ones."""


def kernels_of(binary: bytes) -> dict[str, KernelInfo]:
    """Return the kernels of a cubin or a hsaco by name. Raises ValueError for what is neither."""
    return hsaco_kernels(binary) if vendor_of(binary) is Vendor.AMD else cubin_kernels(binary)


# ---------------------------------------------------------------- parameters beyond those of the entry


@dataclass(frozen=True)
class GlobalMemory:
    """The memory of a global of the module, which lives as long as the module is loaded."""

    name: str


@dataclass(frozen=True)
class ConstantMemory:
    """Memory with these bytes, which nobody writes."""

    content: bytes


@dataclass(frozen=True)
class BlockMemory:
    """Uninitialised memory for one launch: `size` bytes for each block of the grid."""

    size: int


@dataclass(frozen=True)
class Mailbox:
    """Memory in which blocks leave requests to the host: see `gpu.mailbox`."""


Hidden = GlobalMemory | ConstantMemory | BlockMemory | Mailbox | DescriptorParameter
"""What code may take beside the parameters of its entry."""


# ---------------------------------------------------------------- compiled kernels


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
    are those of the entry, then one for each of ``hidden``, then those of ``scratch``. ``layouts`` are those of the
    descriptors among ``hidden``, in order. ``sites`` are the operations that need the host, by their numbers in the
    program. ``narrow`` are the extents that must be below 2^31. ``polls`` says that tile blocks wait for others, so
    that all must run at the same time.
    """

    binary: bytes
    kernel: str
    threads: int = 1
    cluster: int = 1
    shared: int = 0
    hidden: tuple[Hidden, ...] = ()
    layouts: tuple[CopyLayout, ...] = ()
    scratch: Scratch | None = None
    sites: tuple[int, ...] = ()
    narrow: tuple[Expression, ...] = ()
    polls: bool = False

    def require_parameters(self, given: int) -> None:
        """Check that the cubin takes the parameters that a launch passes: `given` arguments and the hidden ones. Code
        with more parameters would read arbitrary memory. Raises UnsupportedError.
        """
        passed = [PARAMETER_BYTES] * given
        passed += [DESCRIPTOR_BYTES if isinstance(one, DescriptorParameter) else PARAMETER_BYTES for one in self.hidden]
        passed += [PARAMETER_BYTES] * (0 if self.scratch is None else 2)
        found = kernels_of(self.binary)
        target = (vendor_of(self.binary) or Vendor.NVIDIA).value
        if self.kernel not in found:
            raise UnsupportedError(f"there is no code for kernel @{shown(self.kernel)} in its machine code", target)
        sizes = found[self.kernel].parameters
        fits = (a == b or max(a, b) <= PARAMETER_BYTES for a, b in zip(sizes, passed))
        if len(sizes) != len(passed) or not all(fits):
            what = f"the code of kernel @{shown(self.kernel)} takes parameters of {list(sizes)} bytes"
            raise UnsupportedError(f"{what}, a launch passes {passed}", target)

    def to_parts(self) -> tuple[bytes, bytes]:
        """Return the two parts that the cache keeps."""
        names = "kernel", "threads", "cluster", "shared", "layouts", "sites", "narrow", "polls"
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
            layouts=tuple(CopyLayout(element, tuple(box), swizzle) for element, box, swizzle in facts.pop("layouts")),
            scratch=None if scratch is None else Scratch(*scratch),
            sites=tuple(facts.pop("sites")),
            narrow=tuple(map(read, facts.pop("narrow"))),
            **facts,
        )


_KINDS: dict[str, Callable[[str], Hidden]] = {
    "global": GlobalMemory,
    "constant": lambda text: ConstantMemory(bytes.fromhex(text)),
    "block": lambda text: BlockMemory(int(text)),
    "descriptor": lambda text: DescriptorParameter.from_parts(json.loads(text)),
    "mailbox": lambda _: Mailbox(),
}


def _written(hidden: Hidden) -> tuple[str, str]:
    """Return the kind of a hidden parameter and its description."""
    if isinstance(hidden, GlobalMemory):
        return "global", hidden.name
    if isinstance(hidden, ConstantMemory):
        return "constant", hidden.content.hex()
    if isinstance(hidden, BlockMemory):
        return "block", str(hidden.size)
    if isinstance(hidden, DescriptorParameter):
        return "descriptor", json.dumps(hidden.to_parts())
    return "mailbox", ""
