"""Device functions on the TTIR machine.

A function @f is put between loads of its arguments and stores of its results.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import tileir
from tests import ttir_machine
from tests.ttir_machine import Allocation, allocation
from tileir.analysis.structure import RegionExit
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions, compile_ttir
from tileir.gpu.executable import ConstantMemory
from tileir.gpu.ttir.forms import tile_type
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirBlock, TtirFunction, TtirType, TtirValue
from tileir.gpu.ttir.ir.text import function_text
from tileir.gpu.ttir.lib.regions import run
from tileir.gpu.ttir.lowering import INSTRUCTIONS, TtirLowering
from tileir.gpu.ttir.rules import RULES
from tileir.ir import types as t
from tileir.ir.storage import dtype_of
from tileir.ops.calls import Func

_LOAD = {"operandSegmentSizes": (1, 0, 0), "cache": 1, "evict": 1, "isVolatile": False}


@dataclass
class Shadow:
    """A device function as a kernel: addresses of its arguments and results, then of the contents of constants."""

    function: Func
    kernel: TtirFunction
    constants: list[bytes]


def shadow_of(text: str, arch: str = "sm_90") -> Shadow:
    """The kernel for device function @f. Raises UnsupportedError."""
    module = tileir.parse(text)
    function = next(item for item in module.items if isinstance(item, Func) and item.sym_name == "f")
    inputs, outputs = function.function_type.inputs, function.function_type.results
    body = TtirBlock(tuple(TtirType(f"!tt.ptr<{_stored(type)}>") for type in (*inputs, *outputs)))
    functions = {item.sym_name: item for item in module.items if isinstance(item, Func)}
    lowering = TtirLowering(
        arch_named(arch), RULES, functions, body, Builder(body, INSTRUCTIONS[arch_named(arch).vendor])
    )
    for argument, pointer in zip(function.body.args, body.arguments[: len(inputs)]):
        lowering.bind(argument, _loaded(lowering.build, pointer, tile_type(argument.type)))
    values = run(lowering, function.body.ops).values[RegionExit.RETURN]
    for value, pointer in zip(values, body.arguments[len(inputs) :]):
        _store(lowering.build, pointer, value)
    lowering.build.effect("tt.return")
    constants = [hidden.content for hidden in lowering.hidden if isinstance(hidden, ConstantMemory)]
    assert len(constants) == len(lowering.hidden), lowering.hidden
    return Shadow(function, TtirFunction("k", body), constants)


def _stored(type: t.Type) -> str:
    element = tile_type(type).element
    if element.startswith("!"):
        return "i64"
    return "i8" if element == "i1" else element


def _loaded(build: Builder, pointer: TtirValue, type: TtirType) -> TtirValue:
    places = _places(build, pointer, type.shape)
    value = build.insert("tt.load", [places], [type.of(pointer.type.pointee)], dict(_LOAD))[0]
    if type.is_pointer:
        return build.op("tt.int_to_ptr", value, type=type)
    return build.resized(value, "i1", signed=False) if type.element == "i1" else value


def _store(build: Builder, pointer: TtirValue, value: TtirValue) -> None:
    places = _places(build, pointer, value.type.shape)
    if value.type.is_pointer:
        value = build.op("tt.ptr_to_int", value, type=value.type.of("i64"))
    if value.type.element == "i1":
        value = build.resized(value, "i8", signed=False)
    build.effect("tt.store", places, value, cache=1, evict=1)


def _places(build: Builder, pointer: TtirValue, shape: tuple[int, ...]) -> TtirValue:
    if not shape:
        return pointer
    offsets = build.range(int(np.prod(shape)))
    return build.op("tt.addptr", build.splat(pointer, *shape), build.reshape(offsets, *shape))


def evaluated(text: str, *values: object, arch: str = "sm_90") -> list[np.ndarray]:
    """Results of device function @f for these values."""
    return _run(shadow_of(text, arch), values)


def _run(shadow: Shadow, values: tuple[object, ...]) -> list[np.ndarray]:
    inputs, outputs = shadow.function.function_type.inputs, shadow.function.function_type.results
    arrays = [
        np.array(value, dtype_of(type.element), order="C").reshape(type.shape) for value, type in zip(values, inputs)
    ]
    arrays += [np.zeros(type.shape, dtype_of(type.element)) for type in outputs]
    contents = [np.frombuffer(content, np.uint8).copy() for content in shadow.constants]
    lent: list[Allocation] = [allocation(f"array {number}", array) for number, array in enumerate([*arrays, *contents])]
    ttir_machine.run(shadow.kernel, (1,), [found.address for found in lent], lent)
    return arrays[len(inputs) :]


def compiled(text: str, arch: str, *stages: str) -> Artifacts:
    """Device function @f through Triton's compiler; equal code, as that of types of equal width, is compiled once."""
    return _compiled(function_text(shadow_of(text, arch).kernel), arch, stages or ("cubin",))


@cache
def _compiled(ttir: str, arch: str, stages: tuple[str, ...]) -> Artifacts:
    return compile_ttir(ttir, arch_named(arch), CompileOptions(), stages)
