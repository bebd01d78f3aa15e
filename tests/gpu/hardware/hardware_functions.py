"""Device functions on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileir
from tests.gpu.hardware import hardware_tiles as tiles
from tests.gpu.hardware.hardware_device import Device
from tileir.ir import types as t
from tileir.ir.core import Block
from tileir.ops import control
from tileir.ops.calls import Call, Func
from tileir.ops.module import Entry


def evaluated(device: Device, text: str, *values: Any) -> list[np.ndarray]:
    """The results of device function @f of a program for these values."""
    module = tileir.parse(text)
    function = next(item for item in module.items if isinstance(item, Func) and item.sym_name == "f")
    inputs, outputs = function.function_type.inputs, function.function_type.results
    kernel = tileir.Module(_with_entry(module, function).op)["k"]
    given = [tiles.stored(np.array(value, tiles.dtype_of(type.element)), type) for value, type in zip(values, inputs)]
    found = device.outcome(kernel, (1,), [*given, *(tiles.room_for(type) for type in outputs)])
    return [tiles.read(raw, type) for raw, type in zip(found.arrays[len(given) :], outputs)]


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
