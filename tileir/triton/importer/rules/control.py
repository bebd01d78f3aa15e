"""Control flow: ``scf``, calls, and what ends a region."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tileir.ir import types as t
from tileir.ir.core import Block, Value
from tileir.ops.control import Break, Continue, For, If, Loop
from tileir.ops.integer import XOrI
from tileir.triton.importer.blocks import RETURNS, Way, branch, import_body, run
from tileir.triton.importer.faults import mismatch, refused
from tileir.triton.importer.importing import Imported, Importing, ImportRules, Results, parts_of_all
from tileir.triton.importer.ordering import Merged, loop_order
from tileir.triton.importer.syntax import MlirBlock, MlirOperation, MlirType, Region

rules = ImportRules()

MAX_CALLS = 64
"""Functions that call each other."""


@rules("scf.if")
def import_if(importing: Importing, op: MlirOperation) -> Results:
    (condition,) = importing.operands(op, 1)
    if not 1 <= len(op.regions) <= 2 or (op.result_types and len(op.regions) == 1):
        raise mismatch("expected one or two regions, and two for results")
    like: list[Imported] = []

    def way(region: Region) -> list[Value]:
        last = _run_single(importing, region, "scf.yield")
        like[:] = [importing.imported(use) for use in last.operands]
        return parts_of_all(like)

    ways: list[Way] = [partial(way, region) for region in op.regions]
    if len(ways) == 1:
        ways.append(list)
    parts = branch(importing, condition, ways)
    return importing.grouped(op.result_types, parts or [], like)


def _run_single(importing: Importing, region: Region, terminator: str) -> MlirOperation:
    """Import a region of one block; its last operation, which must be `terminator`."""
    last = run(importing, _only_block(region))
    if last.name != terminator:
        raise mismatch(f"expected the region to end in '{terminator}', got '{last.name}'")
    return last


def _only_block(region: Region) -> MlirBlock:
    if len(region) != 1:
        raise mismatch("expected a region of one block")
    return region[0]


@rules("scf.for")
def import_for(importing: Importing, op: MlirOperation) -> Results:
    if len(op.operands) < 3 or len(op.regions) != 1:
        raise mismatch("expected bounds, a step and one region")
    lower, upper, step = (importing.value(use) for use in op.operands[:3])
    initial = [importing.imported(use) for use in op.operands[3:]]
    order = loop_order(importing.order, op, importing.functions)
    parts = [part for use in op.operands[3:] for part in importing.parts(use)]
    parts += order.tokens(importing.build, importing.order)
    body = Block([lower.type, *(part.type for part in parts)])
    arguments = _only_block(op.regions[0]).arguments
    names, types = [one.name for one in arguments], [one.type for one in arguments[1:]]
    if len(types) != len(initial):
        raise mismatch(f"expected {len(initial)} values that the loop carries, got {len(types)}")
    importing.order = order.after(body.args)
    with (
        importing.inside(body),
        importing.scope(names, [body.args[0], *importing.grouped(types, body.args[1:], initial)]),
    ):
        last = _run_single(importing, op.regions[0], "scf.yield")
        _continue(importing, last, order)
    importing.build.loc = op.loc
    results = importing.build.insert(
        For, [part.type for part in parts], lowerBound=lower, upperBound=upper, step=step, initValues=parts, body=body,
        unsignedCmp=True if op.attributes.get("unsignedCmp") else None,
    )  # fmt: skip
    importing.order = order.after(results)
    return importing.grouped(types, results, initial)


@rules("scf.while")
def import_while(importing: Importing, op: MlirOperation) -> Results:
    """Import a loop that is left where the condition does not hold."""
    if len(op.regions) != 2:
        raise mismatch("expected two regions")
    before, after = (_only_block(region).arguments for region in op.regions)
    initial = [importing.imported(use) for use in op.operands]
    order = loop_order(importing.order, op, importing.functions)
    parts = [part for use in op.operands for part in importing.parts(use)]
    parts += order.tokens(importing.build, importing.order)
    body = Block([part.type for part in parts])
    importing.order = order.after(body.args)
    carried = importing.grouped([one.type for one in before], body.args, initial)
    with importing.inside(body), importing.scope([one.name for one in before], carried):
        last = _run_single(importing, op.regions[0], "scf.condition")
        leaving = [part for use in last.operands[1:] for part in importing.parts(use)]
        _break_unless(importing, importing.value(last.operands[0]), leaving, order)
        results = [importing.imported(use) for use in last.operands[1:]]
        with importing.scope([one.name for one in after], results):
            _continue(importing, _run_single(importing, op.regions[1], "scf.yield"), order)
    importing.build.loc = op.loc
    types = [part.type for part in leaving] + [t.TOKEN] * order.count
    found = importing.build.insert(Loop, types, initValues=parts, body=body)
    importing.order = order.after(found)
    return importing.grouped([one.type for one in after], found, results)


def _continue(importing: Importing, last: MlirOperation, order: Merged) -> None:
    """End the body of a loop with what is yielded, and the tokens."""
    following = [part for use in last.operands for part in importing.parts(use)]
    importing.build.insert(Continue, operands=[*following, *order.tokens(importing.build, importing.order)])


def _break_unless(importing: Importing, condition: Value, leaving: Sequence[Value], order: Merged) -> None:
    with importing.inside(Block()) as block:
        importing.build.insert(Break, operands=[*leaving, *order.tokens(importing.build, importing.order)])
    done = importing.build.same(XOrI, condition, importing.build.integer(condition.tile, 1))
    importing.build.insert(If, condition=done, then=block)


@rules("tt.call")
def import_call(importing: Importing, op: MlirOperation) -> Results:
    """Inline the function in place of the call."""
    callee = op.attributes.get("callee")
    function = importing.functions.get(callee) if isinstance(callee, str) else None
    if function is None or not isinstance(callee, str):
        raise mismatch(f"expected a function of the module, got @{callee}")
    if callee in importing.calling or len(importing.calling) >= MAX_CALLS:
        raise refused(f"@{callee} calls itself", "Triton has no recursion: write a loop")
    if len(op.operands) != len(function.arguments):
        raise mismatch(f"expected {len(function.arguments)} operands, got {len(op.operands)}")
    values = [importing.imported(use) for use in op.operands]
    with importing.call(callee, [argument.name for argument in function.arguments], values):
        return run_body(importing, function.regions[0], function, function.result_types)


def run_body(importing: Importing, body: Region, root: MlirOperation, types: Sequence[MlirType]) -> Sequence[Imported]:
    """Import a body whose arguments are in scope; gives what it returns, of these types.

    One with branches becomes a loop that is run once, and left where the body returns. `root` has all that it does.
    """
    if body[0].operations and body[0].operations[-1].name in RETURNS:
        return [importing.imported(use) for use in run(importing, body[0]).operands]
    order = loop_order(importing.order, root, importing.functions)
    before = order.tokens(importing.build, importing.order)
    block = Block([token.type for token in before])
    importing.order = order.after(block.args)
    returned: list[Imported] = []

    def leave(results: Sequence[Imported]) -> None:
        returned[:] = results
        tokens = order.tokens(importing.build, importing.order)
        importing.build.insert(Break, operands=[*parts_of_all(results), *tokens])

    with importing.inside(block):
        import_body(importing, body, leave)
    results = [part.type for part in parts_of_all(returned)] + [t.TOKEN] * order.count
    found = importing.build.insert(Loop, results, initValues=before, body=block)
    importing.order = order.after(found)
    return importing.grouped(types, found, returned)


def _ends_a_region(importing: Importing, op: MlirOperation) -> Results:
    raise mismatch("expected the operation at the end of a region that it can end")


for _name in ("scf.yield", "scf.condition", "tt.return", "cf.br", "cf.cond_br", "tt.reduce.return", "tt.scan.return",
              "tt.map_elementwise.return"):  # fmt: skip
    rules(_name)(_ends_a_region)
