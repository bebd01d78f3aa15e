"""Optimization hints (types and syntax 5.5; semantics 14).

Knows: which architectures, hints and values there are. Hints never change what a program computes: only their shape is
an error, everything else is a warning that must be asked for. Does not know: how hints are read or printed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileir.ir.attributes import Attribute, BoolAttr, DictAttr, IntegerAttr, OptimizationHints
from tileir.ir.core import Op
from tileir.ir.declare import AttrKind, Version, version_key
from tileir.verify.kinds import value_text
from tileir.verify.rule import Fault, Scope, listed

_ARCHITECTURES = {
    "sm_80": "13.1",
    "sm_86": "13.1",
    "sm_87": "13.1",
    "sm_88": "13.1",
    "sm_89": "13.1",
    "sm_90": "13.1",
    "sm_100": "13.1",
    "sm_103": "13.1",
    "sm_107": "13.4",
    "sm_110": "13.1",
    "sm_120": "13.1",
    "sm_121": "13.1",
    "default": "13.3",
}
_HINT_SINCE = {"num_worker_warps_per_cta": "13.3"}
_SINGLE_CTA = ("sm_80", "sm_86", "sm_87", "sm_88", "sm_89")
_RANGES = {"latency": 10, "occupancy": 32}
_POWERS = {"num_cta_in_cga": 16, "num_worker_warps_per_cta": 32}


def entries_are_dictionaries(op: Op, scope: Scope) -> Fault | None:
    """E0830."""
    for key, entry in _targets(op):
        if not isinstance(entry, DictAttr):
            return Fault(f"optimization hints of '{key}'", "a dictionary of hints", value_text(entry))
    return None


def warnings(op: Op, level: Version) -> Iterator[tuple[str, Fault]]:
    """The codes and faults of hints that have no effect: unknown names, values of the wrong kind or range."""
    for key, entry in _targets(op):
        if version_key(_ARCHITECTURES.get(key, "99.0")) > level:
            names = listed([name for name, since in _ARCHITECTURES.items() if version_key(since) <= level])
            yield "W0831", Fault(f"optimization hints of '{key}'", names, f"'{key}'")
        elif isinstance(entry, DictAttr):
            for name, value in entry.entries:
                yield from _hint_warnings(op, level, key, name, value)


def _hint_warnings(op: Op, level: Version, key: str, name: str, value: Attribute) -> Iterator[tuple[str, Fault]]:
    known = [hint for hint in _known(op) if version_key(_HINT_SINCE.get(hint, "13.1")) <= level]
    if name not in known:
        yield "W0832", Fault("optimization hint", listed(known), f"'{name}'")
        return
    expected = _expected_kind(name, value)
    if expected is not None:
        yield "W0833", Fault(f"optimization hint '{key}.{name}'", expected, value_text(value))
        return
    expected = None if isinstance(value, BoolAttr) else _expected_value(level, key, name, value.value)  # type: ignore[attr-defined]
    if expected is not None:
        yield "W0834", Fault(f"optimization hint '{key}.{name}'", expected, value_text(value))


def _expected_kind(name: str, value: Attribute) -> str | None:
    if name == "allow_tma":
        return None if isinstance(value, BoolAttr) else "a boolean"
    return None if isinstance(value, IntegerAttr) else "an integer"


def _expected_value(level: Version, key: str, name: str, value: int) -> str | None:
    if name == "num_cta_in_cga" and key in _SINGLE_CTA:
        return None if value == 1 else f"1 on {key}"
    if name == "num_worker_warps_per_cta" and level >= (13, 4):
        return None if value in (4, 8) else "4 or 8"
    if name in _POWERS:
        limit = _POWERS[name]
        return None if 0 < value <= limit and value & (value - 1) == 0 else f"a power of two up to {limit}"
    limit = _RANGES[name]
    return None if 1 <= value <= limit else f"an integer from 1 to {limit}"


def _known(op: Op) -> tuple[str, ...]:
    return next((attr.keys or () for attr in op.spec.attrs if attr.kind is AttrKind.HINTS), ())


def _targets(op: Op) -> tuple[tuple[str, Attribute], ...]:
    hints = op.attributes.get("optimization_hints")
    return hints.targets.entries if isinstance(hints, OptimizationHints) else ()
