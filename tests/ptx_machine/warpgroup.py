"""Products of four warps (`wgmma`, PTX ISA: asynchronous warpgroup-level matrix instructions), made when waited for.

Each warp has 16 of the 64 rows of the sums, and of the left factor if that lies in registers. Other factors lie in
shared memory, where a descriptor of 64 bits tells: the address, two distances in units of 16 bytes, and the swizzling.
Products are added in f64 and rounded once, which is closer than a GPU.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from tests.ptx_machine.copy_engine import swizzled
from tests.ptx_machine.matrix import DTYPES, elements
from tests.ptx_machine.program import Immediate, Operand, Register, Statement, Vector
from tests.ptx_machine.warp import Warp
from tests.ttir_machine.values import Array, MachineFault

_SHAPE = re.compile(r"m64n(\d+)k(\d+)")
_SPANS = {0: 16, 1: 128, 2: 64, 3: 32}
"""Bytes over which a factor is swizzled, by the last two bits of its descriptor."""
_ROWS = 16
"""Rows of a warp."""
_TYPES = ("f16", "bf16", "tf32", "f32", "e4m3", "e5m2", "s8", "u8", "s32")


def multiply(warp: Warp, statement: Statement, active: Array) -> None:
    """``wgmma``: products, which are put off until their group is waited for."""
    call = statement.call
    if not active.all():
        raise call.refuse("some lanes of the warp take no part")
    if "commit_group" in call.modifiers:
        warp.products.commit()
    elif "wait_group" in call.modifiers:
        warp.products.keep(int(warp.read(statement.operands[0])[0]))
    elif "mma_async" in call.modifiers:
        warp.products.open.append(partial(_multiply, warp, statement, *_factors(warp, statement)))


def _factors(warp: Warp, statement: Statement) -> tuple[Operand | int, int, bool]:
    """Return the left factor, registers or a descriptor, the descriptor of the right one, and whether sums count."""
    left, right, adds = statement.operands[1:4]
    return left if isinstance(left, Vector) else _word(warp, left), _word(warp, right), bool(_word(warp, adds))


def _word(warp: Warp, operand: Operand) -> int:
    return int(warp.read(operand)[0])


def _multiply(warp: Warp, statement: Statement, left: Operand | int, right: int, adds: bool) -> None:
    call, target = statement.call, statement.operands[0]
    result, one, other = call.text.split(".")[-3:]
    shape = _SHAPE.search(call.text)
    if shape is None or not {result, one, other} <= set(_TYPES) or not isinstance(target, Vector):
        raise call.refuse("the machine does not know this product")
    n, k = map(int, shape.groups())
    sign, turned = _immediates(statement)
    if isinstance(left, int):
        first = _ROWS * (warp.number % 4)
        a = shared_factor(warp, left, _SPANS[left >> 62], one, (64, k), turned[:-1] == [1])[first : first + _ROWS]
    else:
        a = _in_registers(warp, left, one, k)
    b = shared_factor(warp, right, _SPANS[right >> 62], other, (n, k), turned[-1:] == [1])
    rows, columns = _sums(n // 2)
    total = sign * (a @ b.T)
    registers = [part for part in target.parts if isinstance(part, Register)]
    if adds:
        before = np.zeros((_ROWS, n), total.dtype)
        before[rows, columns] = elements([warp.read(register) for register in registers], result)
        total = total + before
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(total[rows, columns].astype(DTYPES[result])).view(np.uint32)
    for register, bits in zip(registers, found.T, strict=True):
        warp.write(register, bits, np.ones(len(bits), np.bool_))


def _immediates(statement: Statement) -> tuple[int, list[int]]:
    """Return the sign of the product, and for each factor in shared memory whether K is not its inner dimension."""
    numbers = [part.bits for part in statement.operands[4:] if isinstance(part, Immediate)]
    return int(np.prod(numbers[:2], initial=1)), numbers[2:]


def _sums(count: int) -> tuple[Array, Array]:
    """Rows and columns of the sums of each lane, in the order of its registers."""
    lane, place = np.arange(32)[:, None], np.arange(count)[None]
    return lane // 4 + 8 * (place // 2 % 2), 2 * (lane % 4) + place % 2 + 8 * (place // 4)


def _in_registers(warp: Warp, operand: Operand, type: str, k: int) -> Array:
    """Return the rows of the left factor that a warp has in registers, four of each lane."""
    assert isinstance(operand, Vector)
    found = elements([warp.read(part) for part in operand.parts], type)
    packed = found.shape[1] // 4
    lane, place = np.arange(32)[:, None], np.arange(found.shape[1])[None]
    step = place // packed
    rows, columns = lane // 4 + 8 * (step % 2), packed * (lane % 4) + place % packed + 4 * packed * (step // 2)
    a = np.zeros((_ROWS, k), found.dtype)
    a[rows, columns] = found
    return a


def shared_factor(warp: Warp, descriptor: int, span: int, type: str, shape: tuple[int, int], is_turned: bool) -> Array:
    """Return a factor in shared memory, swizzled over `span` bytes: rows (or columns, of the right one) by K.
    `is_turned`: K is not the inner dimension."""
    size = np.dtype(DTYPES[type]).itemsize
    start, leading, stride = ((descriptor >> low & 0x3FFF) << 4 for low in (0, 16, 32))
    if descriptor >> 49 & 7:
        raise MachineFault("the descriptor of a factor has a base offset, which the machine does not know")
    line, k = np.indices(shape)
    if is_turned:
        inner, outer = line * size, k
        far, near = (leading, stride) if span > 16 else (stride, leading)
    else:
        inner, outer = k * size, line
        far, near = leading, stride
    offsets = start + inner // span * far + inner % span + outer % 8 * span + outer // 8 * near
    addresses = swizzled(offsets.astype(np.uint64), span)
    if int(addresses.max()) + size > warp.block.shared.size:
        raise MachineFault(f"a factor outside the shared memory, which has {warp.block.shared.size} bytes")
    word = {1: np.uint8, 2: np.uint16, 4: np.uint32}[size]
    found = warp.block.shared[addresses[..., None] + np.arange(size, dtype=np.uint64)].view(word)[..., 0]
    return elements([np.ascontiguousarray(found).reshape(-1)], type).reshape(shape)
