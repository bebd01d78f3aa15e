"""The text of TTIR: Triton's compiler reads all of it, and it is the same each time."""

from __future__ import annotations

import pytest

import tileir
from tests.targets.ttir import lowered
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import BF16, F16, F32, F64, I1, I8, I32, I64, TtirBlock, TtirFunction, TtirType
from tileir.gpu.ttir.ir.text import function_text
from tileir.ir.loc import FileLoc

PROGRAM = """cuda_tile.module @m {
  entry @first(%x: tile<ptr<f32>>, %n: tile<i32>) {
    %sum = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %n) -> (tile<i32>) {
      %b = addi %a, %i : tile<i32>
      continue %b : tile<i32>
    }
    %row = iota : tile<16xi32>
    print_tko "%d", %row : tile<16xi32> -> token
    return
  }
}"""


def _everything() -> TtirFunction:
    """Numbers of every type, a name and places that need quoting, regions in regions, instructions without results."""
    pointer = TtirType("!tt.ptr<f32>")
    block = TtirBlock((pointer, I32))
    build = Builder(block)
    build.loc = FileLoc('é "b"\\c\n.py', 3, 4)
    for type, bits in ((I1, 1), (I8, 0x80), (I32, 5), (I64, 1 << 63), (F16, 0x7E00), (BF16, 0x8000), (F32, 0xFF800000)):
        build.bits(type, bits)
        build.bits(type.shaped(2, 4), bits)
    build.bits(F64.shaped(2), 0x7FF8000000000001)
    with build.region(I32) as outer:
        with build.region() as inner:
            build.effect("tt.store", block.arguments[0], build.float(F32, 1.5))
            build.effect("scf.yield")
        with build.region() as empty:
            build.effect("scf.yield")
        build.insert("scf.if", [build.compare("slt", outer.arguments[0], block.arguments[1])], regions=[inner, empty])
        build.effect("scf.yield")
    build.insert("scf.for", [build.integer(I32, 0), block.arguments[1], build.integer(I32, 1)], regions=[outer])
    build.effect("tt.return")
    return TtirFunction('odd "name"\\', block, {0: {"tt.divisibility": 16}})


def test_text_is_read_by_tritons_compiler() -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    text = function_text(_everything())
    read = compile_ttir(text, arch_named("sm_90"), CompileOptions(), ["ttir"]).texts["ttir"]
    assert "scf.for" in read
    assert "tt.divisibility = 16" in read
    assert r'"\C3\A9 \22b\22\\c\0A.py":3:4' in read


def test_text_is_the_same_each_time() -> None:
    assert function_text(_everything()) == function_text(_everything())
    texts = {lowered(tileir.parse(PROGRAM)["first"], "sm_90").text for _ in range(3)}
    assert len(texts) == 1
