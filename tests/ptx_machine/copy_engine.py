"""The copy engine (TMA) and the barriers that count what it has copied (PTX ISA: mbarrier, tensor copies).

A copy into shared memory is made when a warp looks at its barrier, one into global memory when its group is waited for,
and neither before. Rows of a box lie in shared memory one after the other; swizzling exchanges pieces of 16 bytes by
bits of their addresses (`swizzled`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tests.ptx_machine.matrix import LANES
from tests.ptx_machine.program import Place, Statement, Tensor, Vector
from tests.ttir_machine.values import Array, MachineFault
from tileir.gpu.descriptors import TensorMap

if TYPE_CHECKING:
    from tests.ptx_machine.warp import Warp

_NAN = {2: 0x7FFF, 4: 0x7FFFFFFF}
"""The number that fills elements outside a tensor, by the bytes of an element."""
_ALIGNMENT = 128
"""Bytes, of a box in shared memory."""


def swizzled(addresses: Array, bytes: int) -> Array:
    """Return the addresses where a layout with swizzling over so many bytes (16: none) has what lies at `addresses`."""
    pieces = np.uint64(bytes // 16 - 1)
    return addresses ^ ((addresses >> np.uint64(7) & pieces) << np.uint64(4))


# ------------------------------------------------------------ barriers


@dataclass
class Barrier:
    """A barrier in shared memory: arrivals that a phase still waits for, and the bytes that copies still owe it."""

    count: int
    missing: int
    owed: int = 0
    phase: int = 0
    copies: list[Callable[[], int]] = field(default_factory=list)
    """Copies on their way; each returns its bytes."""
    arrivals: list[Callable[[], None]] = field(default_factory=list)
    """Work on its way, whose end is an arrival."""

    def settle(self) -> None:
        """End the phase if nothing is missing."""
        if not self.missing and not self.owed:
            self.phase, self.missing = self.phase ^ 1, self.count

    def land(self) -> None:
        """Make the copies and do the work."""
        while self.copies:
            self.owed -= self.copies.pop(0)()
            self.settle()
        while self.arrivals:
            self.arrivals.pop(0)()
            self.missing -= 1
            self.settle()


def barrier_at(warp: Warp, place: int) -> Barrier:
    found = warp.block.barriers.get(place)
    if found is None:
        raise MachineFault(f"no barrier has been made at {place} of the shared memory")
    return found


def arrive(warp: Warp, statement: Statement, active: Array) -> None:
    """``mbarrier`` but for waiting: ``init``, ``inval`` and ``arrive``, with bytes to expect or without."""
    call, operands = statement.call, [part for part in statement.operands if isinstance(part, Place)]
    (place,) = np.unique(warp.address(operands[0])[active]).tolist()
    if "init" in call.modifiers:
        count = one_number(warp, statement.operands[1], active)
        warp.block.barriers[place] = Barrier(count, count)
    elif "inval" in call.modifiers:
        barrier_at(warp, place)
        del warp.block.barriers[place]
    else:
        barrier = barrier_at(warp, place)
        if "expect_tx" in call.modifiers:
            barrier.owed += one_number(warp, statement.operands[-1], active)
        barrier.missing -= int(active.sum())
        if barrier.missing < 0:
            raise call.refuse("more arrivals than the barrier counts")
        barrier.settle()


def has_ended(warp: Warp, statement: Statement, active: Array) -> bool:
    """``mbarrier.try_wait.parity``: return whether the phase has ended, and write that down if so."""
    result, place, parity = statement.operands
    (at,) = np.unique(warp.address(place)[active]).tolist()
    barrier = barrier_at(warp, at)
    barrier.land()
    if barrier.phase == one_number(warp, parity, active):
        return False
    warp.write(result, np.ones(LANES, np.bool_), active)
    return True


def one_number(warp: Warp, operand: object, active: Array) -> int:
    """Return a number that all active lanes have."""
    (number,) = np.unique(warp.read(operand)[active])  # type: ignore[arg-type]
    return int(number)


# ------------------------------------------------------------ copies


def copy(warp: Warp, statement: Statement, active: Array) -> None:
    """``cp.async.bulk``: a box of a tensor, and the groups of those that are written."""
    call, operands = statement.call, statement.operands
    copies = warp.stores
    if "commit_group" in call.modifiers:
        copies.commit()
    elif "wait_group" in call.modifiers:
        copies.keep(one_number(warp, operands[0], active))
    elif int(active.sum()) != 1:
        raise call.refuse("expected one thread to start the copy")
    elif isinstance(operands[0], Tensor):
        copies.open.append(
            partial(_write, warp, *_box(warp, operands[0], active), one_number(warp, operands[1], active))
        )
    else:
        place, tensor, barrier = operands
        assert isinstance(tensor, Tensor)
        load = partial(_read, warp, *_box(warp, tensor, active), int(warp.address(place)[active][0]))
        barrier_at(warp, int(warp.address(barrier)[active][0])).copies.append(load)


def _box(warp: Warp, operand: Tensor, active: Array) -> tuple[TensorMap, list[int]]:
    """Return the tensor and the first coordinates, the innermost first."""
    number = one_number(warp, operand.base, active)
    tensor = warp.block.tensors.get(number)
    if tensor is None:
        raise MachineFault(f"no descriptor of a tensor is at {number}")
    assert isinstance(operand.coordinates, Vector)
    starts = [one_number(warp, part, active) for part in operand.coordinates.parts]
    return tensor, [start - (start >> 31 << 32) for start in starts]


def _places(tensor: TensorMap, starts: list[int], shared: int) -> tuple[Array, Array, Array]:
    """Return where each element of a box lies in global and in shared memory, and whether it lies in the tensor."""
    if shared % _ALIGNMENT:
        raise MachineFault(f"a box at {shared} of the shared memory, which is no multiple of {_ALIGNMENT}")
    index = np.indices(tensor.box[::-1])[::-1].reshape(len(tensor.box), -1)
    at = index + np.array(starts)[:, None]
    inside = ((at >= 0) & (at < np.array(tensor.extents)[:, None])).all(axis=0)
    distances = (at * np.array((tensor.size, *tensor.strides))[:, None]).sum(axis=0)
    offsets = np.uint64(shared) + np.arange(index.shape[1], dtype=np.uint64) * np.uint64(tensor.size)
    span = 16 << tensor.swizzle
    if tensor.swizzle and tensor.box[0] * tensor.size > span:
        raise MachineFault(f"rows of {tensor.box[0] * tensor.size} bytes, swizzled over {span}")
    return np.uint64(tensor.address) + distances.astype(np.uint64), swizzled(offsets, span), inside


def _read(warp: Warp, tensor: TensorMap, starts: list[int], place: int) -> int:
    """Copy a box into shared memory; return its bytes."""
    source, target, inside = _places(tensor, starts, place)
    element, memory = f"i{8 * tensor.size}", warp.block.memory
    fill = _NAN.get(tensor.size, 0) if tensor.pads_with_nan else 0
    found = np.full(len(inside), fill, f"u{tensor.size}")
    found[inside] = memory.load(source[inside], element).view(found.dtype)
    memory.store(target + np.uint64(warp.block.shared.ctypes.data), found.view(f"i{tensor.size}"), element)
    return len(inside) * tensor.size


def _write(warp: Warp, tensor: TensorMap, starts: list[int], place: int) -> None:
    """Copy what of a box lies in the tensor out of shared memory."""
    target, source, inside = _places(tensor, starts, place)
    element, memory = f"i{8 * tensor.size}", warp.block.memory
    found = memory.load(source[inside] + np.uint64(warp.block.shared.ctypes.data), element)
    memory.store(target[inside], found, element)
