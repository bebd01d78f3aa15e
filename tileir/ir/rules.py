"""A table from operations to the rules that give them a meaning.

Each part that owns a meaning (interpreter, verifier, code generator) keeps one `Rules` per chapter of the
specification and joins them; the completeness test checks that no operation is missing. Operations of other languages
are known by their names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from tileir.ir.core import Op

K = TypeVar("K")
R = TypeVar("R", bound=Callable[..., object])
F = TypeVar("F", bound=Callable[..., object])


class KeyedRules(dict[K, R], Generic[K, R]):
    """``rules = KeyedRules()``, then ``@rules("tt.load", "tt.store")`` above the rule that serves both."""

    def __call__(self, *keys: K) -> Callable[[F], F]:
        """Register a rule, which may take its own operation classes instead of any `Op`: it gets no other."""

        def register(rule: F) -> F:
            for key in keys:
                if key in self:
                    raise AssertionError(f"two rules for {key}")
                self[key] = cast(R, rule)
            return rule

        return register

    def join(self, *tables: KeyedRules[K, R]) -> None:
        """Add the rules of all chapters; an operation may stand in only one of them."""
        for table in tables:
            for key, rule in table.items():
                self(key)(rule)


class Rules(KeyedRules[type[Op], R]):
    """``rules = Rules()``, then ``@rules(AddF, SubF)`` above the rule that serves both."""


def joined(*tables: Rules[R]) -> Rules[R]:
    """Return one table with the rules of all chapters."""
    result: Rules[R] = Rules()
    result.join(*tables)
    return result
