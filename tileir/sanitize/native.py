"""Launches that are proved to go right, run as native code instead of under the observer.

A proof says that no two accesses of the launch conflict and that each stays inside its array. What depends on values
(promises, overflow flags, shifts, assertions, equal addresses in a store) is looked at by the strict checks of native
code, and tiles with padding by assertions that the program is given (`sanitize.padding`). A launch that meets any of it
is undone, so that the interpreter runs it and tells.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from tileir.analysis.effects import own_effect, reachable
from tileir.analysis.evaluation import Program
from tileir.analysis.extents import Extent
from tileir.analysis.provenance import ANYWHERE, Provenance
from tileir.analysis.symbols import StorageKind
from tileir.host.allocation import Allocation
from tileir.host.kernel_warnings import KernelWarning
from tileir.host.undefined import UNPADDED_MASK, UNPADDED_VIEW
from tileir.ir.core import Op
from tileir.ir.diagnostics import Trap, UnsupportedError
from tileir.ir.effects import Effect
from tileir.ops.calls import Call
from tileir.ops.control import Loop
from tileir.ops.conversion import IntToPtr, PtrToPtr
from tileir.ops.module import Entry
from tileir.ops.views import MakeTensorView
from tileir.runtime.arguments import Argument
from tileir.runtime.module import Kernel, Module, target_named
from tileir.sanitize.padding import following_padding
from tileir.sanitize.proofs.bounds import is_inside
from tileir.sanitize.proofs.launch import KnownArray, KnownLaunch
from tileir.sanitize.proofs.pairs import KnownAccess
from tileir.sanitize.run import SanitizedLaunch
from tileir.sanitize.shadow import LARGEST_CELL

LARGE = 1 << 20
"""Bytes of the arrays of a launch from which native code is made for it: a small one is run sooner than compiled."""


@dataclass(frozen=True)
class ProvedLaunch:
    """A launch whose accesses go right: the bytes that stores `write`, and no others, in its arrays; whether loads find
    `all` the elements of their tiles."""

    writes: Sequence[tuple[KnownArray, Extent]]
    all: bool


def proved_launch(
    entry: Entry,
    accesses: Sequence[KnownAccess],
    quiet: frozenset[Op],
    launch: KnownLaunch,
    fresh: Sequence[Allocation] = (),
) -> ProvedLaunch | None:
    """Return what a large launch does if it is proved that no access goes wrong, nor loads from `fresh` memory, which
    nobody has written."""
    if sum(array.memory.size for array in launch.arrays.values()) < LARGE:
        return None
    ops = list(reachable(entry))
    if launch.extents is None or any(map(_is_unknown, ops)) or len(quiet) < len({one.op for one in accesses}):
        return None
    origins = Provenance(entry)
    bases = [origins.of(op.base) for op in ops if isinstance(op, MakeTensorView)]
    if any(len(base) != 1 or ANYWHERE in base for base in bases) or not all(map(_is_plain, accesses)):
        return None
    program = Program([one.footprint for one in accesses])
    extents = program.extents(launch.numbers, launch.extents, trust=False)
    written = []
    for one, extent in zip(accesses, extents):
        array = _array(one, launch)
        if array is None or array.address % one.footprint.bytes or not is_inside(one, launch, extent):
            return None
        if not one.access.writes:
            if any(map(array.memory.overlaps, fresh)):
                return None
        elif not isinstance(extent, Extent) or not array.memory.writable or not _is_told(extent, one):
            return None
        else:
            written.append((array, extent))
    whole = program.whole(launch.numbers, launch.extents)
    return ProvedLaunch(written, all(found or one.access.writes for one, found in zip(accesses, whole)))


def _is_unknown(op: Op) -> bool:
    """Return whether more than addresses decides about an operation."""
    return isinstance(op, Call | Loop | IntToPtr | PtrToPtr) or bool(own_effect(op) & ~_KNOWN)


_KNOWN = Effect.READ | Effect.WRITE | Effect.STOP | Effect.PROMISE


def _is_plain(one: KnownAccess) -> bool:
    storage = one.footprint.storage
    return storage is not None and storage.kind is StorageKind.PARAMETER and one.footprint.size >= 8


def _array(one: KnownAccess, launch: KnownLaunch) -> KnownArray | None:
    assert one.footprint.storage is not None, "the access is plain"
    return launch.arrays.get(one.footprint.storage.number)


def _is_told(extent: Extent, one: KnownAccess) -> bool:
    """Return whether a store writes all bytes of its extent; through a view, each once. Equal addresses in a tile of
    pointers stop native code."""
    span = extent.run
    for count, distance in reversed(extent.dims):
        if distance < span:
            return False
        span += (count - 1) * distance
    if not extent.exact or (extent.low, extent.high) != (extent.start, extent.start + span):
        return extent.empty
    bytes = extent.run * prod(count for count, _ in extent.dims)
    elements = prod(end - first for first, end in extent.box)
    return not one.footprint.through_view or bytes == elements * one.footprint.bytes


def ran_clean(kernel: Kernel, launch: SanitizedLaunch, arguments: Sequence[Argument], proved: ProvedLaunch) -> bool:
    """Run a launch as native code; return whether nothing was found. Otherwise the arrays are as they were."""
    followed = kernel if proved.all else kernel.memo("following padding", lambda: _following_padding(kernel))
    if followed is None:
        return False
    try:
        run = target_named("cpu").prepare(followed, "strict", {})
    except UnsupportedError:
        return False
    before = [(array.memory.bytes, array.memory.bytes.copy()) for array, _ in proved.writes]
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", KernelWarning)
        try:
            run(launch.grid, arguments)
            if all(getattr(one.message, "message", None) in _OF_PADDING for one in given):
                return True
        except Trap:
            pass
    for bytes, content in before:
        bytes[...] = content
    return False


_OF_PADDING = (UNPADDED_MASK, UNPADDED_VIEW)
"""Warnings about elements that the program follows: they are reported where they count."""


def _following_padding(kernel: Kernel) -> Kernel | None:
    """Return the kernel with assertions that no padding counts; None if that is not followed."""
    module = following_padding(kernel.module, kernel.entry)
    return None if module is None else Module.of(module)[kernel.name]


def cover(launch: SanitizedLaunch, proved: ProvedLaunch) -> None:
    """Note in the shadow of memory which bytes have been written."""
    for array, extent in proved.writes:
        allocation = launch.memory.find(array.address)
        if allocation is not None and not extent.empty:
            shadow = launch.memory.shadow(allocation, LARGEST_CELL)
            place = array.address + extent.start - shadow.base
            shape = (*(count for count, _ in extent.dims), extent.run)
            strides = (*(distance for _, distance in extent.dims), 1)
            np.ndarray(shape, np.bool_, shadow.make_covered(), place, strides)[...] = True
