"""Modules built in memory from the declarations: one for every operation and every choice of its optional fields.

The types are picked from the declared sets and need not fit together: these modules are for the reader and the writer,
which do not verify.
"""

from collections.abc import Iterator
from itertools import chain, combinations

from tileir.ir import attributes as a
from tileir.ir import types as t
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.fields import Attr, AttrKind, Operand
from tileir.ir.spec import Placement
from tileir.ir.traits import TypeConstraint
from tileir.ir.versions import Version, version_key
from tileir.ops import OPS
from tileir.ops.control import Break, Continue, Return, Yield
from tileir.ops.module import Entry, ModuleOp

VIEW = t.TensorViewType(t.F32, (None, 16), (16, 1))
TYPES = (
    t.tile(t.I32),
    t.tile(t.I1),
    t.tile(t.F32, 4),
    t.tile(t.F16, 4, 8),
    t.tile(t.I8, 8),
    t.tile(t.F8E4M3FN, 4, 8),
    t.tile(t.F8E8M0FNU, 4),
    t.TileType((), t.PointerType(t.F32)),
    t.TileType((4,), t.PointerType(t.F32)),
    t.tile(t.I64, 2),
    VIEW,
    t.PartitionViewType((4, 8), VIEW, t.PaddingValue.NAN),
    t.GatherScatterViewType((4, 8), VIEW, 0),
    t.StridedViewType((4, 8), (2, 3), VIEW, t.PaddingValue.ZERO, (1, 0)),
    t.TOKEN,
)
HINTS = a.OptimizationHints(
    a.DictAttr.of({"sm_90": a.DictAttr.of({"latency": a.IntegerAttr(3, t.I32), "allow_tma": a.BoolAttr(True)})})
)
VALUES: dict[AttrKind, object] = {
    AttrKind.UNIT: True,
    AttrKind.I32: -5,
    AttrKind.I64: 1 << 40,
    AttrKind.BOOL: True,
    AttrKind.STRING: "text \udcff",
    AttrKind.SYMBOL: "other",
    AttrKind.DENSE: a.DenseElements.of(t.tile(t.F32, 4), bytes(range(16))),
    AttrKind.I32_ARRAY: (1, 0, -2),
    AttrKind.ARRAY: a.ArrayAttr((a.FloatAttr(0x80000000, t.F32), a.IntegerAttr(-1, t.I8))),
    AttrKind.TAGGED: a.DivBy(16, 4, 1),
    AttrKind.HINTS: HINTS,
    AttrKind.DICTS: a.ArrayAttr((a.DictAttr.of({"x.y": a.StringAttr("z")}), a.DictAttr())),
    AttrKind.CONSTANTS: a.ArrayAttr(
        (
            a.IntegerAttr(-(1 << 62), t.I64),
            a.StringAttr('a "b"'),
            a.TypeAttr(t.F16),
            a.ArrayAttr((a.IntegerAttr(1, t.I64), a.ArrayAttr(()))),
        )
    ),
}
INSTRUCTIONS = [op for op in OPS.values() if op.spec.placement is Placement.INSTRUCTION]


def type_for(constraint: TypeConstraint) -> t.Type:
    return next(type for type in TYPES if constraint.accepts(type))


def known(since: str | None, version: Version) -> bool:
    return since is None or version_key(since) <= version


def value_for(attr: Attr, version: Version, operands: int) -> object:
    if attr.enum is not None:
        return [case for case in attr.enum if known(case.since, version)][-1]
    if attr.kind is AttrKind.BOOL_ARRAY:
        return (True,) + (False,) * (operands - 1)
    return VALUES[attr.kind]


def optional_fields(op: type[Op], version: Version) -> list[Attr | Operand]:
    """Parts that a program may leave out: optional fields, and fields with a default that the version knows."""
    attrs = [attr for attr in op.spec.attrs if attr.encoded and not attr.required and known(attr.since, version)]
    operands = [operand for operand in op.spec.operands if not operand.single and known(operand.since, version)]
    return [*attrs, *operands]


def choices(fields: list[Attr | Operand]) -> Iterator[tuple[Attr | Operand, ...]]:
    """No field, each field, each pair, all fields."""
    return chain(*(combinations(fields, size) for size in sorted({0, 1, min(2, len(fields)), len(fields)})))


def variants(op: type[Op], version: Version) -> Iterator[Module]:
    """A module for every choice of the optional fields of an operation."""
    for chosen in choices(optional_fields(op, version)):
        yield module_with(op, version, chosen)


def module_with(op: type[Op], version: Version, chosen: tuple[Attr | Operand, ...]) -> Module:
    spec = op.spec
    counts = [
        1 if operand.single else (2 if operand.variadic else 1) * (operand in chosen) for operand in spec.operands
    ]
    types = [type_for(operand.constraint) for operand, count in zip(spec.operands, counts) for _ in range(count)]
    block, values = supplied(types)
    variadic = sum(count for operand, count in zip(spec.operands, counts) if operand.variadic)
    attributes = {
        attr.name: value_for(attr, version, variadic)
        for attr in spec.attrs
        if attr.encoded and known(attr.since, version) and (attr.required or attr in chosen)
        if not (attr.kind is AttrKind.BOOL_ARRAY and variadic == 0)
    }
    results = [type_for(result.constraint) for result in spec.results for _ in range(2 if result.variadic else 1)]
    if AttrKind.DENSE in {attr.kind for attr in spec.attrs}:
        results = [t.tile(t.F32, 4)]
    regions = tuple(None if region.optional and not chosen else body(values[:1]) for region in spec.regions)
    block.append(op(values, results, attributes, regions, segments=tuple(counts)))
    return module_of(block)


def supplied(types: list[t.Type]) -> tuple[Block, list[Value]]:
    """A block with values of `types`: arguments where they are tiles, which any entry can have, else results."""
    block = Block([type for type in types if isinstance(type, t.TileType)])
    args = iter(block.args)
    make = OPS["make_token"].build
    return block, [
        next(args) if isinstance(type, t.TileType) else block.append(make([type])).results[0] for type in types
    ]


def body(captured: list[Value]) -> Block:
    """A block with arguments, a value that is named again outside, and a use of a value from outside."""
    block = Block([t.tile(t.I32), t.TOKEN])
    inner = block.append(OPS["iota"].build([t.tile(t.I32, 4)]))
    block.append(Yield.build(operands=[*captured, inner.results[0], block.args[1]]))
    return block


def module_of(block: Block, **attributes: object) -> Module:
    """A module with one entry."""
    if block.terminator is None:
        block.append(Return.build())
    signature = t.FunctionType([argument.type for argument in block.args])
    entry = Entry([], [], {"sym_name": "k", "function_type": signature} | attributes, (block,))
    module = Block()
    module.append(entry)
    return Module(ModuleOp([], [], {"sym_name": "kernels"}, (module,)))


EXITS = (Break, Continue, Return, Yield)
