"""The plan of a kernel in words (`docs/cpu.md` says what they mean)."""

from __future__ import annotations

from collections.abc import Iterator

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.cpu.analysis.fusion import fusible
from tileir.cpu.analysis.loads import LoadPlacement
from tileir.cpu.emit.record import COLUMNS, CheckLevel
from tileir.cpu.matmul.policy import ALL_COLUMNS, FEW, PanelPlan, PanelRoom, ProductOp
from tileir.cpu.plan import FunctionPlan, KernelPlan, ReductionPlan, waits_for_others
from tileir.ir.core import Op
from tileir.ir.diagnostics import place_text
from tileir.ir.escaping import shown
from tileir.ops import reduction
from tileir.ops.calls import Call

_CHECKS = {
    CheckLevel.OFF: "nothing is checked",
    CheckLevel.ON: "accesses to memory and promises are checked",
    CheckLevel.STRICT: "all that the interpreter reports in strict mode is checked",
}
_PLACES = {
    LoadPlacement.AT_ONCE: "copied here",
    LoadPlacement.BY_USERS: "read from memory where it is used",
    LoadPlacement.IN_STORE: "read from memory where it is used, at last in the loop of a store",
}
_ORDERS = {COLUMNS: f"in bands of {COLUMNS} columns", 1: "along x", ALL_COLUMNS: "along y"}


def text_of(plan: KernelPlan, name: str) -> str:
    """Return a description of the code for a kernel and its reasons, line by line."""
    lines = [f"@{shown(name)}, for {plan.target.cpu}: {_processor(plan)}", _CHECKS[plan.checks], _blocks(plan), ""]
    lines += _function(plan, plan.body)
    for function in dict.fromkeys(plan.placement.sizes.callee(op) for op in _calls(plan)):
        lines += ["", f"@{shown(function.sym_name)}", *_function(plan, plan.functions[function.body])]
    return "\n".join(lines) + "\n"


def _processor(plan: KernelPlan) -> str:
    target = plan.target
    parts = [f"vectors of {target.vector_bits} bits"]
    parts += ["a matrix unit"] * target.has_matrix_unit
    parts += ["dot products of bf16"] * target.has_bf16_dot + ["dot products of i8"] * target.has_int8_dot
    return ", ".join(parts)


def _blocks(plan: KernelPlan) -> str:
    """Return how tile blocks follow one another."""
    if plan.waits:
        return "tile blocks may wait for each other: those that do are set aside, and others run"
    if plan.coarsening is not None:
        axis = "xy"[plan.coarsening.axis]
        return f"up to {plan.most_joined} tile blocks that follow one another along {axis} run as one"
    return f"tile blocks run one by one, {_ORDERS[plan.band]}"


def _calls(plan: KernelPlan) -> Iterator[Call]:
    for function in (plan.body, *plan.functions.values()):
        yield from (op for op in function.fusion.operations if isinstance(op, Call))


def _function(plan: KernelPlan, function: FunctionPlan) -> list[str]:
    """Return the decisions about the operations of a function, in program order."""
    rows = [
        (place_text(op.loc).rpartition("/")[2], op.spec.name, found)
        for op in function.fusion.operations
        for found in _decisions(plan, function, op)
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    lines, last = [], ("", "")
    for place, name, found in rows:
        first = ("", "") if (place, name) == last else (place, name)
        lines.append(f"{first[0]:{widths[0]}}  {first[1]:{widths[1]}}  {found}".rstrip())
        last = place, name
    count = sum(value.tile.count > 1 for value in function.expressions)
    return [*lines, f"element-wise tiles computed where they are used: {count}"]


def _decisions(plan: KernelPlan, function: FunctionPlan, op: Op) -> Iterator[str]:
    access = access_of(op)
    if isinstance(op, ProductOp):
        yield from _product(function, op)
    elif isinstance(op, reduction.Reduce | reduction.Scan):
        yield _reduction(function.reductions[op])
    elif isinstance(op, Call):
        is_part = plan.placement.sizes.callee(op) in plan.parts
        yield "the code of the function stands here" if is_part else "the function is called"
    elif access is not None:
        yield from _access(plan, function, access)
    elif waits_for_others(op):
        yield "may wait for other tile blocks"
    elif fusible(op):
        yield from _computed(function, op)


def _computed(function: FunctionPlan, op: Op) -> Iterator[str]:
    """Describe where a tile is computed, if not where it is used."""
    (result,) = op.results
    if result not in function.expressions and result.tile.count > 1:
        is_reused = (result, op) in function.reused
        yield f"computed here, {'in the memory of an operand' if is_reused else 'into a buffer'}"


# ---------------------------------------------------------------- memory


def _access(plan: KernelPlan, function: FunctionPlan, access: MemoryAccess) -> Iterator[str]:
    if access.tile.count == 1:
        return
    form = _form(function, access)
    if access.updates or access.is_strong:
        yield f"element by element, {'updated in place' if access.updates else 'in the order of memory operations'}"
    elif access.result is not None:
        yield f"{form}, {_PLACES[function.loads.placement(access.result)]}"
        if access.result in function.masked:
            yield "under a mask where it is cut"
        if not any(access.result in op.operands for op in function.products):
            yield from _next_one(function, access)
    else:
        is_later = function.fusion.loop_of(access.op) is not access.op
        yield f"{form}, written to memory" + " in the loop of a later store" * is_later
        yield from _policy(plan, function, access)


def _form(function: FunctionPlan, access: MemoryAccess) -> str:
    """Return how the elements lie in memory, as far as the program shows."""
    if function.loads.is_box(access):
        return "a box of memory"
    return "rows of memory" if access.op in function.loads.rows else "element by element"


def _policy(plan: KernelPlan, function: FunctionPlan, access: MemoryAccess) -> Iterator[str]:
    if access.op in plan.streams:
        yield "past the cache, if the launch stores much that it does not read"
    yield from _next_one(function, access)


def _next_one(function: FunctionPlan, access: MemoryAccess) -> Iterator[str]:
    prefetch = function.prefetches.get(access.op)
    if prefetch is not None:
        whose = "iteration's" if prefetch.place.turn else "tile block's, in a grid of one dimension,"
        yield f"the next {whose} is prefetched {'with a later store' if prefetch.store else 'meanwhile'}"


# ---------------------------------------------------------------- products


_GROUPS = {1: "", 2: "pairs of ", 4: "quads of "}


def _product(function: FunctionPlan, op: ProductOp) -> Iterator[str]:
    plan = function.products[op]
    shape, size = plan.shape, (plan.panels or plan).size
    transposed = ", of the transposed factors" if plan.swapped else ""
    elements = f"{_GROUPS[plan.product.group]}{plan.product.element.name}"
    where = "on the matrix unit" if size.uses_matrix_unit else "in registers"
    yield f"{shape.m} x {shape.n} x {shape.k}{transposed} in {elements}, {size.rows} x {size.columns} sums {where}"
    if plan.panels is not None:
        yield from _panels(plan.panels)
    yield from _few_rows(function, op, min(size.rows, FEW))


def _panels(plan: PanelPlan) -> Iterator[str]:
    if plan.is_deferred:
        yield f"deferred: tiles of {plan.tiles} iterations are packed along K, then multiplied at once"
    if plan.skips_zeros:
        yield "blocks of rows behind the last number other than 0 are left out, if the right factor is finite"
    if plan.left is None:
        yield f"packed tiles of the right factor stay for other tile blocks, {_room(plan.right)}"
    elif plan.left.is_tagged and plan.right.is_tagged:
        yield f"packed tiles stay for other tile blocks, {_room(plan.left)} and {_room(plan.right)}"


def _few_rows(function: FunctionPlan, op: ProductOp, few: int) -> Iterator[str]:
    plan, is_never = function.products[op], op.result not in function.live
    panels, rows = plan.panels, op.acc.tile.shape[-2]
    if not plan.reads_few_rows or plan.swapped or (is_never and rows > few):
        return
    if panels is not None and panels.transposed is not None:
        most = panels.transposed.tiles
        yield f"up to 16 rows: the transposed product, of up to {most} tiles that follow one another in memory"
        return
    yield f"up to {few} rows: the right factor is read from memory into registers"
    if panels is not None and panels.run is not None:
        one, several = panels.run.of_one_row, panels.run.of_several
        yield f"then up to {one} tiles that follow one another in memory are read at once, {several} for several rows"


def _room(room: PanelRoom) -> str:
    return f"{room.ways * room.numbers} of {room.size} bytes"


def _reduction(plan: ReductionPlan) -> str:
    if plan.extreme is not None:
        return f"the {'largest' if plan.extreme else 'smallest'} of a row, by one comparison for each element"
    return f"{plan.fan} elements at a time"
