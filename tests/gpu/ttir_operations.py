"""Single element-wise operations as TTIR: run on the machine, or many of them compiled in one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from tests.cpu.samples import COUNT, operands
from tests.ttir_machine.machine import RunningBlock, finished
from tests.ttir_machine.memory import Memory
from tests.ttir_machine.values import Lanes, bits_of, from_bits
from tileir.gpu.arch import Arch
from tileir.gpu.compiler import Artifacts, CompileOptions, compile_ttir
from tileir.gpu.ttir.forms import tile_type
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirBlock, TtirFunction, TtirType, TtirValue
from tileir.gpu.ttir.ir.text import function_text
from tileir.gpu.ttir.lowering import INSTRUCTIONS, TtirLowering
from tileir.gpu.ttir.rules import RULES
from tileir.interp.machine import TABLES
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Signedness
from tileir.ir.core import Op
from tileir.ir.storage import dtype_of

Element = t.ElementType | t.PointerType
ARCHS = ("sm_80", "sm_90", "sm_100")
PLACE = 1 << 15
"""Bytes that an operand or result of a compiled operation has."""
GROUP = 40
"""Operations in a kernel when all that matters is that they compile."""
REQUIRED = {
    "comparison_predicate": Predicate.LESS_THAN,
    "comparison_ordering": Ordering.ORDERED,
    "signedness": Signedness.SIGNED,
}


@dataclass
class Case:
    """An operation and a name for it."""

    op: Op
    name: str

    def operands(self) -> list[np.ndarray]:
        """Random, special and neighbouring numbers."""
        elements = [value.type.element for value in self.op.operands]
        return [operands(element, len(elements))[place] for place, element in enumerate(elements)]


def case(
    cls: type[Op],
    elements: Sequence[Element],
    result: Element,
    shape: Sequence[int] = (COUNT,),
    result_shape: Sequence[int] | None = None,
    **attributes: object,
) -> Case:
    """An operation on tiles of `shape`, with a result of that shape too unless it is given one; attributes that must
    be given have a default."""
    block = core.Block([t.tile(element, *shape) for element in elements])
    required = {attr.name: REQUIRED[attr.name] for attr in cls.spec.attrs if attr.required}
    named = dict(zip((operand.name for operand in cls.spec.operands), block.args))
    result_type = t.tile(result, *(shape if result_shape is None else result_shape))
    op = block.append(cls.build([result_type], **named, **{**required, **attributes}))
    types = (getattr(element, "name", "ptr") for element in dict.fromkeys((*elements, result)))
    details = (getattr(value, "text", name if value is True else "") for name, value in attributes.items())
    return Case(op, "-".join(filter(None, (cls.spec.name, *types, *details))))


def lowering_into(body: TtirBlock, arch: Arch) -> TtirLowering:
    """For operations outside an entry."""
    return TtirLowering(arch, RULES, {}, body, Builder(body, INSTRUCTIONS[arch.vendor]))


def executed(op: Op, arrays: Sequence[np.ndarray], arch: Arch, constant: bool = False) -> np.ndarray:
    """Results of the machine for the operands; with `constant` the code knows the last one, which repeats a number."""
    body = TtirBlock(tuple(tile_type(value.type) for value in op.operands))
    lowering = lowering_into(body, arch)
    for value, argument in zip(op.operands, body.arguments):
        lowering.bind(value, argument)
    if constant:
        lowering.bind(op.operands[-1], lowering.build.integer(body.arguments[-1].type, int(arrays[-1][0])))
    lowering.lower(op)
    (result,) = op.results
    lowering.build.effect("tt.return", lowering.value(result))
    lanes = [Lanes(from_bits(bits_of(array), value.type.element)) for array, value in zip(arrays, body.arguments)]
    with np.errstate(all="ignore"):
        (found,) = finished(RunningBlock((0, 0, 0), (1, 1, 1), Memory([])).run(body, lanes))
    assert isinstance(result.type, t.TileType)
    return bits_of(found.required("the result")).view(dtype_of(result.type.element))


def interpreted(op: Op, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Results of the interpreter for them."""
    with np.errstate(all="ignore"):
        return TABLES.pure[type(op)](op)(*arrays)


def compiled(ops: Iterable[Op], arch: Arch, *stages: str) -> Artifacts:
    """A kernel of all the operations, each on operands from memory and with its result in memory."""
    body = TtirBlock((TtirType("!tt.ptr<i8>"),))
    places = count(0, PLACE)
    for op in ops:
        lowering = lowering_into(body, arch)
        for value in op.operands:
            lowering.bind(value, _loaded(lowering, lowering.type_of(value), next(places)))
        lowering.lower(op)
        for result in op.results:
            _store(lowering, lowering.value(result), next(places))
    Builder(body).effect("tt.return")
    return compile_ttir(function_text(TtirFunction("kernel", body)), arch, CompileOptions(), stages)


def require_compilable(ops: Sequence[Op], arch: Arch) -> None:
    """Compile all the operations, some in each kernel: many small kernels take less time than a large one."""
    for start in range(0, len(ops), GROUP):
        assert compiled(ops[start : start + GROUP], arch, "cubin").binary


def _loaded(lowering: TtirLowering, type: TtirType, place: int) -> TtirValue:
    """A tile from memory; an i1 is a byte there."""
    build = lowering.build
    memory = type.of("i64" if type.is_pointer else "i8" if type.element == "i1" else type.element)
    pointers = _addresses(build, memory, place)
    value = build.insert("tt.load", [pointers], [memory], {"operandSegmentSizes": (1, 0, 0)})[0]
    if type.is_pointer:
        return build.op("tt.int_to_ptr", value, type=type)
    return build.resized(value, "i1", signed=False) if type.element == "i1" else value


def _store(lowering: TtirLowering, value: TtirValue, place: int) -> None:
    build = lowering.build
    if value.type.is_pointer:
        value = build.op("tt.ptr_to_int", value, type=value.type.of("i64"))
    if value.type.element == "i1":
        value = build.resized(value, "i8", signed=False)
    build.effect("tt.store", _addresses(build, value.type, place), value)


def _addresses(build: Builder, type: TtirType, place: int) -> TtirValue:
    """A place of its own in the memory of the kernel."""
    (pointer,) = build.block.arguments
    start = build.op("tt.addptr", pointer, build.integer(I32, place))
    start = build.bitcast(start, f"!tt.ptr<{type.element}>")
    if not type.is_tensor:
        return start
    offsets = build.reshape(build.range(type.count), *type.shape)
    return build.op("tt.addptr", build.splat(start, *type.shape), offsets)
