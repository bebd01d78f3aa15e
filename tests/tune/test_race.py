"""Races on clocks that the tests make: who leaves, who wins, when it ends."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tileir.tune.jobs import LEAST_ROUNDS, RaceLane, race


def clock(seconds: float, spread: float, seed: int) -> Callable[[], float]:
    random = Random(seed)
    return lambda: seconds * (1 + spread * random.random())


def frozen() -> float:
    return 0.0


def test_a_slow_candidate_leaves_and_the_last_one_wins() -> None:
    slow, fast, middle = lanes = race([clock(2, 0.1, 1), clock(1, 0.1, 2), clock(1.5, 0.1, 3)], frozen, 10)
    assert fast.left is None and slow.left == middle.left == LEAST_ROUNDS - 1
    assert [len(lane.samples) for lane in lanes] == [LEAST_ROUNDS] * 3


def test_candidates_that_are_alike_race_to_the_end() -> None:
    lanes = race([clock(1, 0.5, seed) for seed in range(3)], frozen, 10, rounds=30)
    assert [lane.left for lane in lanes] == [None] * 3 and {len(lane.samples) for lane in lanes} == {30}


def test_a_race_out_of_time_ends_after_the_least_rounds() -> None:
    times = iter(range(1000))
    lanes = race([clock(1, 0.5, seed) for seed in range(2)], lambda: 10.0 * next(times), 3)
    assert {len(lane.samples) for lane in lanes} == {LEAST_ROUNDS}


def test_all_are_timed_in_turns_in_changing_order() -> None:
    order: list[int] = []

    def timed(number: int) -> Callable[[], float]:
        return lambda: order.append(number) or 1.0  # type: ignore[func-returns-value]

    race([timed(number) for number in range(4)], frozen, 10, rounds=10)
    rounds = [order[at : at + 4] for at in range(0, 40, 4)]
    assert all(sorted(one) == [0, 1, 2, 3] for one in rounds) and len({tuple(one) for one in rounds}) > 3


def test_an_interval_holds_the_median_about_as_often_as_it_says() -> None:
    random, held = Random(0), 0
    for _ in range(400):
        low, high = RaceLane([random.expovariate(1.0) for _ in range(25)]).interval
        held += low <= 0.6931471805599453 <= high
    assert held >= 370
    assert RaceLane([3.0, 1.0, 2.0]).interval == (1.0, 3.0)
