"""Control flow: ``scf``, calls, and what ends a region."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tileir.ir.core import Block, Value
from tileir.ops.control import Break, Continue, For, If, Loop
from tileir.ops.integer import XOrI
from tileir.triton.importer.blocks import RETURNS, Way, branch, import_body, run
from tileir.triton.importer.faults import mismatch, refused
from tileir.triton.importer.importing import (
    Imported,
    Importing,
    ImportRules,
    LoopBody,
    Results,
    loop_body,
    parts_of_all,
)
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
    parts = parts_of_all(initial)
    body = loop_body(importing, op, parts, [lower.type])
    arguments = _only_block(op.regions[0]).arguments
    names, types = [one.name for one in arguments], [one.type for one in arguments[1:]]
    if len(types) != len(initial):
        raise mismatch(f"expected {len(initial)} values that the loop carries, got {len(types)}")
    counter, *carried = body.block.args
    with body.inside(), importing.scope(names, [counter, *importing.grouped(types, carried, initial)]):
        body.end(Continue, _parts(importing, _run_single(importing, op.regions[0], "scf.yield")))
    unsigned = True if op.attributes.get("unsignedCmp") else None
    fields = {"lowerBound": lower, "upperBound": upper, "step": step, "unsignedCmp": unsigned}
    return importing.grouped(types, body.made(For, op.loc, [part.type for part in parts], **fields), initial)


@rules("scf.while")
def import_while(importing: Importing, op: MlirOperation) -> Results:
    """Import a loop that is left where the condition does not hold."""
    if len(op.regions) != 2:
        raise mismatch("expected two regions")
    before, after = (_only_block(region).arguments for region in op.regions)
    initial = [importing.imported(use) for use in op.operands]
    body = loop_body(importing, op, parts_of_all(initial))
    carried = importing.grouped([one.type for one in before], body.block.args, initial)
    with body.inside(), importing.scope([one.name for one in before], carried):
        last = _run_single(importing, op.regions[0], "scf.condition")
        results = [importing.imported(use) for use in last.operands[1:]]
        leaving = parts_of_all(results)
        _break_unless(importing, importing.value(last.operands[0]), leaving, body)
        with importing.scope([one.name for one in after], results):
            body.end(Continue, _parts(importing, _run_single(importing, op.regions[1], "scf.yield")))
    found = body.made(Loop, op.loc, [part.type for part in leaving])
    return importing.grouped([one.type for one in after], found, results)


def _parts(importing: Importing, last: MlirOperation) -> list[Value]:
    """Return the tiles that carry the operands of an operation."""
    return [part for use in last.operands for part in importing.parts(use)]


def _break_unless(importing: Importing, condition: Value, leaving: Sequence[Value], body: LoopBody) -> None:
    with importing.inside(Block()) as block:
        body.end(Break, leaving)
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


def run_body(
    importing: Importing, region: Region, root: MlirOperation, types: Sequence[MlirType]
) -> Sequence[Imported]:
    """Import a body whose arguments are in scope; gives what it returns, of these types.

    One with branches becomes a loop that is run once, and left where the body returns. `root` has all that it does.
    """
    if region[0].operations and region[0].operations[-1].name in RETURNS:
        return [importing.imported(use) for use in run(importing, region[0]).operands]
    body = loop_body(importing, root, [])
    returned: list[Imported] = []

    def leave(results: Sequence[Imported]) -> None:
        returned[:] = results
        body.end(Break, parts_of_all(results))

    with body.inside():
        import_body(importing, region, leave)
    found = body.made(Loop, importing.build.loc, [part.type for part in parts_of_all(returned)])
    return importing.grouped(types, found, returned)


def _ends_a_region(importing: Importing, op: MlirOperation) -> Results:
    raise mismatch("expected the operation at the end of a region that it can end")


for _name in ("scf.yield", "scf.condition", "tt.return", "cf.br", "cf.cond_br", "tt.reduce.return", "tt.scan.return",
              "tt.map_elementwise.return"):  # fmt: skip
    rules(_name)(_ends_a_region)
