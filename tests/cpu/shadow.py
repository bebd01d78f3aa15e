"""Lets a test of the interpreter run its programs natively as well, and compares: what it says holds for both.

Knows: how the ways in which those tests run a program are followed by a native run on the same memory.
Does not know: the tests. Programs that trap are run by the interpreter alone, as are those with a mode or seed of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tileir
from tests.differential import assert_equal, is_inexact
from tests.observe import addresses
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Block, Op, Value
from tileir.ir.storage import DTYPES
from tileir.ops import control, memory
from tileir.ops.extension import Call, Func
from tileir.ops.module import Entry
from tileir.runtime.module import Kernel

NAME = "natively"
sys.path.append(str(Path(__file__).parent.parent / "interp"))
# The tests of the interpreter import what they share from there.


def follow_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every launch without options of the interpreter is repeated natively on the same arrays."""
    launch = Kernel.launch

    def both(self: Kernel, grid: object, *args: object, **options: object) -> None:
        if options.keys() - {"output"} or not all(map(_is_plain, args)):
            launch(self, grid, *args, **options)
            return
        arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
        arrays += [placed.buffer for placed in self.module.globals.placed.values()]
        before = [array.copy() for array in arrays]
        launch(self, grid, *args, **options)
        after = [array.copy() for array in arrays]
        _put_back(arrays, before)
        launch(self, grid, *args, target="cpu", output=lambda text: None)
        _compare(after, arrays, self.entry)
        _put_back(arrays, after)

    monkeypatch.setattr(Kernel, "launch", both)


def _is_plain(arg: object) -> bool:
    return isinstance(arg, np.ndarray | np.generic | int | float)


def _put_back(arrays: list[np.ndarray], contents: list[np.ndarray]) -> None:
    for array, content in zip(arrays, contents):
        array[...] = content


def _compare(expected: list[np.ndarray], got: list[np.ndarray], op: Op) -> None:
    exact = not any(map(is_inexact, op.walk()))
    for number, (first, second) in enumerate(zip(expected, got)):
        assert_equal(np.ascontiguousarray(first), np.ascontiguousarray(second), exact, f"native array {number}")


def follow_evaluations(monkeypatch: pytest.MonkeyPatch, tests: ModuleType) -> None:
    """Every evaluation of a device function in the module `tests` is repeated natively."""
    evaluate: Callable[..., object] = tests.evaluate

    def both(text: str, *values: object, **options: object) -> object:
        results = evaluate(text, *values, **options)
        if not options.keys() - {"verified"}:
            found = _evaluated(text, values)
            if found is not None:
                _compare([np.asarray(result) for result in _listed(results)], *found)
        return results

    monkeypatch.setattr(tests, "evaluate", both)


def _listed(results: object) -> tuple[object, ...]:
    return results if isinstance(results, tuple) else (results,)


def _evaluated(text: str, values: tuple[object, ...]) -> tuple[list[np.ndarray], Op] | None:
    """The results of device function @f natively, and the function; None where a value does not lie in memory."""
    module = tileir.parse(text)
    function = next(item for item in module.items if isinstance(item, Func) and item.sym_name == "f")
    inputs, outputs = function.function_type.inputs, function.function_type.results
    if not all(_in_memory(type) for type in (*inputs, *outputs)):
        return None
    module.op.regions[0].append(_caller(inputs, outputs))
    given = [np.array(value, _dtype(type), order="C").reshape(type.shape) for value, type in zip(values, inputs)]
    results = [np.zeros(type.shape, _dtype(type)) for type in outputs]
    module[NAME].launch(1, *given, *results, target="cpu", check=False)
    return results, function


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
    loads = [memory.LoadPtr.build([type, t.TOKEN], source=place, **weak) for type, place in zip(inputs, places)]
    arguments = [body.append(load).results[0] for load in loads]
    call = body.append(Call.build(outputs, callee="f", args=arguments))
    for place, value in zip(places[len(inputs) :], call.results):
        body.append(memory.StorePtr.build([t.TOKEN], destination=place, value=value, **weak))
    body.append(control.Return.build())
    signature = t.FunctionType(tuple(argument.type for argument in body.args))
    return Entry.build(sym_name=NAME, function_type=signature, body=body)


def _places(body: Block, pointer: Value, type: t.TileType) -> Value:
    return addresses(body, pointer, t.PointerType(type.element), type)
