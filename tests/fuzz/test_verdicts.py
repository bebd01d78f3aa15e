"""Verdicts of proofs, sanitizer and `equiv` agree with brute force on tiny programs; `make fuzz` tries 10,000."""

from __future__ import annotations

from collections import Counter

from tests.fuzz.verdicts import wrong_verdicts

PROGRAMS = 40


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
