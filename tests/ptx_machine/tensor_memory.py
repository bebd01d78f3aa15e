"""Tensor memory of sm_100, and products that one thread starts (`tcgen05`, PTX ISA: fifth generation tensor cores).

Tensor memory has 128 lanes of 512 columns of 32 bits; a warp reaches a quarter of the lanes. Row r of 128 rows is lane
r; row r of 64 is lane r % 16 of a half of a quarter. Products are made when a warp looks at the barrier to which they
are committed, stores when they are waited for. A descriptor of 32 bits tells the types and extents of a product, and
which dimensions of its factors are the inner ones.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.ptx_machine.copy_engine import barrier_at, one_number
from tests.ptx_machine.matrix import DTYPES, LANES, elements
from tests.ptx_machine.program import Immediate, Operand, Place, Statement, Vector
from tests.ptx_machine.warp import COLUMNS, Warp
from tests.ptx_machine.warpgroup import shared_factor
from tests.ttir_machine.ptx_instructions import Call
from tests.ttir_machine.values import Array, MachineFault

_LANE = np.arange(LANES)
_SPANS = {0: 16, 2: 128, 4: 64, 6: 32}
"""Bytes over which a factor in shared memory is swizzled, by the last three bits of its descriptor."""
_KINDS = {"kind::f16": (16, ("f16", "bf16")), "kind::tf32": (8, (None, None, "tf32")),
          "kind::f8f6f4": (32, ("e4m3", "e5m2")), "kind::i8": (32, ("u8", "s8"))}  # fmt: skip
"""The depth of a product, and the types of factors by their numbers."""
_SUMS = ("f16", "f32", "s32")


def run(warp: Warp, statement: Statement, active: Array) -> None:
    """Execute an instruction of `tcgen05`. Raises MachineFault for one that the machine does not know."""
    call = statement.call
    name = call.text.split(".")[1]
    rule = _RULES.get(name)
    if rule is None or ("cta_group::2" in call.modifiers):
        raise call.refuse("the machine does not know this instruction")
    rule(warp, statement, active)


def _allocate(warp: Warp, statement: Statement, active: Array) -> None:
    place, count = statement.operands
    block, first = warp.block, sum(warp.block.columns.values())
    columns = one_number(warp, count, active)
    if first + columns > COLUMNS:
        raise statement.call.refuse(f"the tensor memory has {COLUMNS} columns")
    block.columns[first] = columns
    at = np.uint64(block.shared.ctypes.data) + warp.address(place)[active][:1]
    block.memory.store(at, np.array([first], np.int32), "i32")


def _free(warp: Warp, statement: Statement, active: Array) -> None:
    first, count = (one_number(warp, operand, active) for operand in statement.operands)
    if warp.block.columns.pop(first, None) != count:
        raise statement.call.refuse(f"{count} columns from {first} on have not been allocated together")


def _nothing(warp: Warp, statement: Statement, active: Array) -> None:
    """Orders what others see, or gives up a right."""


# ------------------------------------------------------------ loads and stores


def _places(warp: Warp, call: Call, place: Place, split: int, count: int) -> tuple[Array, Array]:
    """Return the lane and the columns that each thread reaches with `count` registers."""
    (address,) = np.unique(warp.address(place))
    lane, column = int(address) >> 16, int(address) & 0xFFFF
    if lane // LANES != warp.number % 4:
        raise call.refuse(f"warp {warp.number} does not reach lane {lane} of the tensor memory")
    if "32x32b" in call.modifiers:
        lanes, firsts = lane + _LANE, np.full(LANES, column)
    elif "16x32bx2" in call.modifiers:
        lanes, firsts = lane + _LANE % 16, column + _LANE // 16 * split
    else:
        raise call.refuse("the machine does not know this shape")
    return np.broadcast_to(lanes[:, None], (LANES, count)), firsts[:, None] + np.arange(count)


def _move(warp: Warp, statement: Statement, active: Array) -> None:
    """``tcgen05.ld``, and ``tcgen05.st``, which is put off."""
    call = statement.call
    if not active.all():
        raise call.refuse("some lanes of the warp take no part")
    place = next(part for part in statement.operands if isinstance(part, Place))
    registers = next(part for part in statement.operands if isinstance(part, Vector)).parts
    split = next((part.bits for part in statement.operands if isinstance(part, Immediate)), 0)
    lanes, columns = _places(warp, call, place, split, len(registers))
    if "st" in call.text.split("."):
        words = np.stack([warp.read(register, "b32") for register in registers], axis=1)
        warp.kept.open.append(partial(_put, warp.block.tensor_memory, lanes, columns, words))
    else:
        # At once: Triton's compiler uses registers before `tcgen05.wait::ld`, and leaves it to ptxas to wait for them.
        for register, words in zip(registers, warp.block.tensor_memory[lanes, columns].T):
            warp.write(register, np.ascontiguousarray(words), active)


def _put(memory: Array, lanes: Array, columns: Array, words: Array) -> None:
    memory[lanes, columns] = words


def _wait_for_stores(warp: Warp, statement: Statement, active: Array) -> None:
    warp.kept.commit()
    warp.kept.keep(0)


# ------------------------------------------------------------ products


def _multiply(warp: Warp, statement: Statement, active: Array) -> None:
    call = statement.call
    if int(active.sum()) != 1:
        raise call.refuse("expected one thread to multiply")
    kind = next((found for name, found in _KINDS.items() if name in call.modifiers), None)
    if kind is None or len(statement.operands) != 5 or "block_scale" in call.text:
        raise call.refuse("the machine does not know this product")
    sums, left, right, form, adds = statement.operands
    words = [one_number(warp, operand, active) for operand in (right, form, adds)]
    at = [_address(warp, operand, active) for operand in (sums, left)]
    warp.products.open.append(partial(_product, warp, call, kind, isinstance(left, Place), at, words))


def _address(warp: Warp, operand: Operand, active: Array) -> int:
    if isinstance(operand, Place):
        return int(warp.address(operand)[active][0])
    return one_number(warp, operand, active)


def _product(
    warp: Warp,
    call: Call,
    kind: tuple[int, tuple[str | None, ...]],
    is_left_here: bool,
    at: list[int],
    words: list[int],
) -> None:
    (k, types), (right, form, adds), memory = kind, words, warp.block.tensor_memory
    result, one, other = _SUMS[form >> 4 & 3], types[form >> 7 & 7], types[form >> 10 & 7]
    n, m = (form >> 17 & 63) << 3, (form >> 24 & 31) << 4
    if one is None or other is None or form & 0x6000 or m not in (64, 128):
        raise call.refuse(f"the machine does not know the form {form:#x}")
    rows = np.arange(m) if m == 128 else np.arange(m) // 16 * LANES + np.arange(m) % 16
    if is_left_here:
        a = _left(memory, rows, at[1], one, k)
    else:
        a = shared_factor(warp, at[1], _span(at[1]), one, (m, k), bool(form >> 15 & 1))
    b = shared_factor(warp, right, _span(right), other, (n, k), bool(form >> 16 & 1))
    total, place = a @ b.T, (rows[:, None] + (at[0] >> 16), (at[0] & 0xFFFF) + np.arange(n))
    if adds:
        total = total + _numbers(memory[place], result)
    memory[place] = _words(total, result)


def _span(descriptor: int) -> int:
    found = _SPANS.get(descriptor >> 61)
    if found is None:
        raise MachineFault(f"a factor with the swizzling {descriptor >> 61}, which the machine does not know")
    return found


def _left(memory: Array, rows: Array, address: int, type: str, k: int) -> Array:
    """Return the left factor in tensor memory, whose elements fill columns."""
    first, count = address & 0xFFFF, k * np.dtype(DTYPES[type]).itemsize // 4
    words = np.ascontiguousarray(memory[rows + (address >> 16), first : first + count])
    return elements(list(words.T), type)


def _numbers(words: Array, type: str) -> Array:
    """Return sums, one in each column."""
    kind = np.dtype(DTYPES[type])
    found = words.astype(f"u{kind.itemsize}").view(kind)
    return found.astype(np.int64 if kind.kind == "i" else np.float64)


def _words(total: Array, type: str) -> Array:
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(total.astype(DTYPES[type]))
    return found.view(f"u{found.itemsize}").astype(np.uint32)


def _commit(warp: Warp, statement: Statement, active: Array) -> None:
    """Let a barrier count the end of all products so far."""
    (place,) = statement.operands
    warp.products.commit()
    barrier = barrier_at(warp, int(warp.address(place)[active][0]))
    barrier.arrivals.append(partial(warp.products.finish, warp.products.committed))


_RULES = {
    "alloc": _allocate, "dealloc": _free, "relinquish_alloc_permit": _nothing, "fence::before_thread_sync": _nothing,
    "fence::after_thread_sync": _nothing, "ld": _move, "st": _move, "wait::ld": _nothing,
    "wait::st": _wait_for_stores, "mma": _multiply, "commit": _commit,
}  # fmt: skip
