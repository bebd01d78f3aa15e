"""Every operation that Triton's front end makes has a rule, and stands in a golden program."""

from __future__ import annotations

import re
from importlib import util
from pathlib import Path

import pytest
from test_triton_ir_golden import PROGRAMS

from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.loc import Source
from tileir.triton import from_ttir
from tileir.triton.importer.ordering import READS, WRITES
from tileir.triton.importer.reader import read
from tileir.triton.importer.rules import RULES

FRONT_END = set(
    """
arith.addf arith.addi arith.andi arith.cmpf arith.cmpi arith.constant arith.divf arith.divsi arith.divui arith.extf
arith.extsi arith.extui arith.fptosi arith.fptoui arith.maximumf arith.maxnumf arith.maxsi arith.maxui arith.minimumf
arith.minnumf arith.minsi arith.minui arith.mulf arith.muli arith.negf arith.ori arith.remf arith.remsi arith.remui
arith.select arith.shli arith.shrsi arith.shrui arith.sitofp arith.subf arith.subi arith.truncf arith.trunci
arith.uitofp arith.xori cf.br cf.cond_br gpu.barrier llvm.intr.assume math.absf math.absi math.ceil math.cos math.erf
math.exp math.exp2 math.floor math.fma math.log math.log2 math.rsqrt math.sin math.sqrt scf.condition scf.for scf.if
scf.while scf.yield tt.addptr tt.approx_divf tt.assert tt.atomic_cas tt.atomic_load tt.atomic_poll tt.atomic_rmw
tt.atomic_store tt.bitcast tt.broadcast tt.call tt.cat tt.clampf tt.descriptor_gather tt.descriptor_load
tt.descriptor_reduce tt.descriptor_scatter tt.descriptor_store tt.dot tt.dot_scaled tt.elementwise_inline_asm
tt.expand_dims tt.extern_elementwise tt.fp_to_fp tt.gather tt.get_num_programs tt.get_program_id
tt.grid_dependency_launch_dependents tt.grid_dependency_wait tt.histogram tt.int_to_ptr tt.join tt.load tt.make_range
tt.make_tensor_descriptor tt.map_elementwise tt.map_elementwise.return tt.mulhiui tt.precise_divf tt.precise_sqrt
tt.print tt.ptr_to_int tt.reduce tt.reduce.return tt.reshape tt.return tt.scan tt.scan.return tt.splat tt.split
tt.store tt.trans tt.unsplat ttg.barrier ub.poison
""".split()  # noqa: SIM905
)
"""Operations that the builders make for the language and the code generator of Triton 3.9."""
REFUSED = {"tt.elementwise_inline_asm"}


def test_every_operation_of_the_front_end_has_a_rule() -> None:
    assert FRONT_END - RULES.keys() == set()


def test_every_operation_of_tritons_dialect_is_of_the_front_end() -> None:
    found = util.find_spec("triton")
    if found is None or found.origin is None:
        pytest.skip("needs triton")
    declared = Path(found.origin).parent / "include/triton/Dialect/Triton/IR/TritonOps.td"
    names = re.findall(r'TT_Op<\s*"([\w.]+)"', declared.read_text(encoding="utf-8"))
    assert {f"tt.{name}" for name in names} - {*FRONT_END, "tt.func"} == set()


def test_every_operation_stands_in_a_golden_program() -> None:
    used = set()
    for path in PROGRAMS:
        for function in read(Source(path.name, path.read_text(encoding="utf-8"))):
            used |= {operation.kind for operation in function.walk()}
    assert RULES.keys() - used == REFUSED


def test_what_touches_memory_is_ordered() -> None:
    words = ("load", "store", "atomic", "print", "gather", "scatter", "descriptor", "dependency")
    named = {name for name in RULES if name.startswith("tt.") and any(word in name for word in words)}
    assert named - READS - WRITES == {"tt.gather", "tt.make_tensor_descriptor"}


KERNEL = 'tt.func public @k(%x: tensor<4xi32>) {{\n  {} loc("a"("kernels.py":5:9))\n  tt.return\n}}\n'
REFUSALS = [
    ('%r = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} '
     "%x : tensor<4xi32> -> tensor<4xi32>", "inline assembly", "write what it computes with tl operations"),
    ('%r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_j0f"} : '
     "(tensor<4xi32>) -> tensor<4xi32>", "'__nv_j0f'", "write what it computes with tl operations"),
    ("%r = ttg.convert_layout %x : tensor<4xi32, #blocked> -> tensor<4xi32, #blocked1>", "a later stage",
     "kernel.asm['ttir']"),
    ("%r = ttg.warp_id : i32", "'ttg.warp_id'", "Gluon"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "what", "instead"), REFUSALS, ids=[row[1] for row in REFUSALS])
def test_a_refusal_names_the_line_in_python_and_what_to_do_instead(operation: str, what: str, instead: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        from_ttir(KERNEL.format(operation))
    text = str(caught.value)
    assert "kernels.py:5:9: error[E0052]" in text
    assert what in text and instead in text
