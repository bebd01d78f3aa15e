"""Runs single element-wise operations natively on NumPy arrays, many compiled in one module."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from llvmlite import ir
from llvmlite.binding import ModuleRef
from samples import COUNT, operands

from tileir.cpu.emit.elements import I8, I32, I64, PTR
from tileir.cpu.emit.emitter import ARENA_ALIGNMENT, Emitter
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.emit.tiles import Window, fill, row_major
from tileir.cpu.llvm.engine import Loaded, host, optimized, target_machine
from tileir.cpu.llvm.printing import NativeModule
from tileir.cpu.lowering.state import KernelState, Lowering, NativeRules
from tileir.cpu.plan import plan_of
from tileir.cpu.rules import arithmetic, conversion
from tileir.interp import arithmetic as interpreted_arithmetic
from tileir.interp import conversion as interpreted_conversion
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.rules import joined
from tileir.ir.storage import dtype_of
from tileir.ops.module import Entry

RULES = joined(arithmetic.rules, conversion.rules)
REFERENCE = joined(
    interpreted_arithmetic.rules,
    interpreted_conversion.rules,
)
BASE_FLOATS = (t.F16, t.BF16, t.F32, t.F64)
Element = t.ElementType | t.PointerType
REQUIRED = {
    "comparison_predicate": Predicate.LESS_THAN,
    "comparison_ordering": Ordering.ORDERED,
    "signedness": Signedness.SIGNED,
}


def operation(cls: type[Op], operands: Sequence[t.Type], result: t.Type, **attributes: object) -> Op:
    """An operation on the arguments of a block of its own; required attributes have a default."""
    block = Block(list(operands))
    required = {attr.name: REQUIRED[attr.name] for attr in cls.spec.attrs if attr.required}
    named = dict(zip((operand.name for operand in cls.spec.operands), block.args))
    return block.append(cls.build([result], **named, **{**required, **attributes}))


@dataclass
class Case:
    """An operation, the name of its special case, and the preparation of its random operands."""

    op: Op
    name: str
    prepare: Callable[[list[np.ndarray]], list[np.ndarray]] = list
    number: int = -1
    """Position in its batch."""

    def operands(self) -> list[np.ndarray]:
        elements = [value.type.element for value in self.op.operands]
        return self.prepare([operands(element, len(elements))[place] for place, element in enumerate(elements)])


def case(cls: type[Op], elements: Sequence[Element], result: Element, **attributes: object) -> Case:
    """An operation on tiles of `COUNT` elements."""
    op = operation(cls, [t.tile(element, COUNT) for element in elements], t.tile(result, COUNT), **attributes)
    used = dict.fromkeys((*elements, result))
    types = (getattr(element, "name", "ptr") for element in used)
    details = (getattr(value, "text", name if value is True else "") for name, value in attributes.items())
    return Case(op, "-".join(filter(None, (cls.spec.name, *types, *details))))


def interpreted(op: Op, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Results of the interpreter for the operands."""
    with np.errstate(all="ignore"):
        return REFERENCE[type(op)](op)(*arrays)


@dataclass
class Batch:
    """Operations compiled together."""

    module: ir.Module = field(default_factory=lambda: NativeModule("batch", host()))
    count: int = 0
    _module: ModuleRef | None = None
    _loaded: Loaded | None = None
    _assembly: str = ""

    def add(self, op: Op) -> int:
        """The number to run it by."""
        lower(self.module, f"op{self.count}", op)
        self.count += 1
        return self.count - 1

    def run(self, number: int, op: Op, arrays: Sequence[np.ndarray]) -> tuple[int, np.ndarray]:
        """The number of the trap that stopped the operation, or 0, and its result."""
        if self._loaded is None:
            names = [f"op{one}" for one in range(self.count)]
            self._loaded = Loaded(target_machine(host()).emit_object(self.optimized()), host(), names)
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(self._loaded.addresses[f"op{number}"])
        result = np.zeros(op.results[0].type.shape, dtype_of(op.results[0].type.element))
        kept = [np.ascontiguousarray(array) for array in arrays]
        slots = np.array([array.ctypes.data for array in (*kept, result)], np.uint64)
        status = function(slots.ctypes.data)
        if op.results[0].type.element is t.I4:
            result = (result ^ np.int8(8)) - np.int8(8)
        return status, result

    def result(self, found: Case, arrays: Sequence[np.ndarray]) -> np.ndarray:
        status, result = self.run(found.number, found.op, arrays)
        assert status == 0
        return result

    def optimized(self) -> ModuleRef:
        """The module; nothing may be added from now on."""
        if self._module is None:
            self._module = optimized(str(self.module), host())
        return self._module

    def assembly(self) -> str:
        """The module as text for the assembler; nothing may be added from now on."""
        self._assembly = self._assembly or target_machine(host()).emit_assembly(self.optimized())
        return self._assembly

    def functions(self) -> dict[int, str]:
        """The assembly of each operation."""
        parts = re.split(r'^"?op(\d+)"?:', self.assembly(), flags=re.MULTILINE)
        return {int(number): body.partition(".cfi_endproc")[0] for number, body in zip(parts[1::2], parts[2::2])}


def compiled(cases: Iterable[Case]) -> Batch:
    batch = Batch()
    for found in cases:
        found.number = batch.add(found.op)
    return batch


def called(assembly: str) -> set[str]:
    """The functions outside the module that x86 code calls."""
    names = re.findall(r"\t(?:callq?|jmp)\s+(\w[\w.]*)", assembly)
    return {name for name in names if not name.startswith("math.")}


def lower(module: ir.Module, name: str, op: Op) -> None:
    """A function from the addresses of the operands' arrays and the result's to 0 or the number of a trap."""
    function = ir.Function(module, ir.FunctionType(I32, [PTR]), name)
    start, leave = function.append_basic_block("start"), function.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    status = builder.alloca(I32)
    builder.store(I32(0), status)
    emit = Emitter(function, builder, builder.alloca(I64, ARENA_ALIGNMENT // 8), leave, status)
    block = op.parent
    assert block is not None
    plan = plan_of(Entry.build(sym_name=name, body=block), CheckLevel.OFF, host())
    # The result is computed in the loop that stores it.
    body = replace(plan.body, expressions=frozenset(op.results))
    rules = NativeRules(RULES, {}, {})
    kernel = KernelState(plan, rules, {}, bounds_slot=0, bounds_count=0)
    lowering = Lowering(kernel, emit, body, [], [], function.args[0], PTR(None))
    values = (*block.args, op.results[0])
    windows = [window(builder, function.args[0], place, value) for place, value in enumerate(values)]
    lowering.values.update(zip(block.args, windows))
    lowering.lower(op)
    fill(emit, windows[-1], lowering.tile(op.results[0]))
    builder.branch(leave)
    builder.position_at_end(leave)
    builder.ret(builder.load(status, typ=I32))


def window(builder: ir.IRBuilder, slots: ir.Value, place: int, value: Value) -> Window:
    address = builder.load(builder.gep(slots, [I64(8 * place)], source_etype=I8), typ=PTR)
    assert isinstance(value.type, t.TileType)
    return Window(value.type, address, row_major(value.type.shape))
