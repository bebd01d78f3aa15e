"""Programs of so many operations of each kind, and of so many regions in one another or in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from tests.verify.chunks import chunks
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Block, Module, Op, Value
from tileir.ops import OPS, control, pointers, shapes, views
from tileir.ops.calls import Func
from tileir.ops.module import Entry, ModuleOp
from tileir.passes.rebuilding import ChangeLog, Rebuilding
from tileir.text.parser import parse
from tileir.text.printer import to_text

USES = Path(__file__).parents[1] / "verify" / "operations.mlir"

# ---------------------------------------------------------------- operations of each kind


@cache
def chapters() -> dict[str, list[str]]:
    """A use of each operation that a function may have, by the chapters that declare them."""
    found: dict[str, list[str]] = {}
    for chunk in chunks(USES):
        op = OPS.get(chunk.directive("subject"))
        chapter = "" if op is None else op.__module__.rpartition(".")[2]
        if "@f(" in chunk.text and "multicast" not in chunk.text and chapter not in ("", "calls"):
            found.setdefault(chapter, []).append(chunk.text)
    return found


def repeated(uses: Sequence[str], count: int) -> str:
    """An entry with so many of each use: operands are the newest values of their types; the last ones are stored."""
    walk = _Repeating()
    modules = [parse(use) for use in uses]
    for _ in range(count):
        for module in modules:
            walk.add(module)
    return walk.program([item for module in modules for item in module.items])


class _Repeating(Rebuilding):
    """Adds the bodies of functions to an entry that makes what they take from scalars and pointers."""

    def __init__(self) -> None:
        super().__init__(ChangeLog())
        self._newest: dict[t.Type, Value] = {}

    def add(self, module: Module) -> None:
        function = next(item for item in module.items if isinstance(item, Func) and item.sym_name == "f")
        for argument in function.body.args:
            self.values[argument] = self._newest.get(argument.type) or self._made(argument.type)
            self._newest[argument.type] = self.values[argument]
        for op in function.body.ops:
            if not isinstance(op, control.Return):
                self.visit(op)
                self._newest.update((result.type, self.values[result]) for result in op.results)

    def program(self, items: Sequence[Op]) -> str:
        for type, value in list(self._newest.items()):
            if isinstance(type, t.TileType) and isinstance(type.element, t.ElementType):
                place = self._made(t.tile(t.PointerType(type.element), *type.shape))
                weak = MemoryOrdering.WEAK
                store = pointers.StorePtr.build(
                    [t.TOKEN], memory_ordering_semantics=weak, destination=place, value=value
                )
                self.block.append(store)
        self.block.append(control.Return.build())
        signature = t.FunctionType(tuple(argument.type for argument in self.block.args))
        body = Block()
        others = {item.attributes["sym_name"]: item for item in items if item.attributes["sym_name"] != "f"}
        for item in (*others.values(), Entry.build(sym_name="k", function_type=signature, body=self.block)):
            body.append(item)
        return to_text(Module(ModuleOp.build(sym_name="m", body=body)))

    def _made(self, type: t.Type) -> Value:
        if isinstance(type, t.TileType):
            return self._spread(type)
        if isinstance(type, t.TokenType):
            return self.block.append(pointers.MakeToken.build([type])).results[0]
        if isinstance(type, t.TensorViewType):
            base = self._made(t.tile(t.PointerType(type.element)))
            return self.block.append(views.MakeTensorView.build([type], base=base)).results[0]
        assert isinstance(type, t.PartitionViewType)
        tensor = self._made(type.tensor_view)
        return self.block.append(views.MakePartitionView.build([type], tensor_view=tensor)).results[0]

    def _spread(self, type: t.TileType) -> Value:
        """A parameter in all elements."""
        value = Value(t.tile(type.element), self.block, len(self.block.args))
        self.block.args.append(value)
        if not type.rank:
            return value
        ones = t.tile(type.element, *[1] * type.rank)
        value = self.block.append(shapes.Reshape.build([ones], source=value)).results[0]
        return self.block.append(shapes.Broadcast.build([type], source=value)).results[0]


# ---------------------------------------------------------------- regions, calls, chains

PARAMETERS = "%p: tile<ptr<i32>>, %q: tile<ptr<f32>>, %n: tile<i32>, %x: tile<i32>, %f: tile<f32>, %c: tile<i1>"
I32, PTR, ROW = "tile<i32>", "tile<ptr<i32>>", "tile<64xi32>"
TENSOR = "tensor_view<?x32xf32, strides=[32,1]>"
PART = f"partition_view<tile=(8x4), {TENSOR}>"


def entry(*lines: str, parameters: str = PARAMETERS, before: str = "") -> str:
    return "\n".join([before, f"entry @k({parameters}) {{", *lines, "return }"])


def store(number: object, value: str, place: str = "%p", element: str = "i32") -> str:
    return f"%st{number} = store_ptr_tko weak {place}, {value} : tile<ptr<{element}>>, tile<{element}> -> token"


def _less(at: int, value: str) -> str:
    return f"%c{at} = cmpi less_than {value}, %n, signed : {I32} -> tile<i1>"


def _branch(at: int, then: str, otherwise: str, condition: str = "%c", type: str = I32) -> str:
    return f"%v{at + 1} = if {condition} -> ({type}) {{ {then} }} else {{ {otherwise} }}"


def branches(count: int) -> str:
    """Each yields one of two functions of what the one before yields, and decides the next."""
    body = [f"%v0 = addi %x, %n : {I32}"]
    for at in range(count):
        then, other = (
            f"%{name}{at} = {op} %v{at}, %{by} : {I32} yield %{name}{at} : {I32}"
            for name, op, by in (("a", "addi", "x"), ("b", "muli", "n"))
        )
        body += [_less(at, f"%v{at}"), _branch(at, then, other, f"%c{at}")]
    return entry(*body, store("", f"%v{count}"))


def branches_of_pointers(count: int) -> str:
    body = [f"%v0 = offset %p, %n : {PTR}, {I32} -> {PTR}"]
    for at in range(count):
        then = f"%a{at} = offset %v{at}, %x : {PTR}, {I32} -> {PTR} yield %a{at} : {PTR}"
        body += [
            _branch(at, then, f"yield %v{at} : {PTR}", type=PTR),
            f"%l{at}, %t{at} = load_ptr_tko weak %v{at + 1} : {PTR} -> {I32}, token",
        ]
    return entry(*body, store("", "%x", f"%v{count}"))


def selections(count: int) -> str:
    body = [f"%v0 = addi %x, %n : {I32}"]
    for at in range(count):
        chosen = f"%v{at + 1} = select %c{at}, %v{at}, %a{at} : tile<i1>, {I32}"
        body += [_less(at, f"%v{at}"), f"%a{at} = addi %v{at}, %x : {I32}", chosen]
    return entry(*body, f"%o = offset %p, %v{count} : {PTR}, {I32} -> {PTR}", store("", "%x", "%o"))


def nested_branches(count: int) -> str:
    opened = (f"{_less(at, '%x')} if %c{at} {{ {store(at, '%x')}" for at in range(count))
    return entry(*opened, "}" * count)


def nested_counts(count: int) -> str:
    """Each loop counts from the counter of the one around."""
    lower = ["%x", *(f"%i{at}" for at in range(count))]
    opened = (f"for %i{at} in ({lower[at]} to %n, step %x) : {I32} {{" for at in range(count))
    return entry(*opened, f"%o = offset %p, {lower[-1]} : {PTR}, {I32} -> {PTR}", store("", "%x", "%o"), "}" * count)


def nested_carrying(count: int) -> str:
    """Each loop carries what the one inside makes of it."""
    inside, result = f"%z = addi %a0, %x : {I32}", "%z"
    for at in range(count):
        start = f"%a{at + 1}" if at + 1 < count else "%n"
        inside = f"""%r{at} = for %i{at} in (%x to %n, step %x) : {I32} iter_values(%a{at} = {start}) -> ({I32}) {{
          {inside} continue {result} : {I32} }}"""
        result = f"%r{at}"
    return entry(inside, f"%o = offset %p, {result} : {PTR}, {I32} -> {PTR}", store("", "%x", "%o"))


def nested_endless(count: int) -> str:
    inside, result = f"%z = addi %a0, %x : {I32}", "%z"
    for at in range(count):
        start = f"%a{at + 1}" if at + 1 < count else "%n"
        inside = f"""%r{at} = loop iter_values(%a{at} = {start}) : {I32} -> {I32} {{ {inside}
          {_less(at, result)} if %c{at} {{ break {result} : {I32} }} continue {result} : {I32} }}"""
        result = f"%r{at}"
    return entry(inside, store("", result))


def counts(count: int) -> str:
    """Return loops in a row; the result of one is the bound of the next."""
    body, last = [], "%x"
    for at in range(count):
        head = f"%r{at} = for %i{at} in (%x to {last}, step %x) : {I32} iter_values(%a{at} = {last}) -> ({I32})"
        body.append(f"{head} {{ %b{at} = addi %a{at}, %i{at} : {I32} continue %b{at} : {I32} }}")
        last = f"%r{at}"
    return entry(*body, store("", last))


def exits(count: int) -> str:
    body = []
    for at in range(count):
        body += [
            f"%l{at}, %t{at} = load_ptr_tko weak %p : {PTR} -> {I32}, token",
            f"{_less(at, f'%l{at}')} if %c{at} {{ break }}",
            f"%o{at} = offset %p, %l{at} : {PTR}, {I32} -> {PTR} {store(at, '%x', f'%o{at}')}",
        ]
    return entry("loop {", *body, "}")


def carried(count: int) -> str:
    """Return a loop that carries pointers, moving each and writing to it."""
    types = ", ".join([PTR] * count)
    given = ", ".join(f"%a{at} = %p" for at in range(count))
    body = (f"%b{at} = offset %a{at}, %x : {PTR}, {I32} -> {PTR} {store(at, '%x', f'%a{at}')}" for at in range(count))
    handed = ", ".join(f"%b{at}" for at in range(count))
    head = f"%r:{count} = for %i in (%x to %n, step %x) : {I32} iter_values({given}) -> ({types}) {{"
    return entry(head if count > 1 else head.replace(":1 =", " ="), *body, f"continue {handed} : {types} }}")


def _functions(count: int, calls: int) -> str:
    """Functions that each call the one before."""
    texts = [f"experimental$func @f0(%v0: {I32}) -> {I32} {{ %v1 = addi %v0, %v0 : {I32} return %v1 : {I32} }}"]
    for at in range(1, count):
        body = (f"%v{to + 1} = experimental$call @f{at - 1}(%v{to}) : ({I32}) -> {I32}" for to in range(calls))
        texts.append(f"experimental$func @f{at}(%v0: {I32}) -> {I32} {{ {' '.join(body)} return %v{calls} : {I32} }}")
    return "\n".join(texts)


def chained_calls(count: int, calls: int = 1) -> str:
    call = f"%r = experimental$call @f{count - 1}(%x) : ({I32}) -> {I32}"
    return entry(call, store("", "%r"), before=_functions(count, calls))


def calls(count: int) -> str:
    body = (f"%r{at + 1} = experimental$call @f0(%r{at}) : ({I32}) -> {I32}" for at in range(count))
    return entry(f"%r0 = addi %x, %x : {I32}", *body, store("", f"%r{count}"), before=_functions(1, 1))


def masks(count: int, op: str = "andi") -> str:
    """Each is made of the one before twice, and masks a store."""
    pointers = "tile<64xptr<i32>>"
    body = [
        f"%i = iota : {ROW} %p1 = reshape %p : {PTR} -> tile<1xptr<i32>>",
        f"%ps = broadcast %p1 : tile<1xptr<i32>> -> {pointers} %o = offset %ps, %i : {pointers}, {ROW} -> {pointers}",
        f"%n1 = reshape %n : {I32} -> tile<1xi32> %ns = broadcast %n1 : tile<1xi32> -> {ROW}",
        f"%m0 = cmpi less_than %i, %ns, signed : {ROW} -> tile<64xi1>",
    ]
    for at in range(count):
        body += [
            f"%m{at + 1} = {op} %m{at}, %m{at} : tile<64xi1>",
            f"%s{at} = store_ptr_tko weak %o, %i, %m{at + 1} : {pointers}, {ROW}, tile<64xi1> -> token",
        ]
    return entry(*body)


def accesses(count: int) -> str:
    """Loads and stores through views of different arrays."""
    body = []
    for at in range(count):
        body += [
            f"%v{at} = make_tensor_view %q{at}, shape = [%n, 32], strides = [32, 1] : {I32} -> {TENSOR}",
            f"%w{at} = make_partition_view %v{at} : {PART}",
            f"%l{at}, %lt{at} = load_view_tko weak %w{at}[%n, %n] : {PART}, {I32} -> tile<8x4xf32>, token",
            f"%a{at} = addf %l{at}, %l{at} : tile<8x4xf32>",
            f"%s{at} = store_view_tko weak %a{at}, %w{at}[%n, %n] : tile<8x4xf32>, {PART}, {I32} -> token",
        ]
    arrays = ", ".join(f"%q{at}: tile<ptr<f32>>" for at in range(count))
    return entry(*body, parameters=f"{arrays}, %n: {I32}")


def allocations(count: int) -> str:
    """Return accesses of memory of the tile block's own, beside one of an array."""
    body = []
    for at in range(count):
        body += [
            f"%a{at} = alloca num_elem = 64, alignment = 16 : {PTR}",
            f"%o{at} = offset %a{at}, %n : {PTR}, {I32} -> {PTR} {store(at, '%x', f'%o{at}')}",
            f"%l{at}, %t{at} = load_ptr_tko weak %o{at} : {PTR} -> {I32}, token {store(f'p{at}', f'%l{at}')}",
        ]
    return entry(*body)


def tokens(count: int) -> str:
    """Return accesses one after the other, each of which waits for all before."""
    body = ["%j0 = make_token : token"]
    for at in range(count):
        body += [
            f"%l{at}, %t{at} = load_ptr_tko weak %p token=%j{at} : {PTR} -> {I32}, token",
            f"%s{at} = store_ptr_tko weak %p, %l{at} token=%t{at} : {PTR}, {I32} -> token",
            f"%j{at + 1} = join_tokens %t{at}, %s{at}, %j{at} : token",
        ]
    return entry(*body)


def sums(count: int) -> str:
    """Return sums of more and more parameters, all of them addresses."""
    body = [f"%s0 = addi %n0, %n0 : {I32}"]
    for at in range(count):
        body += [
            f"%s{at + 1} = addi %s{at}, %n{at} : {I32}",
            f"%o{at} = offset %p, %s{at + 1} : {PTR}, {I32} -> {PTR} {store(at, f'%n{at}', f'%o{at}')}",
        ]
    return entry(*body, parameters=f"%p: {PTR}, " + ", ".join(f"%n{at}: {I32}" for at in range(count)))


def squares(count: int) -> str:
    """Powers of a constant, as an address."""
    body = [f"%v0 = constant <i32: 3> : {I32}"]
    body += [f"%v{at + 1} = muli %v{at}, %v{at} : {I32}" for at in range(count)]
    return entry(*body, f"%o = offset %p, %v{count} : {PTR}, {I32} -> {PTR}", store("", "%x", "%o"))


def residues(count: int) -> str:
    body = [f"%v0 = addi %x, %n : {I32}"]
    for at in range(count):
        body += [
            f"%a{at} = muli %v{at}, %n : {I32} %b{at} = remi %a{at}, %x signed : {I32}",
            f"%v{at + 1} = mini %a{at}, %b{at} signed : {I32}",
        ]
    return entry(*body, f"%o = offset %p, %v{count} : {PTR}, {I32} -> {PTR}", store("", "%x", "%o"))


def folds(count: int) -> str:
    """A reduction of so many operations."""
    body = (f"%v{at + 1} = addi %v{at}, %v{at} : {I32}" for at in range(count))
    reduced = f"""%i = iota : {ROW} %r = reduce %i dim=0 identities=[0 : i32] : {ROW} -> {I32} (%a: {I32}, %b: {I32}) {{
      %v0 = addi %a, %b : {I32} {" ".join(body)} yield %v{count} : {I32} }}"""
    return entry(reduced, store("", "%r"))


def assertions(count: int) -> str:
    body = [f"%v0 = addi %x, %n : {I32}"]
    for at in range(count):
        body += [_less(at, f"%v{at}"), f'assert %c{at}, "no" : tile<i1>', f"%v{at + 1} = addi %v{at}, %x : {I32}"]
    return entry(*body, store("", f"%v{count}"))


def promises(count: int) -> str:
    body = [f"%v0 = addi %x, %n : {I32}"]
    body += [f"%v{at + 1} = assume div_by<8>, %v{at} : {I32}" for at in range(count)]
    return entry(*body, f"%o = offset %p, %v{count} : {PTR}, {I32} -> {PTR}", store("", f"%v{count}", "%o"))


Program = Callable[[int], str]
SHAPES: dict[str, Program] = {
    "branches in a row": branches,
    "branches of pointers": branches_of_pointers,
    "selections": selections,
    "branches in one another": nested_branches,
    "counting loops in one another": nested_counts,
    "carrying loops in one another": nested_carrying,
    "endless loops in one another": nested_endless,
    "loops in a row": counts,
    "exits of a loop": exits,
    "carried pointers": carried,
    "functions that call": chained_calls,
    "calls in a row": calls,
    "masks": masks,
    "masks of exclusive ors": lambda count: masks(count, "xori"),
    "accesses of arrays": accesses,
    "allocations": allocations,
    "tokens": tokens,
    "sums of many": sums,
    "squares": squares,
    "residues": residues,
    "a reduction": folds,
    "assertions": assertions,
    "promises": promises,
}
"""Programs of a size, by what they have so many of."""
