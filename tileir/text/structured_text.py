"""Operations written by their own syntax: those with regions, symbols or lists of their own (specification 8.3).

Knows: the headers of module items and control flow, of `make_tensor_view` and of the extensions; which terminators
are hidden.
Does not know: names, locations and blanks of ordinary operations (`text.writer`, `text.format_text`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tileir.ir.attributes import Attribute, BoolAttr, StringAttr, Visibility
from tileir.ir.compare import is_implied
from tileir.ir.core import Block, Op, Value
from tileir.ir.rules import Rules
from tileir.ir.types import PointerAttr, PointerType, TileType, Type
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Reduce, Scan
from tileir.ops.extension import Call, ExternElementwise, Func, GatherLoad, Generate, ScatterStore
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.ops.views import MakeTensorView
from tileir.text.attribute_text import array_text, attribute_text, bool_text, dict_text
from tileir.text.format_text import attr_dict, literal_text, sorted_entries
from tileir.text.strings import symbol_text
from tileir.text.writer import INDENT, Writer

rules: Rules[Callable[[Writer, Op, str], None]] = Rules()


def shown_operations(op: Op, block: Block) -> list[Op]:
    """The operations of a region that are written: an implied terminator is not."""
    return block.ops[:-1] if block.ops and is_implied(block.ops[-1], op) else block.ops


def _body(writer: Writer, op: Op, block: Block, indent: str) -> None:
    """The lines of a region between its braces."""
    writer.operations(shown_operations(op, block), indent + INDENT)


def _close(writer: Writer, op: Op, indent: str, tail: str = "") -> None:
    writer.lines.append(f"{indent}}}{tail}{writer.end(op)}")


def _with_body(writer: Writer, op: Op, indent: str, header: str) -> None:
    """A whole operation with one region: header, body, dictionary."""
    (block,) = op.regions
    assert block is not None
    writer.lines.append(f"{writer.start(op, indent)}{header} {{")
    _body(writer, op, block, indent)
    _close(writer, op, indent, attr_dict(op))


def _declared(writer: Writer, values: Iterable[Value]) -> str:
    """Arguments with their types, in parentheses."""
    return f"({', '.join([f'{writer.uses[value]}: {writer.short[value.type]}' for value in values])})"


def _assigned(writer: Writer, arguments: list[Value], initial: list[Value]) -> str:
    pairs = zip(arguments, initial)
    return f"({', '.join([f'{writer.uses[argument]} = {writer.uses[value]}' for argument, value in pairs])})"


def _line(writer: Writer, op: Op, indent: str, text: str) -> None:
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)} {text}{writer.end(op)}")


# ---------------------------------------------------------------- module items


@rules(ModuleOp)
def _module(writer: Writer, op: ModuleOp, indent: str) -> None:
    entries = dict(op.discardable or {})
    if op.producer is not None:
        entries["producer"] = StringAttr(op.producer)
    attributes = f" attributes {dict_text(sorted_entries(entries))}" if entries else ""
    writer.lines.append(f"{indent}cuda_tile.module {symbol_text(op.sym_name)}{attributes} {{")
    _body(writer, op, op.body, indent)
    _close(writer, op, indent)


@rules(Entry)
def _entry(writer: Writer, op: Entry, indent: str) -> None:
    hints = op.optimization_hints
    shown = f" optimization_hints={writer.hints(hints)}" if hints else ""
    _with_body(writer, op, indent, _signature(writer, op) + shown)


@rules(Func)
def _func(writer: Writer, op: Func, indent: str) -> None:
    _with_body(writer, op, indent, _signature(writer, op))


def _signature(writer: Writer, op: Entry | Func) -> str:
    results = op.function_type.results
    shown = f" -> {_result_list(writer, results)}" if results else ""
    return f"{writer.name(op)} {symbol_text(op.sym_name)}{_declared(writer, op.body.args)}{shown}"


def _result_list(writer: Writer, types: Iterable[Type]) -> str:
    """One type bare, any other number in parentheses."""
    texts = [writer.short[type] for type in types]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


@rules(Global)
def _global(writer: Writer, op: Global, indent: str) -> None:
    """The visibility keeps its blank when it is left out."""
    visibility = "" if op.symbol_visibility is Visibility.PUBLIC else f"{op.symbol_visibility.text} "
    constant = " constant" if op.constant else ""
    alignment = f" alignment = {op.alignment}" if op.alignment else ""
    name = f"{visibility}{constant} {symbol_text(op.sym_name)}{alignment}{attr_dict(op)}"
    _line(writer, op, indent, f"{name} {literal_text(op.value)} : {writer.short[op.value.type]}")


# ---------------------------------------------------------------- control flow


@rules(For)
def _for(writer: Writer, op: For, indent: str) -> None:
    uses = writer.uses
    induction, *carried = op.body.args
    unsigned = "unsigned " if op.unsigned else ""
    bounds = f"({uses[op.lower]} to {uses[op.upper]}, step {uses[op.step]}) : {writer.short[induction.type]}"
    values = ""
    if op.initial:
        values = f" iter_values{_assigned(writer, carried, op.initial)} -> ({writer.types(op.results)})"
    _with_body(writer, op, indent, f"for {unsigned}{uses[induction]} in {bounds}{values}")


@rules(Loop)
def _loop(writer: Writer, op: Loop, indent: str) -> None:
    header = "loop"
    if op.initial:
        header += f" iter_values{_assigned(writer, op.body.args, op.initial)} : {writer.types(op.initial)}"
    if op.results:
        header += f" {'->' if op.initial else ':'} {writer.types(op.results)}"
    _with_body(writer, op, indent, header)


@rules(If)
def _if(writer: Writer, op: If, indent: str) -> None:
    results = f" -> ({writer.types(op.results)})" if op.results else ""
    writer.lines.append(f"{writer.start(op, indent)}if {writer.uses[op.condition]}{results} {{")
    _body(writer, op, op.then, indent)
    if op.otherwise is not None:
        writer.lines.append(f"{indent}}} else {{")
        _body(writer, op, op.otherwise, indent)
    _close(writer, op, indent, attr_dict(op))


# ---------------------------------------------------------------- reductions


@rules(Reduce)
def _reduce(writer: Writer, op: Reduce, indent: str) -> None:
    _combining(writer, op, indent, f"dim={op.dim}")


@rules(Scan)
def _scan(writer: Writer, op: Scan, indent: str) -> None:
    _combining(writer, op, indent, f"dim={op.dim} reverse={bool_text(op.reverse)}")


def _combining(writer: Writer, op: Reduce | Scan, indent: str, direction: str) -> None:
    """The header ends with a blank, and the arguments have a line of their own."""
    what = f"{writer.name(op)} {writer.values(op.operands)}{attr_dict(op)} {direction}"
    types = f"{writer.types(op.operands)} -> {writer.types(op.results)}"
    writer.lines.append(f"{writer.start(op, indent)}{what} identities={array_text(op.identities)} : {types} ")
    writer.lines.append(f"{indent}{_declared(writer, op.body.args)} {{")
    _body(writer, op, op.body, indent)
    _close(writer, op, indent)


# ---------------------------------------------------------------- views


@rules(MakeTensorView)
def _make_tensor_view(writer: Writer, op: MakeTensorView, indent: str) -> None:
    type = op.result.type
    shape = _mixed(writer, type.shape, op.dynamicShape)
    strides = _mixed(writer, type.strides, op.dynamicStrides)
    base = [] if pointer_attr(op.base.type) is None else [op.base]
    written = base + op.operands[1:2]
    source = f"{writer.types(written)} -> " if written else ""
    text = f"{writer.uses[op.base]}, shape = {shape}, strides = {strides}{attr_dict(op)}"
    _line(writer, op, indent, f"{text} : {source}{writer.short[type]}")


def pointer_attr(type: Type) -> PointerAttr | None:
    """The pointer attribute of a tile of pointers; a base that has one is written with its type (13.4)."""
    return type.element.attr if isinstance(type, TileType) and isinstance(type.element, PointerType) else None


def _mixed(writer: Writer, extents: Iterable[int | None], dynamic: list[Value]) -> str:
    """The static extents, and the values where the type has none."""
    values = iter(dynamic)
    texts = [writer.uses[next(values)] if extent is None else str(extent) for extent in extents]
    return f"[{', '.join(texts)}]"


# ---------------------------------------------------------------- extensions


@rules(Call)
def _call(writer: Writer, op: Call, indent: str) -> None:
    signature = f"({writer.types(op.operands)}) -> {_result_list(writer, [value.type for value in op.results])}"
    _line(writer, op, indent, f"{symbol_text(op.callee)}({writer.values(op.operands)}){attr_dict(op)} : {signature}")


@rules(ExternElementwise)
def _extern_elementwise(writer: Writer, op: ExternElementwise, indent: str) -> None:
    entries: dict[str, Attribute] = dict(op.discardable or {})
    entries |= {name: StringAttr(op.attributes[name]) for name in ("libname", "libpath", "symbol")}
    entries["pure"] = BoolAttr(op.pure)
    signature = f"({writer.types(op.operands)}) -> {writer.types(op.results)}"
    _line(writer, op, indent, f"{writer.values(op.operands)} {dict_text(sorted_entries(entries))} : {signature}")


@rules(Generate)
def _generate(writer: Writer, op: Generate, indent: str) -> None:
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)} {{")
    if op.body.args:
        writer.lines.append(f"{indent}^bb0{_declared(writer, op.body.args)}:")
    _body(writer, op, op.body, indent)
    _close(writer, op, indent, f"{attr_dict(op)} : {writer.types(op.results)}")


@rules(GatherLoad)
def _gather_load(writer: Writer, op: GatherLoad, indent: str) -> None:
    fill = "" if op.fill_value is None else f", fillValue = {attribute_text(op.fill_value)}"
    properties = f"<{{dim = {op.dim} : i64{fill}}}>"
    text = f"{writer.uses[op.source]}, {writer.uses[op.index]}, [{writer.values(op.offsets)}] {properties}"
    types = f"{writer.types([op.source, op.index, *op.offsets[:1]])} -> {writer.types(op.results)}"
    _line(writer, op, indent, f"{text}{attr_dict(op)} : {types}")


@rules(ScatterStore)
def _scatter_store(writer: Writer, op: ScatterStore, indent: str) -> None:
    uses = writer.uses
    tokens = [] if op.token is None else [op.token]
    values = f"{uses[op.source]}, {uses[op.destination]}, {uses[op.index]}, [{writer.values(op.offsets)}]"
    token = "".join(f" token = {uses[value]}" for value in tokens)
    typed = [op.source, op.destination, op.index, *op.offsets[:1], *tokens]
    types = f"{writer.types(typed)} -> {writer.types(op.results)}"
    _line(writer, op, indent, f"{values}{token} <{{dim = {op.dim} : i64}}>{attr_dict(op)} : {types}")
