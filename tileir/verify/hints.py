"""Optimization hints (spec: hints#checks)."""

from __future__ import annotations

from collections.abc import Iterator

from tileir.ir.attributes import Attribute, BoolAttr, DictAttr, IntegerAttr, OptimizationHints
from tileir.ir.core import Op
from tileir.ir.fields import AttrKind
from tileir.ir.hints import ARCHITECTURES, DEFAULT, DEFAULT_SINCE, HINT_RANGES
from tileir.ir.versions import Version, version_key
from tileir.verify.kinds import value_text
from tileir.verify.rule import CheckContext, Violation, listed

_KEYS = ARCHITECTURES | {DEFAULT: DEFAULT_SINCE}
_SINGLE_CTA = ("sm_80", "sm_86", "sm_87", "sm_88", "sm_89")


def entries_are_dictionaries(op: Op, context: CheckContext) -> Violation | None:
    """E0830."""
    for key, entry in _targets(op):
        if not isinstance(entry, DictAttr):
            return Violation(f"optimization hints of '{key}'", "a dictionary of hints", value_text(entry))
    return None


def warnings(op: Op, level: Version) -> Iterator[tuple[str, Violation]]:
    """Yield the codes and violations of hints that have no effect: unknown names, values of the wrong kind or range."""
    for key, entry in _targets(op):
        if version_key(_KEYS.get(key, "99.0")) > level:
            names = listed([name for name, since in _KEYS.items() if version_key(since) <= level])
            yield "W0831", Violation(f"optimization hints of '{key}'", names, f"'{key}'")
        elif isinstance(entry, DictAttr):
            for name, value in entry.entries:
                yield from _hint_warnings(op, level, key, name, value)


def _hint_warnings(op: Op, level: Version, key: str, name: str, value: Attribute) -> Iterator[tuple[str, Violation]]:
    known = [hint for hint in _known(op) if version_key(_since(hint)) <= level]
    if name not in known:
        yield "W0832", Violation("optimization hint", listed(known), f"'{name}'")
        return
    expected = _expected_kind(name, value)
    if expected is not None:
        yield "W0833", Violation(f"optimization hint '{key}.{name}'", expected, value_text(value))
        return
    expected = _expected_value(level, key, name, value.value) if isinstance(value, IntegerAttr) else None
    if expected is not None:
        yield "W0834", Violation(f"optimization hint '{key}.{name}'", expected, value_text(value))


def _expected_kind(name: str, value: Attribute) -> str | None:
    if name == "allow_tma":
        return None if isinstance(value, BoolAttr) else "a boolean"
    return None if isinstance(value, IntegerAttr) else "an integer"


def _expected_value(level: Version, key: str, name: str, value: int) -> str | None:
    if name == "num_cta_in_cga" and key in _SINGLE_CTA:
        return None if value == 1 else f"1 on {key}"
    if name == "num_worker_warps_per_cta" and level >= (13, 4):
        return None if value in (4, 8) else "4 or 8"
    range = HINT_RANGES[name]
    if range.allows(value):
        return None
    return f"a power of two up to {range.largest}" if range.power_of_two else f"an integer from 1 to {range.largest}"


def _since(hint: str) -> str:
    return HINT_RANGES[hint].since if hint in HINT_RANGES else "13.1"


def _known(op: Op) -> tuple[str, ...]:
    return next((attr.keys or () for attr in op.spec.attrs if attr.kind is AttrKind.HINTS), ())


def _targets(op: Op) -> tuple[tuple[str, Attribute], ...]:
    hints = op.attributes.get("optimization_hints")
    return hints.targets.entries if isinstance(hints, OptimizationHints) else ()
