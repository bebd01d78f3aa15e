"""A program for each operation that can be run, made from a valid use in the verifier's tests."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tileir
from tileir.host import extern
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ops.calls import Func

USES = Path(__file__).parents[1] / "tests/verify/operations.mlir"
_USE = re.compile(r"// subject: (\S+)\n(.*)", re.DOTALL)
_FUNCTION = re.compile(r"experimental\$func @f\((.*?)\)( -> [^{]*)? \{\n(.*?)^\}\n?", re.DOTALL | re.MULTILINE)
_PARAMETER = re.compile(r"(%\w+): ")
_FLOATS = ("[1.0, -2.5, 0.5, 4.0]", "[3.0, 0.25, -1.5, 2.0]", "[0.0, 1.0, 2.0, -1.0]")
_INTEGERS = ("[1, -2, 3, 40]", "[2, 5, 3, 7]", "[0, 1, 2, 3]")
_BOOLEANS = ("[true, false, true, true]", "[true, true, false, false]", "[false, true, false, true]")
_KINDS = {
    t.PartitionViewType: "make_partition_view",
    t.StridedViewType: "make_strided_view",
    t.GatherScatterViewType: "make_gather_scatter_view",
}
_DATA = 2048
"""Elements of the global that pointers lead to."""


@cache
def uses() -> dict[str, str]:
    """The valid use of each operation, by its name."""
    chunks = USES.read_text(encoding="utf-8").split("// -----\n")
    return {match[1]: match[2] for match in map(_USE.search, chunks) if match}


def example(subject: str) -> str:
    """A program with an entry that uses the operation and prints what it gives."""
    if subject in _OWN:
        return _OWN[subject]
    text = uses()[subject]
    found = _FUNCTION.search(text)
    if found is None:
        return text.strip() + "\n"
    function = next(op for op in tileir.parse(text).items if isinstance(op, Func) and op.sym_name == "f")
    names, values = _PARAMETER.findall(found[1]), _Values()
    lines = [line for name, argument in zip(names, function.body.args) for line in values.lines(name, argument.type)]
    if found[2]:
        called = ", ".join(names), ", ".join(argument.type.text for argument in function.body.args)
        results = [value.type.text for value in function.body.terminator.operands] if function.body.terminator else []
        lines.append(f"%out = experimental$call @f({called[0]}) : ({called[1]}) -> {results[0]}")
        lines += _printed([("%out", type) for type in _types(function.body.terminator)])
        kept = found[0]
    else:
        lines += [line.removeprefix("  ") for line in found[3].rstrip().splitlines() if line.strip() != "return"]
        lines += _printed(_results(function, subject, found[3]))
        kept = ""
    before = (text[: found.start()] + kept + text[found.end() :]).strip()
    body = "".join(f"  {line}\n" for line in [*lines, "return"])
    return "".join(f"{part}\n" for part in (*values.globals, before) if part) + f"entry @example() {{\n{body}}}\n"


def _types(op: Op | None) -> list[t.Type]:
    return [] if op is None else [value.type for value in op.operands]


def _results(function: Func, subject: str, text: str) -> list[tuple[str, t.Type]]:
    """The names and types of what the operation gives in a region of its own, or else of what the last one gives."""
    ops = [op for op in function.body.ops if op.results]
    wanted = [op for op in ops if op.spec.name == subject] or ops[-1:]
    return [pair for op in wanted for pair in zip(_names(op, text), (value.type for value in op.results))]


def _names(op: Op, text: str) -> list[str]:
    pattern = rf"^  (%[\w%:, ]+?) = (?:cuda_tile\.)?(?:{'|'.join(map(re.escape, (op.spec.name, *op.spec.aliases)))})\b"
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        return []
    names = []
    for name in found[1].split(", "):
        bare, _, count = name.partition(":")
        names += [f"{bare}#{index}" for index in range(int(count))] if count else [bare]
    return names


def _printed(values: list[tuple[str, t.Type]]) -> list[str]:
    shown = [(name, type) for name, type in values if isinstance(type, t.TileType) and _is_number(type)]
    if not shown:
        return []
    text = ", ".join(f"{name.lstrip('%')} = {'%f' if type.number.is_float else '%i'}" for name, type in shown)
    names, types = ", ".join(name for name, _ in shown), ", ".join(type.text for _, type in shown)
    return [f'print_tko "{text}\\n", {names} : {types} -> token']


def _is_number(type: t.TileType) -> bool:
    return isinstance(type.element, t.ElementType)


_OWN = {
    "module": """\
cuda_tile.module @kernels {
  entry @example() {
    print_tko "run\\n" -> token
    return
  }
}
""",
    "entry": """\
entry @example() optimization_hints=<sm_90 = {occupancy = 2}> {
  print_tko "run\\n" -> token
  return
}
""",
    "global": """\
global @primes <i32: [2, 3, 5, 7]> : tile<4xi32>
entry @example() {
  %p = get_global @primes : tile<ptr<i32>>
  %first, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  print_tko "first = %i\\n", %first : tile<i32> -> token
  return
}
""",
    "ptr_to_int": """\
global @data <f32: 1.0> : tile<8xf32>
entry @example() {
  %p = get_global @data : tile<ptr<f32>>
  %five = constant <i32: 5> : tile<i32>
  %q = offset %p, %five : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %low = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
  %high = ptr_to_int %q : tile<ptr<f32>> -> tile<i64>
  %bytes = subi %high, %low : tile<i64>
  print_tko "bytes = %i\\n", %bytes : tile<i64> -> token
  return
}
""",
    "assert": """\
entry @example() {
  %holds = constant <i1: [true, true]> : tile<2xi1>
  assert %holds, "this is never said" : tile<2xi1>
  return
}
""",
    "assume": """\
entry @example() {
  %a = constant <i32: [8, -16, 24, 0]> : tile<4xi32>
  %r = assume div_by<8>, %a : tile<4xi32>
  print_tko "r = %i\\n", %r : tile<4xi32> -> token
  return
}
""",
    "loop": """\
entry @example() {
  %one = constant <i32: 1> : tile<i32>
  %limit = constant <i32: 100> : tile<i32>
  %r = loop iter_values(%x = %one) : tile<i32> -> tile<i32> {
    %twice = addi %x, %x : tile<i32>
    %enough = cmpi greater_than %twice, %limit, signed : tile<i32> -> tile<i1>
    if %enough {
      break %twice : tile<i32>
    }
    continue %twice : tile<i32>
  }
  print_tko "r = %i\\n", %r : tile<i32> -> token
  return
}
""",
}
"""Examples of operations that have no body, or for which a use with arbitrary arguments fails."""


class _Values:
    """The statements that make values of all types, and the globals that they need."""

    def __init__(self) -> None:
        self._position = 0
        self.globals: list[str] = []

    def lines(self, name: str, type: t.Type) -> Iterator[str]:
        if isinstance(type, t.TileType):
            yield from self._numbers(name, type) if _is_number(type) else self._pointers(name, type)
        elif isinstance(type, t.TensorViewType):
            yield from self._pointers(f"{name}_base", t.tile(t.PointerType(type.element, type.attr)))
            shape, strides = list(type.shape), list(type.strides)
            pointer = f"{t.tile(t.PointerType(type.element, type.attr)).text} -> " if type.attr else ""
            yield f"{name} = make_tensor_view {name}_base, shape = {shape}, strides = {strides} : {pointer}{type.text}"
        elif isinstance(type, t.TileViewType):
            yield from self.lines(f"{name}_tensor", type.tensor_view)
            yield f"{name} = {_KINDS[type.__class__]} {name}_tensor : {type.text}"
        else:
            yield f"{name} = make_token : token"

    def _numbers(self, name: str, type: t.TileType) -> Iterator[str]:
        element = type.number
        table = _FLOATS if element.is_float else _BOOLEANS if element is t.I1 else _INTEGERS
        literal = table[self._position % len(table)]
        self._position += 1
        if type.shape != (4,):
            literal = "1.0" if element.is_float else "true" if element is t.I1 else "1"
        if element is t.F8E8M0FNU and type.shape == (4,):
            literal = "[1.0, 2.0, 0.5, 4.0]"
        yield f"{name} = constant <{element.name}: {literal}> : {type.text}"

    def _pointers(self, name: str, type: t.TileType) -> Iterator[str]:
        pointer = type.element
        assert isinstance(pointer, t.PointerType)
        scalar, label = t.tile(t.PointerType(pointer.pointee)), f"data_{len(self.globals)}"
        one = "1.0" if pointer.pointee.is_float else "1"
        self.globals.append(f"global @{label} <{pointer.pointee.name}: {one}> : tile<{_DATA}x{pointer.pointee.name}>")
        if type is scalar:
            yield f"{name} = get_global @{label} : {scalar.text}"
            return
        yield f"{name}_0 = get_global @{label} : {scalar.text}"
        if not type.shape:
            yield f"{name}_1 = ptr_to_int {name}_0 : {scalar.text} -> tile<i64>"
            yield f"{name} = int_to_ptr {name}_1 : tile<i64> -> {type.text}"
            return
        (count,) = type.shape
        ones, all = t.TileType((1,), scalar.element), t.TileType((count,), scalar.element)
        yield f"{name}_1 = reshape {name}_0 : {scalar.text} -> {ones.text}"
        yield f"{name}_2 = broadcast {name}_1 : {ones.text} -> {all.text}"
        yield f"{name}_3 = iota : tile<{count}xi32>"
        yield f"{name} = offset {name}_2, {name}_3 : {all.text}, tile<{count}xi32> -> {all.text}"


def output(subject: str) -> str:
    """Return the text that the example prints on the interpreter."""
    pieces: list[str] = []
    module = tileir.parse(example(subject))
    with _functions():
        for kernel in module.kernels.values():
            if not kernel.parameters:
                kernel.launch(1, target="interp", output=pieces.append)
    return "".join(pieces)


@contextlib.contextmanager
def _functions() -> Iterator[None]:
    """Functions of the host under the names that the examples call."""
    before = extern._externs.copy(), extern._stand_ins.copy()
    tileir.register_extern("g", lambda x: 2 * x)
    tileir.register_stand_in("g", lambda *values: 2 * values[-1])
    try:
        yield
    finally:
        extern._externs, extern._stand_ins = before
