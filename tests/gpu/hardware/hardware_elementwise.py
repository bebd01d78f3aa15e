"""Element-wise operations as kernels: operands from memory, results to memory, many operations in one kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import tileir
from tests.gpu.hardware import hardware_tiles as tiles
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.ttir_operations import Case, interpreted
from tileir.ir import types as t
from tileir.ir.core import Block, Value
from tileir.ops import control, core
from tileir.ops.module import Entry, ModuleOp

GROUP = 24
"""Operations in one kernel, if they are short."""


@dataclass(frozen=True)
class Computed:
    """An operation, what it was given, what the device made of it, and what the interpreter makes of it."""

    case: Case
    operands: list[np.ndarray]
    actual: np.ndarray
    expected: np.ndarray

    @property
    def element(self) -> t.ElementType:
        element: t.ElementType = self.case.op.results[0].type.element
        return element

    def examples(self, wrong: np.ndarray) -> list[tuple[object, ...]]:
        """Operands, result and expected result of some of the elements marked."""
        places = np.flatnonzero(wrong)[:4]
        rows = ((x[place] for x in (*self.operands, self.actual, self.expected)) for place in places)
        return [(self.case.name, *row) for row in rows]


def groups(cases: Sequence[Case], size: int = GROUP) -> Iterator[Sequence[Case]]:
    for start in range(0, len(cases), size):
        yield cases[start : start + size]


def computed(device: Device, cases: Sequence[Case], operands: Sequence[list[np.ndarray]]) -> list[Computed]:
    """Run all operations in one launch, each on its own operands; each tile block takes a tile of them.

    Operands that are too short are repeated.
    """
    blocks = max(-(-x.size // value.type.count) for case, x, value in _each(cases, operands))
    given = [tiles.stored(_filled(x, value.type, blocks), value.type) for _, x, value in _each(cases, operands)]
    results = [tiles.room_for(case.op.results[0].type, blocks) for case in cases]
    found = device.outcome(kernel_of(cases), (blocks,), [*given, *results]).arrays[len(given) :]
    return [_computed(case, arrays, raw, blocks) for case, arrays, raw in zip(cases, operands, found)]


def _each(cases: Sequence[Case], operands: Sequence[list[np.ndarray]]) -> Iterator[tuple[Case, np.ndarray, Value]]:
    for case, arrays in zip(cases, operands):
        for x, value in zip(arrays, case.op.operands):
            yield case, x, value


def _filled(x: np.ndarray, type: t.TileType, blocks: int) -> np.ndarray:
    return np.resize(x, blocks * type.count) if blocks > 1 or x.size != type.count else x.reshape(type.shape)


def _computed(case: Case, arrays: list[np.ndarray], raw: np.ndarray, blocks: int) -> Computed:
    filled = [_filled(x, value.type, blocks) for x, value in zip(arrays, case.op.operands)]
    actual, expected = tiles.read(raw, case.op.results[0].type), interpreted(case.op, filled)
    return Computed(case, filled, actual, expected)


# ---------------------------------------------------------------- the kernel


def kernel_of(cases: Sequence[Case]) -> tileir.Kernel:
    """The kernel whose parameters are all operands, then all results."""
    operands = [value.type for case in cases for value in case.op.operands]
    results = [case.op.results[0].type for case in cases]
    body = Block([tiles.pointer_to(type) for type in (*operands, *results)])
    block = body.append(core.GetTileBlockId.build([t.tile(t.I32)] * 3)).results[0]
    mine = [tiles.for_block(body, pointer, ty, block) for pointer, ty in zip(body.args, (*operands, *results))]
    given, places = iter(mine), iter(mine[len(operands) :])
    for case in cases:
        fields = [operand.name for operand in case.op.spec.operands]
        values = {name: tiles.load(body, next(given), value.type) for name, value in zip(fields, case.op.operands)}
        made = type(case.op).build([case.op.results[0].type], **values, **case.op.attributes)
        tiles.store(body, next(places), body.append(made).results[0])
    body.append(control.Return.build())
    signature = t.FunctionType(tuple(argument.type for argument in body.args))
    items = Block()
    items.append(Entry.build(sym_name="k", function_type=signature, body=body))
    return tileir.Module(ModuleOp.build(sym_name="elementwise", body=items))["k"]
