"""Tables from operations of TTIR to the rules that import them."""

from __future__ import annotations

from collections.abc import Callable

from tileir.triton.importer.importing import Rule


class Table(dict[str, Rule]):
    """``rules = Table()``, then ``@rules("tt.load")`` above the rule."""

    def __call__(self, *names: str) -> Callable[[Rule], Rule]:
        def register(rule: Rule) -> Rule:
            for name in names:
                if name in self:
                    raise AssertionError(f"two rules for '{name}'")
                self[name] = rule
            return rule

        return register
