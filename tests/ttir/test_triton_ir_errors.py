"""Faults of TTIR are told with the place: in the text, or in the Python that it was made of."""

from __future__ import annotations

import pytest

import tileir
from tileir.ir.diagnostics import DiagnosticError
from tileir.triton import from_ttir

FUNCTION = "tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {{\n  {}\n  tt.return\n}}\n"


def fault(body: str) -> str:
    with pytest.raises(DiagnosticError) as caught:
        from_ttir(FUNCTION.format(body), "k.ttir")
    return str(caught.value)


CASES = [
    ("E0050", "%a = arith.addi %n, %n : ?", "k.ttir:2:28: error[E0050]: expected"),
    ("E0050", "%a = arith.addi %n, %m : i32", "expected a value that is defined, got %m"),
    ("E0050", "%a = arith.addi ;", "expected a token, got the character ';'"),
    ("E0051", "%a = arith.addj %n, %n : i32", "got 'arith.addj'\n"),
    ("E0051", "%a = arith.addj %n, %n : i32", "hint: did you mean 'arith.addi'?"),
    ("E0052", "%a = tt.splat %n : i32 -> tensor<4xi32, #blocked>", "expected TTIR, got a later stage"),
    ("E0052", "%a = arith.sitofp %n : i32 to f8E4M3FNUZ", "Tile IR has no numbers of type f8E4M3FNUZ"),
    ("E0053", "%a = arith.addi %n : i32", "'arith.addi': expected 2 operands, got 1"),
    (
        "E0050",
        '"cf.cond_br"(%n)[^a, ^b] <{operandSegmentSizes = array<i32: 1, -1, 0>}> : (i32) -> ()',
        "expected numbers of operands in 'operandSegmentSizes', got -1",
    ),
    ("E0053", "%p = tt.make_tensor_ptr %x, [], [], [] : <tensor<4xf32>>", "expected an address, and an extent"),
    ("E0053", "%p = tt.advance %x, [%n] : <tensor<4xf32>>", "expected a tensor descriptor as the first operand"),
    ("E0053", "%a = tt.splat %n : i32 -> tensor<3xi32>", "tile dimensions must be powers of two, got 3"),
]


@pytest.mark.parametrize(("code", "body", "words"), CASES, ids=[f"{code}: {body}" for code, body, _ in CASES])
def test_a_fault_says_what_was_expected_and_where(code: str, body: str, words: str) -> None:
    found = fault(body)
    assert code in found and words in found
    assert found.startswith("k.ttir:2:")


BLOCK_POINTER = """%one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%one], [%one], [%n] {order = array<i32: 0>} : <tensor<4xf32>>
  """


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("%q = tt.advance %p, [%n, %n] : <tensor<4xf32>>", "'tt.advance': expected an offset for each of 1 dimensions"),
        (
            "%q = tt.load %p {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<4xf32>>",
            "'tt.load': expected dimensions below 1 as attribute 'boundaryCheck', got 1",
        ),
    ],
)
def test_a_block_pointer_has_the_dimensions_of_its_block(use: str, words: str) -> None:
    found = fault(BLOCK_POINTER + use)
    assert "k.ttir:4:3: error[E0053]" in found and words in found


def test_all_faults_of_a_kernel_are_told() -> None:
    found = fault("%a = arith.addj %n, %n : i32\n  %b = arith.subj %a, %n : i32\n  %c = arith.muli %a, %b : i32")
    assert found.count("E0051") == 2
    assert "E0050" not in found, "what depends on a fault is no fault"


def test_a_fault_names_the_line_in_python() -> None:
    found = fault('%a = arith.addj %n, %n : i32 loc("a"("kernels.py":7:3))')
    assert found.startswith("kernels.py:7:3: error[E0051]")


def test_deep_nesting_is_refused() -> None:
    body = "scf.if %c {" * 200 + "}" * 200
    assert "nesting of at most" in fault(f"%c = arith.constant true\n  {body}")


def test_a_function_that_calls_itself_is_refused() -> None:
    text = "tt.func public @k() {\n  tt.call @k() : () -> ()\n  tt.return\n}\n"
    with pytest.raises(DiagnosticError, match="@k calls itself"):
        from_ttir(text)


def test_ttir_is_told_from_tile_ir_by_its_content() -> None:
    assert list(tileir.load(FUNCTION.format("")).kernels) == ["k"]
    assert list(tileir.load("entry @tt.func() { return }").kernels) == ["tt.func"]
