"""Native code beside the interpreter.

A device function becomes a kernel that loads its arguments and stores its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tileir
from tests.differential import Outcome, outcome
from tests.observe import addresses
from tests.targets.compared import Compared
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Block, Value
from tileir.ir.storage import DTYPES
from tileir.ops import control, pointers
from tileir.ops.calls import Call, Func
from tileir.ops.module import Entry

NAME = "natively"


class Native(Compared):
    """The target ``cpu``."""

    name = "cpu"
    needs_contiguous_arrays = False
    regroups_scans = False

    def outcome(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[Any], variant: str) -> Outcome:
        return outcome(kernel, grid, args, "cpu")

    def evaluated(self, text: str, *values: Any) -> Sequence[np.ndarray] | None:
        return _evaluated(text, values)


def _evaluated(text: str, values: tuple[object, ...]) -> list[np.ndarray] | None:
    """The results of device function @f natively; None where a value does not lie in memory."""
    module = tileir.parse(text)
    function = next(item for item in module.items if isinstance(item, Func) and item.sym_name == "f")
    inputs, outputs = function.function_type.inputs, function.function_type.results
    if not all(_in_memory(type) for type in (*inputs, *outputs)):
        return None
    module.op.regions[0].append(_caller(inputs, outputs))
    given = [np.array(value, _dtype(type), order="C").reshape(type.shape) for value, type in zip(values, inputs)]
    results = [np.zeros(type.shape, _dtype(type)) for type in outputs]
    module[NAME].launch(1, *given, *results, target="cpu", check=False)
    return results


def _in_memory(type: t.Type) -> bool:
    if not isinstance(type, t.TileType) or not isinstance(type.element, t.ElementType):
        return False
    return type.element not in (t.I4, t.F4E2M1FN)


def _dtype(type: t.TileType) -> np.dtype:
    assert isinstance(type.element, t.ElementType)
    return DTYPES[type.element]


def _caller(inputs: tuple[t.TileType, ...], outputs: tuple[t.TileType, ...]) -> Entry:
    """An entry that loads the arguments of @f, calls it and stores what it returns."""
    body = Block([t.tile(t.PointerType(type.element)) for type in (*inputs, *outputs)])
    places = [_places(body, pointer, type) for pointer, type in zip(body.args, (*inputs, *outputs))]
    weak = {"memory_ordering_semantics": MemoryOrdering.WEAK}
    loads = [pointers.LoadPtr.build([type, t.TOKEN], source=place, **weak) for type, place in zip(inputs, places)]
    arguments = [body.append(load).results[0] for load in loads]
    call = body.append(Call.build(outputs, callee="f", args=arguments))
    for place, value in zip(places[len(inputs) :], call.results):
        body.append(pointers.StorePtr.build([t.TOKEN], destination=place, value=value, **weak))
    body.append(control.Return.build())
    signature = t.FunctionType(tuple(argument.type for argument in body.args))
    return Entry.build(sym_name=NAME, function_type=signature, body=body)


def _places(body: Block, pointer: Value, type: t.TileType) -> Value:
    return addresses(body, pointer, t.PointerType(type.element), type)
