"""Lets a test of the interpreter run its programs on a device as well: what it says holds for both.

Knows: which launches and evaluations can be followed, and how a device function becomes a kernel. Does not know: the
tests.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

import tileir
from tests.differential import assert_equal, is_inexact
from tests.gpu import ttir_follow  # noqa: F401  (lets the tests of the interpreter find what they share)
from tests.gpu.hardware import hardware_tiles as tiles
from tests.gpu.hardware.hardware_device import Device
from tileir.ir import types as t
from tileir.ir.core import Block
from tileir.ops import control, core
from tileir.ops.extension import Call, Func
from tileir.ops.module import Entry
from tileir.runtime.module import Kernel


def follow_launches(monkeypatch: pytest.MonkeyPatch, device: Device) -> None:
    """Every plain launch in the interpreter is repeated on the same arrays."""
    launch = Kernel.launch

    def both(self: Kernel, grid: object, *args: object, **options: object) -> None:
        plain = options == {"target": "interp"} and all(map(_is_plain, args))
        arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
        before = [array.copy() for array in arrays]
        launch(self, grid, *args, **options)  # type: ignore[arg-type]
        if not plain:
            return
        after = [array.copy() for array in arrays]
        _fill(arrays, before)
        found = device.outcome(self, grid if isinstance(grid, tuple) else (grid,), args)  # type: ignore[arg-type]
        _fill(arrays, after)
        exact = not any(map(is_inexact, self.entry.walk()))
        for number, (first, second) in enumerate(zip(after, found.arrays)):
            assert_equal(first, second, exact, f"array {number}")

    monkeypatch.setattr(Kernel, "launch", both)


def _is_plain(arg: object) -> bool:
    if isinstance(arg, np.ndarray):
        return bool(arg.flags.c_contiguous)
    return isinstance(arg, np.generic | int | float)


def _fill(arrays: list[np.ndarray], contents: list[np.ndarray]) -> None:
    for array, content in zip(arrays, contents):
        array[...] = content


def follow_evaluations(monkeypatch: pytest.MonkeyPatch, tests: ModuleType, device: Device) -> None:
    """Every evaluation of a device function in the module `tests` is repeated on the device."""
    evaluate: Callable[..., object] = tests.evaluate

    def both(text: str, *values: object, **options: object) -> object:
        results = evaluate(text, *values, **options)
        if not options.keys() - {"verified"}:
            function, found = evaluated(device, text, values)
            exact = not any(is_inexact(op) or isinstance(op, core.Scan) for op in function.walk())
            expected = results if isinstance(results, tuple) else (results,)
            for mine, other in zip(expected, found):
                assert_equal(np.array(mine, order="C"), other, exact, "the device")
        return results

    monkeypatch.setattr(tests, "evaluate", both)


def evaluated(device: Device, text: str, values: tuple[object, ...]) -> tuple[Func, list[np.ndarray]]:
    """Device function @f of a program, and what it returns for these values."""
    module = tileir.parse(text)
    function = next(item for item in module.items if isinstance(item, Func) and item.sym_name == "f")
    inputs, outputs = function.function_type.inputs, function.function_type.results
    kernel = tileir.Module(_with_entry(module, function).op)["k"]
    given = [tiles.stored(np.array(value, tiles.dtype_of(type.element)), type) for value, type in zip(values, inputs)]
    found = device.outcome(kernel, (1,), [*given, *(tiles.room_for(type) for type in outputs)])
    return function, [tiles.read(raw, type) for raw, type in zip(found.arrays[len(given) :], outputs)]


def _with_entry(module: tileir.Module, function: Func) -> tileir.Module:
    """The module with an entry @k that calls the function on what its parameters point to."""
    inputs, outputs = function.function_type.inputs, function.function_type.results
    body = Block([tiles.pointer_to(type) for type in (*inputs, *outputs)])
    pointers = body.args
    values = [tiles.load(body, pointer, type) for pointer, type in zip(pointers, inputs)]
    call = body.append(Call.build(list(outputs), callee=function.sym_name, args=values))
    for pointer, result in zip(pointers[len(inputs) :], call.results):
        tiles.store(body, pointer, result)
    body.append(control.Return.build())
    signature = t.FunctionType(tuple(argument.type for argument in pointers))
    module.op.body.append(Entry.build(sym_name="k", function_type=signature, body=body))
    return module
