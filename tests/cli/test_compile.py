"""``tileir compile``: the forms of the code, explanations, refusals."""

from pathlib import Path

import pytest

from tileir.examples import FOLDER

SAXPY, TOTAL = str(FOLDER / "saxpy.mlir"), str(FOLDER / "reduction.mlir")


def test_assembly_is_the_default(tileir) -> None:
    ran = tileir("compile", SAXPY)
    assert ran.status == 0
    assert "tileir.kernel:" in ran.out


def test_llvm(tileir) -> None:
    ran = tileir("compile", SAXPY, "--emit", "llvm")
    assert ran.status == 0
    assert "@tileir.kernel(" in ran.out


def test_an_object_file(tileir) -> None:
    ran = tileir("compile", SAXPY, "--emit", "obj", "-o", "saxpy.o")
    assert (ran.status, ran.out) == (0, "")
    assert len(Path("saxpy.o").read_bytes()) > 500


def test_an_object_file_does_not_go_to_the_terminal(tileir) -> None:
    ran = tileir("compile", SAXPY, "--emit", "obj")
    assert ran.status == 2
    assert "say where it goes with -o FILE" in ran.err


def test_the_plan(tileir) -> None:
    ran = tileir("compile", SAXPY, "--emit", "plan")
    assert ran.status == 0
    assert "tile blocks that follow one another along y run as one" in ran.out
    assert "saxpy.mlir:32:16  store_view_tko  a box of memory, written to memory" in ran.out


ROW = """entry @k(%n: tile<i32>, %out: tile<ptr<i32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %step = constant <i32: 256> : tile<i32>
  %ones = constant <i32: 1> : tile<256xi32>
  %sums = for %i in (%zero to %n, step %step) : tile<i32> iter_values(%v = %ones) -> (tile<256xi32>) {
    %w = addi %v, %ones : tile<256xi32>
    continue %w : tile<256xi32>
  }
  %sum = reduce %sums dim=0 identities=[0 : i32] : tile<256xi32> -> tile<i32>
    (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32> yield %s : tile<i32> }
  store_ptr_tko weak %out, %sum : tile<ptr<i32>>, tile<i32> -> token
  return
}"""


@pytest.mark.parametrize(("options", "versions"), [((), 2), (("--no-optimize",), 1)])
def test_the_plan_is_that_of_launches_which_have_a_version_without_loops(tileir, tmp_path, options, versions) -> None:
    program = tmp_path / "row.mlir"
    program.write_text(ROW)
    ran = tileir("compile", str(program), "--emit", "plan", *options)
    assert ran.status == 0
    assert ran.out.count("8 elements at a time") == versions


def test_what_the_compiler_did_is_explained(tileir) -> None:
    ran = tileir("compile", "--explain", SAXPY)
    assert ran.status == 0
    assert "bytes for each running tile block" in ran.out
    assert ran.out.count("read from memory where it is used") == 2
    assert "saxpy.mlir:" in ran.out


def test_every_load_is_explained(tileir) -> None:
    golden = Path(__file__).parent.parent / "golden"
    for file, kernel, load in (
        ("multicast_13_5", "replicas", "multimem_load_reduce_view_tko"),
        ("extensions", "rows", "experimental$gather_load"),
    ):
        ran = tileir("compile", "--explain", "--kernel", kernel, str(golden / f"{file}.mlir"))
        assert load in ran.out


def test_explaining_may_come_with_code(tileir) -> None:
    ran = tileir("compile", "--explain", "--emit", "asm", "-o", "saxpy.s", SAXPY)
    assert ran.status == 0
    assert "arena:" in ran.out
    assert "tileir.kernel:" in Path("saxpy.s").read_text()


def test_what_can_trap_is_listed(tileir) -> None:
    text = b"""entry @k(%n: tile<i32>) {
      %zero = constant <i32: 0> : tile<i32>
      %fine = cmpi less_than %zero, %n, signed : tile<i32> -> tile<i1>
      assert %fine, "positive" : tile<i1>
      return
    }"""
    ran = tileir("compile", "--explain", "-", stdin=text)
    assert ran.status == 0
    assert "positive" in ran.out
    assert "<stdin>:4:" in ran.out


@pytest.mark.parametrize(("name", "status"), [(None, 2), ("nothing", 2), ("total", 0), ("@total", 0)])
def test_the_kernel_is_named_when_there_are_several(tileir, name, status) -> None:
    assert tileir("compile", TOTAL, *(["--kernel", name] if name else [])).status == status


def test_a_program_with_faults_is_refused(tileir) -> None:
    ran = tileir("compile", "-", stdin=b"entry @k() { nonsense }")
    assert ran.status == 1
    assert "error[" in ran.err


def test_messages_without_numbers_have_no_places_for_them(tileir) -> None:
    text = b"""entry @k(%n: tile<i32>) {
      for %i in (%n to %n, step %n) : tile<i32> { continue }
      return
    }"""
    ran = tileir("compile", "--explain", "-", stdin=text)
    assert "the step of 'for' must be positive, got …" in ran.out
