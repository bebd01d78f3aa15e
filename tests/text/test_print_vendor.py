"""The disassembly form is byte for byte what the vendor's disassembler makes of the module's bytecode.

Skipped where the package `nvidia-cuda-tileiras` is not installed; no GPU is needed.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from importlib import metadata
from itertools import product
from pathlib import Path

import pytest
from golden_programs import STORABLE, Golden

from tests.thorough import sampled
from tileir.bytecode import decode, encode
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.compare import identical
from tileir.ir.core import Block, Module
from tileir.ops.control import Return
from tileir.ops.core import Constant
from tileir.ops.module import Entry, ModuleOp
from tileir.text.parser import parse
from tileir.text.printer import to_text

PACKAGE = "nvidia-cuda-tileiras"


@cache
def disassembler() -> str:
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    packaged = next((str(file.locate()) for file in files if file.name == "tileirdisasm"), None)
    found = packaged or shutil.which("tileirdisasm")
    if found is None:
        pytest.skip(f"the vendor's disassembler is missing: install {PACKAGE}")
    return found


def previews(module: Module) -> bool:
    return any(op.spec.preview for op in module.walk())


def disassemble(module: Module, level: str, folder: Path, debug: bool = False) -> str:
    file = folder / "module.tileirbc"
    file.write_bytes(encode(module, level))
    options = [*(["--print-debug-info"] if debug else []), *(["--preview=simt"] if previews(module) else [])]
    run = subprocess.run([disassembler(), *options, str(file)], capture_output=True, timeout=60)
    assert run.returncode == 0, run.stderr.decode("utf-8", "replace")
    return run.stdout.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(("golden", "debug"), sampled(product(STORABLE, [False, True]), 5), ids=str)
def test_the_disassembly_is_the_vendors(golden: Golden, debug: bool, tmp_path: Path) -> None:
    module = golden.parse()
    assert to_text(module, form="disassembly", debug=debug) == disassemble(module, golden.level, tmp_path, debug)


@pytest.mark.parametrize("golden", STORABLE, ids=str)
def test_bytecode_keeps_what_the_text_says(golden: Golden) -> None:
    module = golden.parse()
    again = decode(encode(module, golden.level))
    assert to_text(again, form="disassembly") == to_text(module, form="disassembly")


SMALL = [element for element in t.FLOATS if element.bits <= 8]


@pytest.mark.parametrize("element", SMALL, ids=lambda element: element.name)
def test_every_small_float_is_spelled_as_the_vendor_does(element: t.ElementType, tmp_path: Path) -> None:
    shape = (2,) if element is t.F4E2M1FN else ()
    type = t.TileType(shape, element)
    body = Block()
    for pattern in range(1 << element.bits):
        body.append(Constant.build([type], value=DenseElements(type, bytes([pattern]))))
    body.append(Return.build())
    items = Block()
    items.append(Entry.build(sym_name="k", function_type=t.FunctionType(()), body=body))
    module = Module(ModuleOp.build(sym_name="m", body=items))
    assert to_text(module, form="disassembly") == disassemble(module, "13.4", tmp_path)


AMBIGUOUS = """
"cuda_tile.module"() <{sym_name = "m"}> ({
  "cuda_tile.entry"() <{function_type = (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<f32>) -> (), sym_name = "k"}> ({
  ^bb0(%p: !cuda_tile.tile<ptr<f32>>, %x: !cuda_tile.tile<f32>):
    %0:2 = "cuda_tile.load_ptr_tko"(%p, %x) <{memory_ordering_semantics = 0 : i32,
      operandSegmentSizes = array<i32: 1, 0, 1, 0>}>
      : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<f32>) -> (!cuda_tile.tile<f32>, !cuda_tile.token)
    %t = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}>
      : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<4x8xf32, strides=[8,1]>
    %1:2 = "cuda_tile.get_tensor_shape"(%t)
      : (!cuda_tile.tensor_view<4x8xf32, strides=[8,1]>) -> (!cuda_tile.tile<i32>, !cuda_tile.tile<i64>)
    "cuda_tile.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_ambiguous_operations_are_written_as_the_vendor_does(tmp_path: Path) -> None:
    module = parse(AMBIGUOUS)
    text = to_text(module, form="disassembly")
    assert "load_ptr_tko weak %arg0, %arg1 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token" in text
    assert text == disassemble(module, "13.3", tmp_path)


HINTS = ["1 : i32", "true", '"text"', "1.5 : f16", "[1, 2 : i8]", "{nested = 1}", "!cuda_tile.tile<4xptr<f32>>"]


@pytest.mark.parametrize("value", HINTS)
@pytest.mark.parametrize("key", ["sm_90", '"odd key"'])
def test_unknown_hints_are_written_as_the_vendor_does(key: str, value: str, tmp_path: Path) -> None:
    hints = f'<{key} = {{"an odd" = {value}, latency = 3}}>'
    module = parse(
        f"""cuda_tile.module @m {{
          entry @k(%p: tile<ptr<f32>>) optimization_hints={hints} {{
            %x, %t = load_ptr_tko weak %p optimization_hints = {hints} : tile<ptr<f32>> -> tile<f32>, token
          }}
        }}"""
    )
    assert to_text(module, form="disassembly") == disassemble(module, "13.4", tmp_path)
    assert identical(parse(to_text(module)), module)
