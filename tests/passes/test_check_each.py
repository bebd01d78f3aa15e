"""``--check-each``: right rewrites pass, and wrong ones are noticed."""

from __future__ import annotations

import numpy as np
import pytest
from structural import PROGRAMS, program

import tileir
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.fuzz.check_passes import Checking, WrongRewrite
from tileir.fuzz.comparing import compare, equal
from tileir.fuzz.trials import trials
from tileir.passes.running import Step
from tileir.tools.optimise import watched


def step(before: str, after: str) -> Step:
    return Step("wrong", tileir.parse(program(before)), tileir.parse(program(after)), [], 0.0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%s = addi %a, %b : tile<i32>\n OUT %s", "%s = subi %a, %b : tile<i32>\n OUT %s"),
        ("%s = divf %x, %y : tile<f32>\n REAL %s", "%s = divf %x, %y rounding<zero> : tile<f32>\n REAL %s"),
        ("%s = addi %a, %one : tile<i32>\n OUT %s", "%s = addi %a, %one : tile<i32>\n OUT %a"),
        ('print_tko "%d", %a : tile<i32> -> token', 'print_tko "%d", %b : tile<i32> -> token'),
        ("OUT %a", "%s = divi %a, %zero signed : tile<i32>\n OUT %s"),
    ],
)
def test_a_wrong_rewrite_is_noticed(before: str, after: str) -> None:
    with pytest.raises(WrongRewrite, match="pass 'wrong' changed what @k does"):
        Checking()(step(before, after))


def test_a_lost_token_is_noticed_by_the_sanitizer() -> None:
    before = """
        %t = store_ptr_tko weak %out, %a : tile<ptr<i32>>, tile<i32> -> token
        %v, %u = load_ptr_tko weak %out token=%t : tile<ptr<i32>> -> tile<i32>, token
        OUT %v
        """.replace("OUT %v", "")
    after = before.replace(" token=%t", "")
    with pytest.raises(WrongRewrite, match="the sanitizer"):
        Checking()(step(before, after))


def test_a_step_that_changes_nothing_is_not_compared() -> None:
    checking = Checking()
    same = tileir.parse(PROGRAMS["unused"])
    checking(Step("idle", same, same, [], 0.0))
    assert checking.compared + checking.undefined == 0


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_the_programs_of_the_rows_are_clean(name: str) -> None:
    checking = Checking(count=3)
    watched(tileir.parse(PROGRAMS[name]), 3, watch=checking)
    assert checking.compared + checking.undefined > 0


@pytest.mark.parametrize("example", EXAMPLES[:8], ids=lambda example: example.name)
def test_examples_are_clean(example: Example) -> None:
    watched(tileir.load(example.path), 3, watch=Checking(count=2))


def test_generated_inputs_are_the_same_each_time_and_have_edge_values() -> None:
    kernel = tileir.parse(PROGRAMS["unused"])["k"]
    first, second = (list(trials(kernel, 6, seed=3)) for _ in range(2))
    for one, other in zip(first, second):
        assert one.grid == other.grid
        assert [a.tobytes() for a in one.arrays] == [a.tobytes() for a in other.arrays]
    real = first[1].arguments[-1]
    assert np.isnan(real).any()
    assert np.isinf(real).any()
    assert ((real != 0) & (abs(real) < 1e-38)).any()
    assert any(len(trial.arrays) == 2 for trial in first)


def test_distances_count_floats_also_across_zero() -> None:
    tiny = np.float32(1e-45)
    assert equal(np.array([tiny]), np.array([-tiny]), 2).all()
    assert not equal(np.array([tiny]), np.array([-tiny]), 1).any()
    assert equal(np.array([1.0]), np.array([np.nextafter(1.0, 2.0)]), 1).all()
    assert not equal(np.array([np.nan], np.float32), np.array([1.0], np.float32), 9).any()


def test_a_program_is_not_compared_where_it_traps() -> None:
    wild = tileir.parse(program("%s = divi %a, %zero signed : tile<i32>\n OUT %s"))["k"]
    found = compare(wild, wild, trials(wild, 3))
    assert (found.compared, found.undefined, found.equal) == (0, 3, False)
