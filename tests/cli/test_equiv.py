"""``tileir equiv``: equal programs are found equal, others show the first difference."""

from __future__ import annotations

from pathlib import Path

import pytest

PROGRAM = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>) {
    %block, %y, %z = get_tile_block_id : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %first = muli %block, %eight : tile<i32>
    %r = reshape %first : tile<i32> -> tile<1xi32>
    %b = broadcast %r : tile<1xi32> -> tile<8xi32>
    %lanes = iota : tile<8xi32>
    %index = addi %b, %lanes : tile<8xi32>
    %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %at = offset %ps, %index : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
    %qs = broadcast %q1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %to = offset %qs, %index : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %x, %t = load_ptr_tko weak %at : tile<8xptr<f32>> -> tile<8xf32>, token
    %c = constant <f32: 1.1> : tile<8xf32>
    %v = OPERATION : tile<8xf32>
    store_ptr_tko weak %to, %v token=%t : tile<8xptr<f32>>, tile<8xf32>, token -> token
  }
}
""".replace("tile<8xf32>, token -> token", "tile<8xf32> -> token")


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, operation in {
        "a": "addf %x, %c", "swapped": "addf %c, %x", "down": "addf %x, %c rounding<zero>", "mul": "mulf %x, %c",
    }.items():  # fmt: skip
        Path(f"{name}.mlir").write_text(PROGRAM.replace("OPERATION", operation))


@pytest.mark.usefixtures("written")
def test_equal_programs_are_equal(tileir) -> None:
    ran = tileir("equiv", "a.mlir", "swapped.mlir")
    assert ran.status == 0
    assert ran.out.startswith("@k: equal on ")


@pytest.mark.usefixtures("written")
def test_a_seed_is_of_any_size(tileir) -> None:
    ran = tileir("equiv", "a.mlir", "swapped.mlir", "--trials", "2", "--seed", "9" * 20)
    assert ran.out.startswith("@k: equal on ")


@pytest.mark.usefixtures("written")
def test_what_the_solver_proves_needs_no_launch_to_say_so(tileir) -> None:
    pytest.importorskip("z3", reason="needs the package z3-solver")
    Path("shifted.mlir").write_text(
        Path("a.mlir").read_text().replace("%eight = constant <i32: 8>", "%three = constant <i32: 3>")
        .replace("muli %block, %eight", "shli %block, %three")
    )  # fmt: skip
    assert tileir("equiv", "a.mlir", "shifted.mlir").out == "@k: equal: proved for all inputs\n"


def test_a_program_is_proved_equal_to_itself_whatever_it_does(tileir) -> None:
    softmax = str(Path(__file__).parents[2] / "examples" / "softmax.mlir")
    assert tileir("equiv", softmax, softmax, "--trials", "1").out == "@softmax: equal: proved for all inputs\n"


@pytest.mark.usefixtures("written")
def test_the_first_difference_has_array_index_block_and_both_values(tileir) -> None:
    ran = tileir("equiv", "a.mlir", "mul.mlir", "--grid", "2", "p=f32[16]:ones", "q=f32[16]:zeros", "n=3")
    assert ran.status == 1
    assert "@k: different: q[0], written by tile block (0, 0, 0): 2.0999999" in ran.out
    assert "and 1.1" in ran.out


@pytest.mark.usefixtures("written")
def test_units_in_the_last_place_are_allowed_where_they_are_asked_for(tileir) -> None:
    assert tileir("equiv", "a.mlir", "down.mlir").status == 1
    assert tileir("equiv", "--ulps", "1", "a.mlir", "down.mlir").status == 0
    assert tileir("equiv", "--ulps", "1", "a.mlir", "mul.mlir").status == 1


def test_a_negative_distance_is_refused(tileir) -> None:
    ran = tileir("equiv", "one.mlir", "two.mlir", "--ulps", "-1")
    assert ran.status == 2
    assert ran.err == "tileir equiv: error: --ulps: expected a number of units that is not negative, got -1\n"


@pytest.mark.usefixtures("written")
def test_what_cannot_be_compared_says_so(tileir) -> None:
    Path("wild.mlir").write_text(
        "cuda_tile.module @m { entry @k(%p: tile<ptr<i32>>) { %n = constant <i32: -1> : tile<i32>\n"
        "%q = offset %p, %n : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n"
        "%x, %t = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token\n"
        "store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token } }"
    )
    Path("wilder.mlir").write_text(Path("wild.mlir").read_text().replace("weak %p, %x", "weak %p, %n"))
    ran = tileir("equiv", "wild.mlir", "wilder.mlir")
    assert ran.status == 1
    assert "nothing compared" in ran.out
    assert tileir("equiv", "a.mlir", "wild.mlir").status == 2
    assert tileir("equiv", "a.mlir", "a.mlir", "--trials", "0").status == 2
    assert tileir("equiv", "a.mlir", "a.mlir", "--kernel", "no").status == 2


@pytest.mark.usefixtures("written")
def test_passes_are_checked_as_they_run(tileir) -> None:
    ran = tileir("opt", "-O3", "--check-each", "--verify-each", "a.mlir", "-o", "b.mlir")
    assert ran.status == 0
    assert "compared: " in ran.err
    assert tileir("equiv", "a.mlir", "b.mlir").status == 0


SUM = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    %n = constant <i32: 16> : tile<i32>
    %lanes = iota : tile<16xi32>
    %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %at = offset %ps, %lanes : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %x, %t = load_ptr_tko weak %at : tile<16xptr<f32>> -> tile<16xf32>, token
    %c = constant <f32: 0.1> : tile<16xf32>
    %y = mulf %x, %c : tile<16xf32>
    %e = exp %y : tile<16xf32>
BODY
    store_ptr_tko weak %q, %s token=%t : tile<ptr<f32>>, tile<f32> -> token
  }
}
"""
REDUCED = """
    %s = reduce %e dim=0 identities=[0.0 : f32] : tile<16xf32> -> tile<f32>
      (%a: tile<f32>, %b: tile<f32>) { %z = addf %a, %b : tile<f32>
        yield %z : tile<f32> }
"""
BY_PRODUCT = """
    %row = reshape %e : tile<16xf32> -> tile<1x16xf32>
    %ones = constant <f32: 1.0> : tile<16x1xf32>
    %zero = constant <f32: 0.0> : tile<1x1xf32>
    %d = mmaf %row, %ones, %zero : tile<1x16xf32>, tile<16x1xf32>, tile<1x1xf32>
    %s = reshape %d : tile<1x1xf32> -> tile<f32>
"""
WRONG = REDUCED.replace("%e dim", "%y dim")


def test_sums_in_another_order_are_equal_modulo_two_to_the_32_and_wrong_ones_are_not(tileir) -> None:
    for name, body in {"reduced": REDUCED, "product": BY_PRODUCT, "wrong": WRONG}.items():
        Path(f"{name}.mlir").write_text(SUM.replace("BODY", body))
    assert tileir("equiv", "reduced.mlir", "product.mlir").status == 1
    ran = tileir("equiv", "--algebraic", "reduced.mlir", "product.mlir")
    assert ran.status == 0, ran.out + ran.err
    assert tileir("equiv", "--algebraic", "reduced.mlir", "wrong.mlir").status == 1
    Path("bits.mlir").write_text(SUM.replace("BODY", REDUCED + "%i = bitcast %s : tile<f32> -> tile<i32>\n"))
    ran = tileir("equiv", "--algebraic", "bits.mlir", "bits.mlir")
    assert ran.status == 1
    assert "'bitcast' of floats" in ran.err


def test_examples_have_an_algebraic_form(tileir) -> None:
    from tileir.examples import FOLDER

    for name in ("gemm_views", "softmax", "attention"):
        path = str(FOLDER / f"{name}.mlir")
        ran = tileir("equiv", "--algebraic", "--trials", "1", path, path)
        assert "different" not in ran.out
        assert ran.status in (0, 1), ran.err
        assert "Traceback" not in ran.err
