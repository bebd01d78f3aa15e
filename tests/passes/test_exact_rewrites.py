"""The default rewrites of launches preserve the program's behaviour: the same bits, the same faults at the same
line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.differential import outcome
from tests.golden.arguments import Run, arguments, programs, runs
from tests.passes.test_optimised_programs import assert_same_bits
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.ir.compare import identical
from tileir.ir.diagnostics import place_text
from tileir.passes.rebuilding import Exactness
from tileir.passes.running import NATIVE
from tileir.runtime.exact import exact_kernel, exact_module

SAMPLE = 5
"""Every so many of the golden runs is run here; `make fuzz` runs faulty programs with and without rewrites."""
HEAD = "entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i64>) {"
FAULTS = {
    "a load that nobody uses": """
        %far = constant <i32: 1000> : tile<i32>
        %at = offset %p, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %v, %t = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token
        """,
    "a load in a loop that nobody uses": """
        %zero = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        for %i in (%zero to %n, step %one) : tile<i32> {
          %far = addi %n, %n : tile<i32>
          %at = offset %p, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
          %v, %t = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token
        }
        """,
    "a load in a loop that may run once": """
        %zero = constant <i32: 0> : tile<i32>
        %many = constant <i32: 256> : tile<i32>
        %start = constant <i32: 0> : tile<4xi32>
        %r = for %i in (%zero to %n, step %many) : tile<i32> iter_values(%v = %start) -> (tile<4xi32>) {
          %far = addi %n, %n : tile<i32>
          %at = offset %p, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
          %w, %t = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token
          continue %v : tile<4xi32>
        }
        """,
    "the first of equal stores": """
        %lanes = iota : tile<8xi32>
        %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
        %ps = broadcast %p1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
        %at = offset %ps, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
        %again = offset %ps, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
        store_ptr_tko weak %at, %lanes : tile<8xptr<i32>>, tile<8xi32> -> token
        store_ptr_tko weak %again, %lanes : tile<8xptr<i32>>, tile<8xi32> -> token
        """,
    "a promise that nobody uses": "%a = assume div_by<8>, %n : tile<i32>",
    "an assertion": """
        %three = constant <i32: 3> : tile<i32>
        %three_again = constant <i32: 3> : tile<i32>
        %b = cmpi greater_than %three_again, %n, signed : tile<i32> -> tile<i1>
        %c = cmpi greater_than %three, %n, signed : tile<i32> -> tile<i1>
        assert %c, "too large" : tile<i1>
        assert %b, "too large again" : tile<i1>
        """,
    "a view that nobody uses": "%v = make_tensor_view %p, shape = [%m], strides = [1] : tile<i64>"
    " -> tensor_view<?xi32, strides=[1]>",
    "a step of no length in a loop that does nothing": """
        %zero = constant <i32: 0> : tile<i32>
        for %i in (%zero to %n, step %zero) : tile<i32> { continue }
        """,
    "storage that nobody uses": "%s = alloca num_elem = 4611686018427387904, alignment = 4 : tile<ptr<f32>>",
}
every_fault = pytest.mark.parametrize("name", FAULTS)


def trap(name: str, target: str, **options: object) -> tuple[object, ...]:
    """The parts of the trap that a program ends with, on arrays that are the same each time."""
    kernel = tileir.parse(f"{HEAD}\n{FAULTS[name]}\n  return\n}}")["k"]
    with pytest.raises(tileir.Trap) as caught:
        kernel.launch(2, ARRAYS[0], ARRAYS[1], 5, -1, target=target, **options)
    found = caught.value
    return found.message, found.op, place_text(found.loc), found.array, found.index, found.block


ARRAYS = [np.zeros(1 << 16, np.int32)[end] for end in (slice(4), slice(-4, None))]
"""Two arrays so far apart that no small step beyond one reaches the other."""


@every_fault
def test_a_fault_is_the_same_at_the_same_line(name: str) -> None:
    expected = trap(name, "interp")
    assert trap(name, "cpu", optimize=False) == expected
    assert trap(name, "cpu", optimize=True) == expected


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for a cache, in which what all kernels share need not be compiled for each."""
    return tmp_path_factory.mktemp("cache")


@every_fault
def test_code_from_the_cache_names_the_same_operation(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(folder))
    assert trap(name, "cpu") == trap(name, "cpu") == trap(name, "interp")


def test_strict_checks_look_at_the_program_as_it_is() -> None:
    text = f"{HEAD} %s = addi %n, %n overflow<no_signed_wrap> : tile<i32>\n return }}"
    kernel, largest = tileir.parse(text)["k"], (1 << 31) - 1
    kernel.launch(1, *ARRAYS, largest, 0)
    with pytest.raises(tileir.Trap, match="no_signed_wrap"):
        kernel.launch(1, *ARRAYS, largest, 0, check="strict")


@pytest.mark.parametrize("wrong", [1, "yes"])
def test_what_is_no_bool_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match="optimize: expected True or False"):
        tileir.parse(f"{HEAD} return }}")["k"].launch(1, *ARRAYS, 0, 0, optimize=wrong)


SUM_OF_A_ROW = """entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %out: tile<ptr<f32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %step = constant <i32: 256> : tile<i32>
  %none = constant <f32: 0.0> : tile<256xf32>
  %start = constant <f32: -0.0> : tile<256xf32>
  %lanes = iota : tile<256xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<256xi32>
  %sums = for %i in (%zero to %n, step %step) : tile<i32> iter_values(%v = %start) -> (tile<256xf32>) {
    %i1 = reshape %i : tile<i32> -> tile<1xi32>
    %is = broadcast %i1 : tile<1xi32> -> tile<256xi32>
    %at = addi %is, %lanes : tile<256xi32>
    %inside = cmpi less_than %at, %ns, signed : tile<256xi32> -> tile<256xi1>
    %from = offset %ps, %at : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
    %x, %t = load_ptr_tko weak %from, %inside, %none
      : tile<256xptr<f32>>, tile<256xi1>, tile<256xf32> -> tile<256xf32>, token
    %w = addf %v, %x : tile<256xf32>
    continue %w : tile<256xf32>
  }
  %sum = reduce %sums dim=0 identities=[-0.0 : f32] : tile<256xf32> -> tile<f32>
    (%l: tile<f32>, %r: tile<f32>) { %s = addf %l, %r : tile<f32> yield %s : tile<f32> }
  store_ptr_tko weak %out, %sum : tile<ptr<f32>>, tile<f32> -> token
  return
}"""


@pytest.mark.parametrize("columns", [-3, 0, 1, 255, 256, 257, 512, 700])
def test_a_row_of_any_length_has_the_same_sum(columns: int) -> None:
    """Up to 256 elements the loop runs at most once."""
    kernel = tileir.parse(SUM_OF_A_ROW)["k"]
    row, sums = np.random.default_rng(0).normal(size=max(1, columns)).astype(np.float32), np.ones(3, np.float32)
    for place, (target, options) in enumerate([("interp", {}), ("cpu", {}), ("cpu", {"optimize": False})]):
        kernel.launch(1, row, columns, sums[place : place + 1], target=target, **options)
    assert len(set(sums.view(np.uint32).tolist())) == 1


def test_the_passes_of_launches_have_exact_rows() -> None:
    for one in NATIVE:
        assert any(row.kind is Exactness.EXACT for row in one.rows)


@pytest.mark.parametrize(("name", "text"), list(programs()), ids=lambda value: value if "\n" not in value else "")
def test_a_golden_program_is_rewritten_by_exact_rows_alone(name: str, text: str) -> None:
    """A row that is not exact fails an assertion of the log."""
    module = tileir.parse(text)
    rewritten = exact_module(module)
    assert identical(module, tileir.parse(text))
    assert tileir.verify(rewritten).ok, tileir.verify(rewritten)
    assert identical(exact_module(tileir.Module(rewritten.op)), rewritten)
    for kernel in module.kernels.values():
        for native in (False, True):
            assert list(exact_kernel(kernel, native).module.kernels) == [kernel.name]


@pytest.mark.parametrize(
    ("text", "name", "run"),
    [case[1:] for case in runs()[::SAMPLE]],
    ids=[f"{case[0]}-{case[2]}" for case in runs()[::SAMPLE]],
)
@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_golden_program_gives_the_same(text: str, name: str, run: Run, target: str) -> None:
    kernel = tileir.parse(text)[name]
    args = arguments(kernel, run)
    first, second = (outcome(one, (1,), args, target) for one in (kernel, exact_kernel(kernel)))
    assert_same_bits(first, second)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_the_same(example: Example) -> None:
    kernel = tileir.load(example.path)[example.kernel]
    args = list(example.arguments(example.sizes, np.random.default_rng(1)).values())
    first, second = (outcome(one, example.grid(example.sizes), args, "cpu") for one in (kernel, exact_kernel(kernel)))
    second.printed = first.printed  # Tile blocks print in any order.
    assert_same_bits(first, second)
