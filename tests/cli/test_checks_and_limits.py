"""``--check``, ``--no-check``, ``--timeout`` and ``--max-iterations`` of the verbs that launch kernels."""

from pathlib import Path

import pytest
from cli_programs import COUNTS

BEYOND = ("scale.mlir", "--grid", "2", "f32[4]:ones", "1")
WRAPS = b"""entry @k(%n: tile<i32>) {
  %s = addi %n, %n overflow<no_signed_wrap> : tile<i32>
}"""
TARGETS = ("cpu", "interp")


def test_native_code_is_run_and_checked_unless_told_otherwise(tileir, scale: Path) -> None:
    for verb in ("run", "bench"):
        ran = tileir(verb, *BEYOND)
        assert ran.status == 1
        assert "trap: " in ran.err
        assert tileir(verb, *BEYOND, "--threads", "1").err == ran.err  # an option that the interpreter does not have


@pytest.mark.parametrize("words", [["--check"], ["--no-check", "--check"], ["--check", "--seed", "0"]])
def test_a_plain_check_takes_no_word_after_it(tileir, scale: Path, words: list[str]) -> None:
    ran = tileir("run", *words, *BEYOND)
    assert ran.status == 1
    assert "trap: " in ran.err


@pytest.mark.parametrize("words", [["--check", "strict"], ["--check=strict"], ["--mode", "strict"]])
def test_strict_checks_stop_at_undefined_behaviour(tileir, words: list[str]) -> None:
    more = ("-", "--grid", "1", "0x7fffffff", "--target", "interp")
    assert tileir("run", *more, stdin=WRAPS).status == 0
    ran = tileir("run", *words, *more, stdin=WRAPS)
    assert ran.status == 1
    assert "trap: " in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "interp", "--check", "strict", "--mode", "off"], "expected 'strict', as check='strict' asks for"),
        (["--check=loose"], "argument --check: invalid choice: 'loose'"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(tileir, words: list[str], message: str) -> None:
    ran = tileir("run", "-", "--grid", "1", "1", *words, stdin=WRAPS)
    assert ran.status == 2
    assert message in ran.err


@pytest.mark.parametrize("target", TARGETS)
def test_a_timeout_ends_a_launch(tileir, target: str) -> None:
    words = ("--target", target, "--timeout", "0.1", "--max-iterations", str(1 << 62))
    ran = tileir("run", "-", "--grid", "1", "1", *words, stdin=COUNTS)
    assert ran.status == 1
    assert "the launch took more than 0.1 s" in ran.err


@pytest.mark.parametrize("verb", ["run", "bench"])
@pytest.mark.parametrize("target", TARGETS)
def test_iterations_are_limited(tileir, verb: str, target: str) -> None:
    ran = tileir(verb, "-", "--grid", "1", "1", "--target", target, "--max-iterations", "10", stdin=COUNTS)
    assert ran.status == 1
    assert "a tile block ran more than 10 iterations of its loops" in ran.err


@pytest.mark.parametrize("verb", ["run", "bench"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--timeout", "0"], "--timeout: expected a positive number of seconds, got 0"),
        (["--timeout", "nan"], "--timeout: expected a positive number of seconds, got nan"),
        (["--timeout", "soon"], "argument --timeout: invalid float value: 'soon'"),
        (["--max-iterations", "0"], "--max-iterations: expected a positive integer, got 0"),
        (["--max-iterations", "1" + 19 * "0"], f"--max-iterations: expected at most {2**63 - 1}, got 1{19 * '0'}"),
        (["--threads", "0"], "threads: expected a positive integer, got 0"),
    ],
)
def test_limits_are_positive(tileir, scale: Path, verb: str, words: list[str], message: str) -> None:
    ran = tileir(verb, "scale.mlir", "--grid", "1", "f32[4]:ones", "1", *words)
    assert ran.status == 2
    assert message in ran.err
