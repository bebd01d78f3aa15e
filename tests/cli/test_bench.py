"""``tileir bench``: times, rates, the share of the machine's limits, wrong usage."""

import pytest

from tileir.cli.bench import timed

ARGUMENTS = ("scale.mlir", "--grid", "2", "x=f32[8]:arange", "factor=1")


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_the_median_and_the_spread_are_shown(tileir, scale, target) -> None:
    ran = tileir("bench", *ARGUMENTS, "--runs", "5", "--target", target)
    assert ran.status == 0
    assert f"@scale: 2 tile blocks, target {target}, 5 launches" in ran.out
    for word in ("first launch", "median", "spread"):
        assert word in ran.out


def test_rates_are_shown_beside_the_limits_of_the_machine(tileir, scale) -> None:
    ran = tileir(
        "bench", *ARGUMENTS, "--runs", "3", "--target", "cpu", "--flops", "8", "--bytes", "64", "--threads", "1"
    )
    assert ran.status == 0
    assert "GFLOP/s" in ran.out
    assert "GB/s" in ran.out
    assert "% of" in ran.out


def test_the_interpreter_has_rates_but_no_limits(tileir, scale) -> None:
    ran = tileir("bench", *ARGUMENTS, "--runs", "3", "--flops", "8", "--target", "interp")
    assert "GFLOP/s" in ran.out
    assert "% of" not in ran.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--runs", "0"), "--runs"),
        (("--flops", "-1"), "--flops"),
        (("--bytes", "nan"), "--bytes"),
        (("--grid", "0"), "grid"),
        (("extra=1",), "extra"),
        (("--target", "none"), "target"),
    ],
)
def test_wrong_usage(tileir, scale, more, message) -> None:
    ran = tileir("bench", *ARGUMENTS, *more)
    assert ran.status == 2
    assert message in ran.err


def test_as_many_launches_are_timed_as_asked_for() -> None:
    calls = []
    _, times = timed(lambda: calls.append(1), 7)
    assert len(times.seconds) == 7
    assert len(calls) == 9
