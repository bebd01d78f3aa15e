"""Verdicts of proofs, sanitizer and `equiv` agree with brute force on tiny programs; `make fuzz` tries 10,000."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.verdicts import LANES, Access, Launched, Node, wrong_proved, wrong_sanitized, wrong_verdicts

PROGRAMS = 40


@pytest.mark.thorough
def test_no_verdict_on_a_tiny_program_is_wrong() -> None:
    tally: Counter[str] = Counter()
    wrong = [text for seed in range(PROGRAMS) for text in wrong_verdicts(seed, tally)]
    assert not wrong, "\n".join(wrong)
    for expected in ("sanitize: faults", "sanitize: none", "equiv: equal", "equiv: different"):
        assert tally[expected] >= PROGRAMS // 20
    subjects = {what.partition(",")[0] for what, count in tally.items() if count}
    assert {
        f"prove: {subject}: {answer}" for subject in ("races", "bounds") for answer in ("absent", "present")
    } <= subjects


LANE: Node = ("lane", ())
TILES: Node = ("addi", (("muli", (("block", ()), ("constant", (2 * LANES,)))), LANE))


def test_stores_below_one_bound_are_told_apart_by_their_indices() -> None:
    # The second store is of the same elements in every tile block, which the first one is not.
    stores = Access("store", "p", TILES, 16, None), Access("store", "p", LANE, 16, 0)
    wrong = list(wrong_proved(Launched(stores, 0, 2, 16, False), Counter()))
    assert not wrong, "\n".join(wrong)


def test_a_load_is_not_forgotten_behind_an_update_that_waits_for_it() -> None:
    # Two updates may meet; the second one and the load may not.
    accesses = Access("load", "p", LANE, None, None), Access("update", "p", LANE, None, 0)
    launch = Launched((*accesses, Access("update", "p", LANE, None, None)), 0, 1, 8, False)
    assert launch.faults() == {"missing-token"}
    assert not list(wrong_sanitized(launch, Counter()))


def test_a_lane_that_a_sum_has_twice_leaves_no_array_that_it_stays_in() -> None:
    # 16 + lane - block * lane, below 15: in tile block 2 these are 13 and 14.
    turned: Node = ("subi", (("addi", (LANE, ("constant", (16,)))), ("muli", (("block", ()), LANE))))
    wrong = list(wrong_proved(Launched((Access("update", "p", turned, 15, None),), 3, 3, 16, False), Counter()))
    assert not wrong, "\n".join(wrong)
