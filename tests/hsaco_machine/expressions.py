"""The meaning of expressions and statements of AMD's pseudo-code, for all lanes of a wave.

Lanes take branches on their own: an assignment leaves out lanes where a condition does not hold. The syntax is in
`pseudo`, and operands come from `operands`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.hsaco_machine.typed import (
    TYPE,
    Array,
    PseudoFault,
    Typed,
    converted,
    from_number,
    integer,
    mask_of,
    operated,
    truth,
)

_CONSTANTS = {
    "INF": from_number(np.array([np.inf])),
    "NAN": from_number(np.array([np.nan])),
    "PI": from_number(np.array([np.pi])),
    "OVERFLOW_F32": from_number(np.array([np.inf], np.float32)),
    "OVERFLOW_F64": from_number(np.array([np.inf])),
    "UNDERFLOW_F32": from_number(np.array([0.0], np.float32)),
    "UNDERFLOW_F64": from_number(np.array([0.0])),
}


@dataclass
class Frame:
    """One run: the variables, the lanes that take part, and masks of lanes by the register that holds them."""

    variables: dict[str, Typed]
    mask: Array
    lane_bits: dict[str, Array] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    written_bits: dict[str, Array] = field(default_factory=dict)

    def assign(self, name: str, value: Typed) -> None:
        old = self.variables.get(name)
        raw = np.broadcast_to(value.raw, self.mask.shape)
        if old is not None and not self.mask.all():
            kept = np.broadcast_to(old.raw, self.mask.shape)
            raw = np.where(self.mask, raw, kept if old.width <= value.width else kept & mask_of(value.width))
        self.variables[name] = Typed(raw, value.width, value.kind)
        self.written.add(name)


Expression = Callable[[Frame], Typed]
Statement = Callable[[Frame], None]


@dataclass(frozen=True)
class Target:
    """The destination of an assignment: a variable, a part of its bits, or its bit for each lane."""

    name: str
    kind: tuple[str, int] | None
    part: tuple[Expression, Expression] | None
    lane: bool

    def read(self, frame: Frame) -> Typed:
        found = variable_named(self.name)(frame)
        if self.part is not None:
            high, low = (int(end(frame).raw.ravel()[0]) for end in self.part)
            found = found.bits(high, low)
        return found if self.kind is None else found.of(*self.kind)

    def write(self, frame: Frame, value: Typed) -> None:
        if self.lane:
            before = frame.written_bits.get(self.name, np.zeros(frame.mask.shape, np.bool_))
            frame.written_bits[self.name] = np.where(frame.mask, value.truth, before)
            return
        if self.part is None:
            typed = value if self.kind is None else converted(value, *self.kind)
            frame.assign(self.name, self._narrow(frame, typed))
            return
        self._write_part(frame, value)

    def _narrow(self, frame: Frame, value: Typed) -> Typed:
        """A result of fewer than 32 bits leaves the others as they are."""
        old = frame.variables.get(self.name)
        if old is None or not self.name.startswith("D") or value.width >= 32 or old.width < 32:
            return value
        return Typed((old.raw & ~mask_of(value.width)) | value.raw, old.width, "u")

    def _write_part(self, frame: Frame, value: Typed) -> None:
        assert self.part is not None
        ends = [end(frame) for end in self.part]
        old = frame.variables.get(self.name, integer(0, 64, "u"))
        width = int(ends[0].raw.ravel()[0]) - int(ends[1].raw.ravel()[0]) + 1
        given = value if self.kind is None else converted(value, *self.kind)
        low = ends[1].raw
        keep = ~(mask_of(width) << low)
        raw = (old.raw & keep) | ((given.raw & mask_of(width)) << low)
        frame.assign(self.name, Typed(raw, max(old.width, 32), old.kind))


def type_named(name: str) -> tuple[str, int]:
    match = TYPE.fullmatch(name)
    if match is None:
        raise PseudoFault(f"expected a type, got {name!r}")
    return match[1], int(match[2])


def literal_of(kind: str, text: str) -> Typed:
    if kind == "float":
        single = text.endswith("F")
        return from_number(np.array([float(text.rstrip("F"))], np.float32 if single else np.float64))
    if kind == "sized":
        width, rest = text.split("'")
        if "." in rest:
            return from_number(np.array([float(rest)], f"f{int(width) // 8}"))
        letter = rest[-1] if rest[-1] in "UIFB" and not rest.startswith("0x") else "U"
        return integer(int(rest.rstrip("UILFB" if letter == rest[-1] else "UIL"), 0), int(width), letter.lower())
    digits = text.rstrip("UL")
    value, unsigned = int(digits, 0), "U" in text[len(digits) :]
    wide = "L" in text[len(digits) :] or value >= 1 << 32
    return integer(value, 64 if wide else 32, "u" if unsigned or value >= 1 << 31 else "i")


def variable_named(name: str) -> Expression:
    def read(frame: Frame) -> Typed:
        if name in frame.variables:
            return frame.variables[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in frame.lane_bits:
            return Typed(np.zeros(1, np.uint64), 64, f"lanes:{name}")
        raise PseudoFault(f"the pseudo-code reads {name}, which is not set")

    return read


def typed_as(value: Expression, type: tuple[str, int]) -> Expression:
    def read(frame: Frame) -> Typed:
        found = value(frame)
        if found.kind.startswith("lanes:"):
            return found
        if found.kind == "f" and type[0] == "f":
            return converted(found, *type)
        return found.of(*type)

    return read


def field_named(value: Expression, name: str) -> Expression:
    """A flag of the mode or the state; those that are asked for stand in the variables under the last name."""
    return lambda frame: frame.variables[name]


def lane_bit(value: Expression) -> Expression:
    def read(frame: Frame) -> Typed:
        found = value(frame)
        return truth(frame.lane_bits[found.kind.removeprefix("lanes:")])

    return read


def part_of(value: Expression, high: Expression, low: Expression) -> Expression:
    def read(frame: Frame) -> Typed:
        first, last = (int(end(frame).raw.ravel()[0]) for end in (high, low))
        return value(frame).bits(first, last) if first >= last else _reversed(value(frame).bits(last, first))

    return read


def _reversed(value: Typed) -> Typed:
    """The bits in the opposite order."""
    found = np.zeros_like(value.raw)
    for place in range(value.width):
        found |= ((value.raw >> np.uint64(place)) & np.uint64(1)) << np.uint64(value.width - 1 - place)
    return Typed(found, value.width, value.kind)


def bit_of(value: Expression, place: Expression) -> Expression:
    def read(frame: Frame) -> Typed:
        return Typed((value(frame).raw >> place(frame).raw) & np.uint64(1), 1, "u")

    return read


def binary(operator: str, first: Expression, second: Expression) -> Expression:
    return lambda frame: operated(operator, first(frame), second(frame))


def inner_frame(frame: Frame, parameters: Sequence[str], arguments: Sequence[Typed]) -> Frame:
    return Frame({**frame.variables, **dict(zip(parameters, arguments))}, frame.mask, frame.lane_bits)


def branches(frame: Frame, arms: Sequence[tuple[Expression | None, Statement]]) -> None:
    outer, left = frame.mask, frame.mask
    for condition, body in arms:
        holds = left if condition is None else left & np.broadcast_to(condition(frame).truth, left.shape)
        frame.mask = holds
        if holds.any():
            body(frame)
        left = left & ~holds
    frame.mask = outer & ~frame.variables.get("break", _NEVER).truth if "break" in frame.variables else outer


_NEVER = integer(0, 1, "u")


def leave(frame: Frame) -> None:
    """End the loop for the lanes that get here."""
    before = frame.variables.get("break", _NEVER).truth
    frame.variables["break"] = truth(before | frame.mask)


def loop_over(frame: Frame, name: str, first: Expression, last: Expression, body: Statement) -> None:
    outer = frame.mask
    for number in range(int(first(frame).signed.ravel()[0]), int(last(frame).signed.ravel()[0]) + 1):
        if "break" in frame.variables:
            frame.mask = outer & ~frame.variables["break"].truth
        frame.variables[name] = integer(number)
        body(frame)
    frame.variables.pop("break", None)
    frame.mask = outer
