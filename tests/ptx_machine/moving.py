"""Instructions that reach memory, move values between lanes, multiply matrices or call functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tests.ptx_machine import copy_engine, tensor_memory, warpgroup
from tests.ptx_machine.matrix import LANES, product
from tests.ptx_machine.program import Operand, Place, Register, Statement, Symbol, Vector
from tests.ptx_machine.warp import Effect, Warp
from tests.ttir_machine.ptx_instructions import Call, called
from tests.ttir_machine.ptx_memory import MEMORY_RULES
from tests.ttir_machine.values import Array, MachineFault

_LANE = np.arange(LANES)


def _parts(operand: Operand) -> tuple[Operand, ...]:
    return operand.parts if isinstance(operand, Vector) else (operand,)


def _bytes(type: str) -> int:
    return {"bf16": 2}.get(type) or int("".join(filter(str.isdigit, type))) // 8


# ------------------------------------------------------------ loads, stores, atomic operations


def _space(call: Call) -> str:
    names = {part.partition("::")[0] for part in call.modifiers}
    return next((name for name in ("shared", "local", "param") if name in names), "global")


def _addresses(warp: Warp, call: Call, place: Operand, size: int, active: Array) -> Array:
    """Return the addresses in the memory of the process; `size` is the bytes of a lane's access."""
    offsets = warp.address(place)
    if (offsets[active] % np.uint64(size)).any():
        raise MachineFault(f"misaligned address of '{call.text}'")
    space = _space(call)
    if space == "global":
        return offsets
    memory = warp.block.shared if space == "shared" else warp.local
    room = memory.shape[-1]
    if (offsets[active] + np.uint64(size) > room).any():
        raise MachineFault(f"'{call.text}' outside the {space} memory, which has {room} bytes")
    start = np.uint64(memory.ctypes.data) + offsets
    return start if space == "shared" else start + (_LANE * room).astype(np.uint64)


def _load(warp: Warp, statement: Statement, active: Array) -> None:
    call, (target, place) = statement.call, statement.operands
    if _space(call) == "param":
        _load_parameter(warp, call, target, place, active)
        return
    size, parts = _bytes(call.type), _parts(target)
    start = _addresses(warp, call, place, size * len(parts), active)
    for number, part in enumerate(parts):
        found = MEMORY_RULES["ld"](warp.block.memory, call, [start + np.uint64(size * number)], active)
        assert found is not None
        warp.write(part, found, active, signed=call.type.startswith("s"))


def _load_parameter(warp: Warp, call: Call, target: Operand, place: Operand, active: Array) -> None:
    assert isinstance(place, Place) and isinstance(place.base, Symbol) and not place.offset
    bits = warp.passed[place.base.name].astype(f"u{_bytes(call.type)}")
    warp.write(target, bits, active, signed=call.type.startswith("s"))


def _store(warp: Warp, statement: Statement, active: Array) -> None:
    call, (place, source) = statement.call, statement.operands
    if _space(call) == "param":
        assert isinstance(place, Place) and isinstance(place.base, Symbol) and not place.offset
        warp.passed[place.base.name] = warp.read(source, call.type).astype(np.uint64)
        return
    size, parts = _bytes(call.type), _parts(source)
    start = _addresses(warp, call, place, size * len(parts), active)
    for number, part in enumerate(parts):
        values = warp.read(part, call.type)
        MEMORY_RULES["st"](warp.block.memory, call, [start + np.uint64(size * number), values], active)


def _atomic(warp: Warp, statement: Statement, active: Array) -> None:
    call, operands = statement.call, list(statement.operands)
    target = operands.pop(0) if call.base == "atom" else None
    place, *sources = operands
    start = _addresses(warp, call, place, _bytes(call.type), active)
    values = [warp.read(source, call.type) for source in sources]
    found = MEMORY_RULES[call.base](warp.block.memory, call, [start, *values], active)
    if target is not None:
        assert found is not None
        warp.write(target, found, active)


def _nothing(warp: Warp, statement: Statement, active: Array) -> None:
    """Orders what others see, who see everything anyway."""


# ------------------------------------------------------------ asynchronous copies


def _copy(warp: Warp, statement: Statement, active: Array) -> None:
    """``cp.async``: put off until its group is waited for."""
    call = statement.call
    if "bulk" in call.modifiers:
        copy_engine.copy(warp, statement, active)
    elif "commit_group" in call.modifiers:
        warp.copies.commit()
    elif "wait_group" in call.modifiers or "wait_all" in call.modifiers:
        warp.copies.keep(int(warp.read(statement.operands[0])[0]) if statement.operands else 0)
    else:
        into, source, count, *given = statement.operands
        size = int(warp.read(count)[0])
        assert isinstance(into, Place)
        target = _addresses(warp, Call.parse("st.shared.b8"), into, size, active)
        read = warp.read(given[0]).astype(np.int64) if given else np.full(LANES, size)
        warp.copies.open.append(partial(_copied, warp, target, warp.address(source), size, read, active))


def _copied(warp: Warp, target: Array, source: Array, size: int, read: Array, active: Array) -> None:
    load, store = Call.parse("ld.global.b8"), Call.parse("st.shared.b8")
    for byte in range(size):
        wanted = active & (byte < read)
        found = MEMORY_RULES["ld"](warp.block.memory, load, [source + np.uint64(byte)], wanted)
        MEMORY_RULES["st"](warp.block.memory, store, [target + np.uint64(byte), found], active)


# ------------------------------------------------------------ between lanes


def _all(statement: Statement, active: Array) -> None:
    if not active.all():
        raise MachineFault(f"'{statement.call.text}' without some lanes of the warp")


def _shuffle(warp: Warp, statement: Statement, active: Array) -> None:
    call, (target, source, distance, clamp, _) = statement.call, statement.operands
    value, by, limits = (warp.read(part, "b32") for part in (source, distance, clamp))
    by, segment, last = (part.astype(np.int64) for part in (by & 31, (limits >> 8) & 31, limits & 31))
    low, high = _LANE & segment, (_LANE & segment) | (last & ~segment)
    if "up" in call.modifiers:
        lane = _LANE - by
        valid = lane >= high
    else:
        lane = (
            _LANE + by
            if "down" in call.modifiers
            else _LANE ^ by
            if "bfly" in call.modifiers
            else low | (by & ~segment)
        )
        valid = lane <= high
    lane = np.where(valid, lane, _LANE)
    if not active[lane[active]].all():
        raise MachineFault(f"'{call.text}' reads a lane that takes no part")
    parts = _parts(target)
    warp.write(parts[0], value[lane], active)
    if len(parts) > 1:
        warp.write(parts[1], valid, active)


def _reduced(warp: Warp, statement: Statement, active: Array) -> None:
    call, (target, source, _) = statement.call, statement.operands
    operation = next(part for part in ("add", "min", "max", "and", "or", "xor") if part in call.modifiers)
    values = warp.read(source, call.type)[active]
    total = values[:1]
    for place in range(1, len(values)):
        total = called(Call.parse(f"{operation}.{call.type}"), [total, values[place : place + 1]])
    warp.write(target, np.broadcast_to(total, LANES), active)


def _vote(warp: Warp, statement: Statement, active: Array) -> None:
    call, (target, source, _) = statement.call, statement.operands
    holds = warp.read(source, "pred") & active
    if "ballot" in call.modifiers:
        word = np.uint32(sum(1 << int(lane) for lane in np.nonzero(holds)[0]))
        warp.write(target, np.full(LANES, word), active)
    else:
        found = bool(holds.any()) if "any" in call.modifiers else bool(holds[active].all())
        warp.write(target, np.full(LANES, found), active)


def _elect(warp: Warp, statement: Statement, active: Array) -> None:
    """``elect.sync``: one lane, the first here."""
    number, chosen = _parts(statement.operands[0])
    first = int(np.argmax(active))
    warp.write(number, np.full(LANES, first, np.uint32), active)
    warp.write(chosen, first == _LANE, active)


def _matrix_rows(
    warp: Warp, call: Call, place: Operand, registers: Sequence[Operand]
) -> Iterator[tuple[Operand, Array]]:
    """Yield each register, and the addresses of the elements of its 8x8 matrix, whose rows lie where lanes say."""
    rows = _addresses(warp, call, place, 16, 8 * len(registers) > _LANE)
    for number, register in enumerate(registers):
        starts = rows[8 * number : 8 * number + 8]
        yield register, starts[:, None] + 2 * np.arange(8, dtype=np.uint64)


def _halves(call: Call) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the places in an 8x8 matrix of the two elements that each lane has."""
    row, column = _LANE // 4, 2 * (_LANE % 4)
    places = (row, column), (row, column + 1)
    return tuple((y, x) for x, y in places) if "trans" in call.modifiers else places  # type: ignore[return-value]


def _load_matrices(warp: Warp, statement: Statement, active: Array) -> None:
    """``ldmatrix``: 8x8 matrices of 16-bit elements."""
    _all(statement, active)
    call, (target, place) = statement.call, statement.operands
    for register, addresses in _matrix_rows(warp, call, place, _parts(target)):
        low, high = (warp.block.memory.load(addresses, "i16")[at].astype(np.uint32) for at in _halves(call))
        warp.write(register, low | high << np.uint32(16), active)


def _store_matrices(warp: Warp, statement: Statement, active: Array) -> None:
    """``stmatrix``, which undoes ``ldmatrix``."""
    _all(statement, active)
    call, (place, source) = statement.call, statement.operands
    for register, addresses in _matrix_rows(warp, call, place, _parts(source)):
        words = warp.read(register, "b32")
        for at, shift in zip(_halves(call), (0, 16)):
            warp.block.memory.store(addresses[at], (words >> np.uint32(shift)).astype(np.int16), "i16")


def _multiply(warp: Warp, statement: Statement, active: Array) -> None:
    _all(statement, active)
    target, *factors = statement.operands
    a, b, c = ([warp.read(part) for part in _parts(factor)] for factor in factors)
    for register, bits in zip(_parts(target), product(statement.call, a, b, c), strict=True):
        warp.write(register, bits, active)


# ------------------------------------------------------------ calls


def _call(warp: Warp, statement: Statement, active: Array) -> None:
    """Call a function of the program: ``call.uni (results), name, (arguments)``."""
    results, name, arguments = statement.operands
    assert isinstance(name, Symbol)
    function = warp.block.program.functions.get(name.name)
    if function is None:
        raise MachineFault(f"the PTX calls {name.name}, which has no code")
    inner = Warp(warp.block, function, warp.special, warp.effects)
    inner.paths = {0: active}
    inner.passed = {
        parameter: warp.passed[_name(argument)] for parameter, argument in zip(function.parameters, _parts(arguments))
    }
    inner.run()
    for result, place in zip(_parts(results), function.results):
        warp.passed[_name(result)] = inner.passed[place]


def _name(operand: Operand) -> str:
    assert isinstance(operand, Symbol | Register)
    return operand.name


EFFECTS: dict[str, Effect] = {
    "ld": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "cp": _copy,
    "fence": _nothing,
    "membar": _nothing,
    "bar": _nothing,
    "setmaxnreg": _nothing,
    "griddepcontrol": _nothing,
    "shfl": _shuffle,
    "redux": _reduced,
    "elect": _elect,
    "vote": _vote,
    "ldmatrix": _load_matrices,
    "stmatrix": _store_matrices,
    "mma": _multiply,
    "wgmma": warpgroup.multiply,
    "tcgen05": tensor_memory.run,
    "mbarrier": copy_engine.arrive,
    "call": _call,
}
