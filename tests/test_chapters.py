"""A chapter of operations has one file stem: where they are declared, and where each part gives them a meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tileir.cpu.rules import RULES as NATIVE
from tileir.gpu.ttir.rules import RULES as TTIR
from tileir.interp.machine import TABLES
from tileir.ir.core import Op
from tileir.ops import CHAPTERS
from tileir.verify import table

INTERPRETED = (TABLES.pure, TABLES.effects, TABLES.regions, TABLES.controls, TABLES.strict)


_ARITHMETIC = dict.fromkeys(("integer", "division", "floating", "functions"), "arithmetic")
_REFERENCE = {**_ARITHMETIC, "packing": "shapes", "multimem": "atomics", "calls": "control"}
SHARED = {
    "interp": _REFERENCE,
    "verify": {**_REFERENCE, "conversion": "arithmetic"},
    "cpu": {**_ARITHMETIC, "packing": "shapes", "multimem": "views", "calls": "control", "atomics": "pointers"},
    "gpu": {**_REFERENCE, "module": "control"},
}
"""Chapters whose rules take a few lines in a part, and the file that they share there."""


def stem(module: str) -> str:
    return module.rpartition(".")[2]


def chapter(op: type[Op], part: str = "") -> str:
    own = stem(op.__module__)
    return SHARED.get(part, {}).get(own, own)


def rules() -> Iterator[tuple[str, type[Op], Callable[..., object]]]:
    """The part, the operation and the rule, for every part that keeps one rule per operation."""
    for part, tables in (("interp", INTERPRETED), ("cpu", (NATIVE,)), ("gpu", (TTIR,))):
        for found in tables:
            for op, rule in found.items():
                yield part, op, rule


def elsewhere() -> set[tuple[str, str]]:
    return {(part, op.spec.name) for part, op, rule in rules() if stem(rule.__module__) != chapter(op, part)}


def test_a_rule_stands_in_the_file_of_its_chapter() -> None:
    assert elsewhere() == set()


@pytest.mark.parametrize("module", table.CHAPTERS, ids=lambda module: stem(module.__name__))
def test_a_chapter_of_the_verifier_has_the_rules_of_its_operations(module) -> None:
    own = stem(module.__name__)
    assert {op.spec.name for op in module.rules if chapter(op, "verify") != own} == set()
    checks = [rule.check for found in module.rules.values() for rule in found]
    others = {stem(other.__name__) for other in table.CHAPTERS} - {own}
    assert [check.__name__ for check in checks if stem(check.__module__) in others] == []


def test_the_verifier_has_every_chapter_that_has_rules() -> None:
    wanted = {SHARED["verify"].get(name, name) for name in CHAPTERS}
    assert {stem(module.__name__) for module in table.CHAPTERS} == wanted
