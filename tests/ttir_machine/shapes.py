"""Instructions of the ``tt`` dialect that make or rearrange lanes."""

from __future__ import annotations

import numpy as np

from tests.ttir_machine.frame import Frame
from tests.ttir_machine.values import Array, Lanes, MachineFault, dtype_of, signed, undefined
from tileir.gpu.ttir.ir.code import Instruction


def _shape(instruction: Instruction) -> tuple[int, ...]:
    return instruction.result_types[0].shape


def _integer(instruction: Instruction, name: str) -> int:
    value = instruction.attributes[name]
    assert isinstance(value, int), (name, value)
    return value


def _splat(frame: Frame, instruction: Instruction, source: Lanes) -> Lanes:
    return source.moved(lambda x: np.broadcast_to(x.reshape(()), _shape(instruction)))


def _unsplat(frame: Frame, instruction: Instruction, source: Lanes) -> Lanes:
    return source.moved(lambda x: x.reshape(()))


def _broadcast(frame: Frame, instruction: Instruction, source: Lanes) -> Lanes:
    if source.data.ndim != len(_shape(instruction)):
        raise MachineFault("tt.broadcast keeps the rank")
    return source.moved(lambda x: np.broadcast_to(x, _shape(instruction)))


def _reshape(frame: Frame, instruction: Instruction, source: Lanes) -> Lanes:
    if instruction.attributes.get("allow_reorder"):
        raise MachineFault("tt.reshape with allow_reorder may change the order of the elements")
    return source.moved(lambda x: x.reshape(_shape(instruction)))


def _transpose(frame: Frame, instruction: Instruction, source: Lanes) -> Lanes:
    order = instruction.attributes["order"]
    assert isinstance(order, tuple)
    return source.moved(lambda x: x.transpose(order))


def _expand(frame: Frame, instruction: Instruction, source: Lanes) -> Lanes:
    axis = _integer(instruction, "axis")
    return source.moved(lambda x: np.expand_dims(x, axis))


def _range(frame: Frame, instruction: Instruction) -> Lanes:
    return Lanes(np.arange(_integer(instruction, "start"), _integer(instruction, "end"), dtype=np.uint32))


def _join(frame: Frame, instruction: Instruction, first: Lanes, second: Lanes) -> Lanes:
    return _together(instruction, lambda x, y: np.stack((x, y), -1), first, second)


def _cat(frame: Frame, instruction: Instruction, first: Lanes, second: Lanes) -> Lanes:
    raise MachineFault("tt.cat may change the order of the elements")


def _together(instruction: Instruction, move: object, first: Lanes, second: Lanes) -> Lanes:
    assert callable(move)
    masks = [np.zeros(x.data.shape, np.bool_) if x.poison is None else x.poison for x in (first, second)]
    return Lanes(move(first.data, second.data), move(*masks)).tainted()


def _split(frame: Frame, instruction: Instruction, source: Lanes) -> list[Lanes]:
    return [source.moved(lambda x, side=side: x[..., side]) for side in (0, 1)]  # type: ignore[misc]


def _gather(frame: Frame, instruction: Instruction, source: Lanes, index: Lanes) -> Lanes:
    """An index out of range gives an undefined element."""
    axis = _integer(instruction, "axis")
    places = signed(index.data).astype(np.int64)
    inside = (places >= 0) & (places < source.data.shape[axis])
    safe = np.where(inside, places, 0)
    found = source.moved(lambda x: np.take_along_axis(x, safe, axis))
    return found.tainted(Lanes(found.data, ~inside), index)


def _select(frame: Frame, instruction: Instruction, condition: Lanes, first: Lanes, second: Lanes) -> Lanes:
    """Poison of the side that is not chosen is dropped."""
    result = Lanes(np.asarray(np.where(condition.data, first.data, second.data)))
    if first.poison is None and second.poison is None:
        return result.tainted(condition)
    masks = [np.zeros(x.data.shape, np.bool_) if x.poison is None else x.poison for x in (first, second)]
    return Lanes(result.data, np.asarray(np.where(condition.data, *masks))).tainted(condition)


def _program_id(frame: Frame, instruction: Instruction) -> Lanes:
    return Lanes(np.asarray(frame.place[_integer(instruction, "axis")], np.uint32))


def _programs(frame: Frame, instruction: Instruction) -> Lanes:
    return Lanes(np.asarray(frame.grid[_integer(instruction, "axis")], np.uint32))


def _add_pointer(frame: Frame, instruction: Instruction, pointer: Lanes, offset: Lanes) -> Lanes:
    """The offset is signed and counts elements."""
    size = dtype_of(instruction.result_types[0].pointee).itemsize
    distance: Array = signed(offset.data).astype(np.int64).view(np.uint64) * np.uint64(size)
    return Lanes(np.asarray(pointer.data + distance)).tainted(pointer, offset)


def _poison(frame: Frame, instruction: Instruction) -> Lanes:
    return undefined(instruction.result_types[0])


RULES = {
    "arith.select": _select,
    "tt.splat": _splat,
    "tt.unsplat": _unsplat,
    "tt.broadcast": _broadcast,
    "tt.reshape": _reshape,
    "tt.trans": _transpose,
    "tt.expand_dims": _expand,
    "tt.make_range": _range,
    "tt.join": _join,
    "tt.split": _split,
    "tt.cat": _cat,
    "tt.gather": _gather,
    "tt.get_program_id": _program_id,
    "tt.get_num_programs": _programs,
    "tt.addptr": _add_pointer,
    "ub.poison": _poison,
}
