"""Every rule of every operation, in the order of checking."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir.core import Op
from tileir.ops import OPS
from tileir.verify import (
    arithmetic,
    atomics,
    control,
    core,
    extension,
    matmul,
    misc,
    module,
    pointers,
    reduction,
    shapes,
    structure,
    views,
)
from tileir.verify.rule import Rule

CHAPTERS = (
    arithmetic,
    atomics,
    control,
    core,
    extension,
    matmul,
    misc,
    module,
    pointers,
    reduction,
    shapes,
    views,
)


@dataclass(frozen=True)
class Checks:
    """The rules of one operation: `local` ones depend on types, attributes and parent only; the others come after."""

    local: tuple[Rule, ...]
    contextual: tuple[Rule, ...]


def own_rules(op: type[Op]) -> tuple[Rule, ...]:
    """Return the rules that the chapters give an operation, besides those of its declaration."""
    return tuple(rule for chapter in CHAPTERS for rule in chapter.rules.get(op, ()))


def _checks(op: type[Op]) -> Checks:
    every = (*structure.rules(op.spec), *own_rules(op))
    return Checks(
        tuple(rule for rule in every if not rule.contextual), tuple(rule for rule in every if rule.contextual)
    )


CHECKS: dict[type[Op], Checks] = {op: _checks(op) for op in OPS.values()}

EVERYWHERE = ("E0214", "E0215", "E0219", "E0320", "E0220", "E0221", "E0222", "E0518", "E0803", "E0824", "E0825")
"""Codes of the rules that hold for any operation at its place (`verifier`); they stand in no chapter's table."""
