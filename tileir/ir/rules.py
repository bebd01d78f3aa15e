"""A table from operation class to the rule that gives it a meaning.

Each part that owns a meaning (interpreter, verifier, code generator) keeps one `Rules` per chapter of the
specification and joins them; the completeness test checks that no operation is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from tileir.ir.core import Op

R = TypeVar("R", bound=Callable[..., object])
F = TypeVar("F", bound=Callable[..., object])


class Rules(dict[type[Op], R], Generic[R]):
    """``rules = Rules()``, then ``@rules(AddF, SubF)`` above the rule that serves both."""

    def __call__(self, *ops: type[Op]) -> Callable[[F], F]:
        """Register a rule, which may take its own operation classes instead of any `Op`: it gets no other."""

        def register(rule: F) -> F:
            for op in ops:
                if op in self:
                    raise AssertionError(f"two rules for '{op.spec.name}'")
                self[op] = cast(R, rule)
            return rule

        return register


def joined(*tables: Rules[R]) -> Rules[R]:
    """Return one table with the rules of all chapters; an operation may stand in only one of them."""
    result: Rules[R] = Rules()
    for table in tables:
        for op, rule in table.items():
            result(op)(rule)
    return result
