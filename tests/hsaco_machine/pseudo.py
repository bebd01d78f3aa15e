"""AMD's pseudo-code of instructions: read once, run for all lanes.

Knows: the syntax of expressions and statements, and that lanes take branches on their own: what is assigned where a
condition does not hold is not. Does not know: where operands come from (`vector`, `scalar`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tests.hsaco_machine.functions import FUNCTIONS
from tests.hsaco_machine.typed import (
    TYPE,
    Array,
    PseudoFault,
    Typed,
    chosen,
    converted,
    from_number,
    integer,
    inverted,
    joined,
    mask_of,
    negated,
    operated,
    truth,
)


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

_TOKEN = re.compile(
    r"\s*(?:(?P<cast>\d+'[UIFB](?=\())|(?P<sized>\d+'(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)[UIFB]?L*)"
    r"|(?P<float>\d+\.\d+F?|\d+F\b)|(?P<number>0x[0-9a-fA-F]+|\d+)(?P<unsigned>U?)(?P<long>L*)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op><<=|>>=|\*\*|<<|>>|<=|>=|==|!=|<>|&&|\|\||\+=|-=|\*=|&=|\|=|\^=|[-+*/%&|^~!?:;=<>(){}\[\],.]))"
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<>"), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"), ("**",),
)  # fmt: skip
_ENDS = ("else", "elsif", "endif", "endfor")
_CONSTANTS = {
    "INF": from_number(np.array([np.inf])),
    "NAN": from_number(np.array([np.nan])),
    "PI": from_number(np.array([np.pi])),
    "OVERFLOW_F32": from_number(np.array([np.inf], np.float32)),
    "OVERFLOW_F64": from_number(np.array([np.inf])),
    "UNDERFLOW_F32": from_number(np.array([0.0], np.float32)),
    "UNDERFLOW_F64": from_number(np.array([0.0])),
}


@cache
def compiled(text: str) -> Statement:
    """The statement that a piece of pseudo-code is. Raises PseudoFault for what cannot be read."""
    parser = _Parser(_tokens(text))
    found = parser.block()
    if parser.token is not None:
        raise PseudoFault(f"the pseudo-code goes on with {parser.token[1]!r}")
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    bare = re.sub(r"declare[^;]*;", "", re.sub(r"//[^\n]*", "", text))
    found, place = [], 0
    while bare[place:].strip():
        match = _TOKEN.match(bare, place)
        if match is None:
            raise PseudoFault(f"cannot read {bare[place : place + 20]!r}")
        kind = "number" if match["number"] is not None else match.lastgroup or ""
        found.append((kind, match[0].strip()))
        place = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.place = 0
        self.lambdas: dict[str, tuple[list[str], Expression]] = {}

    @property
    def token(self) -> tuple[str, str] | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def at(self, *texts: str) -> bool:
        return self.token is not None and self.token[1] in texts

    def take(self, *texts: str) -> str:
        if self.token is None or (texts and self.token[1] not in texts):
            raise PseudoFault(f"expected {' or '.join(texts)}, got {self.token}")
        self.place += 1
        return self.tokens[self.place - 1][1]

    # ------------------------------------------------------------ statements

    def block(self) -> Statement:
        statements = []
        while self.token is not None and not self.at(*_ENDS, "}"):
            if self.at(";"):
                self.take()
                continue
            statements.append(self.statement())

        def run(frame: Frame) -> None:
            for statement in statements:
                statement(frame)

        return run

    def statement(self) -> Statement:
        if self.at("if"):
            return self._if()
        if self.at("for"):
            return self._for()
        if self.at("break"):
            self.take()
            return _leave
        return self._assignment()

    def _if(self) -> Statement:
        self.take()
        arms: list[tuple[Expression | None, Statement]] = []
        condition: Expression | None = self.expression()
        self.take("then")
        while True:
            arms.append((condition, self.block()))
            word = self.take("elsif", "else", "endif")
            if word == "endif":
                return lambda frame: _branch(frame, arms)
            condition = None
            if word == "elsif":
                condition = self.expression()
                self.take("then")

    def _for(self) -> Statement:
        self.take()
        name = self.take()
        self.take("in")
        first = self.expression(1)
        self.take(":")
        last = self.expression()
        self.take("do")
        body = self.block()
        self.take("endfor")
        return lambda frame: _loop(frame, name, first, last, body)

    def _assignment(self) -> Statement:
        name = self.take()
        if name == "{":
            raise PseudoFault("assigns to several registers at once")
        if self.place + 1 < len(self.tokens) and self.at("=") and self.tokens[self.place + 1][1] == "lambda":
            return self._lambda(name)
        target = self._target(name)
        operator = self.take("=", "+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=")
        value = self.expression()
        if operator != "=":
            old, plain = target.read, value
            value = lambda frame: operated(operator[:-1], old(frame), plain(frame))  # noqa: E731
        return lambda frame: target.write(frame, value(frame))

    def _lambda(self, name: str) -> Statement:
        self.take("=")
        self.take("lambda")
        self.take("(")
        parameters = []
        while not self.at(")"):
            parameters.append(self.take())
            if self.at(","):
                self.take()
        self.take(")")
        self.take("(")
        self.lambdas[name] = parameters, self.expression()
        self.take(")")
        return lambda frame: None

    def _target(self, name: str) -> _Target:
        kind: tuple[str, int] | None = None
        part: tuple[Expression, Expression] | None = None
        lane = False
        while self.at(".", "["):
            if self.take() == ".":
                word = self.take()
                if TYPE.fullmatch(word) is None:  # a flag of exceptions, which nobody reads
                    name = f"{name}.{word}"
                else:
                    kind = _type(word)
                continue
            if self.at("laneId"):
                self.take()
                self._lane_type()
                lane = True
            else:
                high = self.expression()
                low = high
                if self.at(":"):
                    self.take()
                    low = self.expression()
                part = high, low
            self.take("]")
        return _Target(name, kind, part, lane)

    # ------------------------------------------------------------ expressions

    def expression(self, level: int = -1) -> Expression:
        if level < 0:
            return self._choice()
        if level == len(_LEVELS):
            return self._unary()
        found = self.expression(level + 1)
        while self.at(*_LEVELS[level]):
            operator = self.take()
            found = _binary(operator, found, self.expression(level + 1))
        return found

    def _choice(self) -> Expression:
        condition = self.expression(0)
        if not self.at("?"):
            return condition
        self.take()
        first = self._choice()
        self.take(":")
        second = self._choice()
        return lambda frame: chosen(condition(frame).truth, first(frame), second(frame))

    def _unary(self) -> Expression:
        if not self.at("-", "~", "!", "+"):
            return self._postfix(self._primary())
        operator = self.take()
        operand = self._unary()
        if operator == "+":
            return operand
        if operator == "!":
            return lambda frame: truth(~operand(frame).truth)
        function = negated if operator == "-" else inverted
        return lambda frame: function(operand(frame))

    def _primary(self) -> Expression:
        assert self.token is not None
        kind, text = self.token
        self.place += 1
        if kind == "cast":
            return self._cast(text)
        if kind in ("sized", "number", "float"):
            constant = _literal(kind, text)
            return lambda frame: constant
        if text == "(":
            found = self.expression()
            self.take(")")
            return found
        if text == "{":
            return self._joined()
        if kind != "name":
            raise PseudoFault(f"expected a value, got {text!r}")
        return self._call(text) if self.at("(") else _variable(text)

    def _cast(self, text: str) -> Expression:
        width, letter = text.split("'")
        (argument,) = self._arguments()
        kind = letter.lower()
        return lambda frame: converted(argument(frame), kind, int(width))

    def _joined(self) -> Expression:
        parts = [self.expression()]
        while self.at(","):
            self.take()
            parts.append(self.expression())
        self.take("}")

        def join(frame: Frame) -> Typed:
            found = parts[0](frame)
            for part in parts[1:]:
                found = joined(found, part(frame))
            return found

        return join

    def _arguments(self) -> list[Expression]:
        self.take("(")
        found = []
        while not self.at(")"):
            found.append(self.expression())
            if self.at(","):
                self.take()
        self.take(")")
        return found

    def _call(self, name: str) -> Expression:
        arguments = self._arguments()
        if name in self.lambdas:
            parameters, body = self.lambdas[name]
            return lambda frame: body(_inner(frame, parameters, [one(frame) for one in arguments]))
        if name not in FUNCTIONS:
            raise PseudoFault(f"the machine does not know the function {name}")
        function = FUNCTIONS[name]
        return lambda frame: function(*(one(frame) for one in arguments))

    def _postfix(self, value: Expression) -> Expression:
        while self.at(".", "["):
            if self.take() == ".":
                name = self.take()
                value = _typed(value, _type(name)) if TYPE.fullmatch(name) else _named(value, name)
                continue
            if self.at("laneId"):
                self.take()
                self._lane_type()
                self.take("]")
                value = _lane_bit(value)
                continue
            high = self.expression()
            if self.at(":"):
                self.take()
                value = _slice(value, high, self.expression())
            else:
                value = _bit(value, high)
            self.take("]")
        return value

    def _lane_type(self) -> None:
        if self.at("."):
            self.take()
            self.take()


# ---------------------------------------------------------------- pieces


@dataclass(frozen=True)
class _Target:
    """What is assigned to: a variable, a part of its bits, or its bit for each lane."""

    name: str
    kind: tuple[str, int] | None
    part: tuple[Expression, Expression] | None
    lane: bool

    def read(self, frame: Frame) -> Typed:
        found = _variable(self.name)(frame)
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


def _type(name: str) -> tuple[str, int]:
    match = TYPE.fullmatch(name)
    if match is None:
        raise PseudoFault(f"expected a type, got {name!r}")
    return match[1], int(match[2])


def _literal(kind: str, text: str) -> Typed:
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


def _variable(name: str) -> Expression:
    def read(frame: Frame) -> Typed:
        if name in frame.variables:
            return frame.variables[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in frame.lane_bits:
            return Typed(np.zeros(1, np.uint64), 64, f"lanes:{name}")
        raise PseudoFault(f"the pseudo-code reads {name}, which is not set")

    return read


def _typed(value: Expression, type: tuple[str, int]) -> Expression:
    def read(frame: Frame) -> Typed:
        found = value(frame)
        if found.kind.startswith("lanes:"):
            return found
        if found.kind == "f" and type[0] == "f":
            return converted(found, *type)
        return found.of(*type)

    return read


def _named(value: Expression, name: str) -> Expression:
    """A flag of the mode or the state; those that are asked for stand in the variables under the last name."""
    return lambda frame: frame.variables[name]


def _lane_bit(value: Expression) -> Expression:
    def read(frame: Frame) -> Typed:
        found = value(frame)
        return truth(frame.lane_bits[found.kind.removeprefix("lanes:")])

    return read


def _slice(value: Expression, high: Expression, low: Expression) -> Expression:
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


def _bit(value: Expression, place: Expression) -> Expression:
    def read(frame: Frame) -> Typed:
        return Typed((value(frame).raw >> place(frame).raw) & np.uint64(1), 1, "u")

    return read


def _binary(operator: str, first: Expression, second: Expression) -> Expression:
    return lambda frame: operated(operator, first(frame), second(frame))


def _inner(frame: Frame, parameters: Sequence[str], arguments: Sequence[Typed]) -> Frame:
    return Frame({**frame.variables, **dict(zip(parameters, arguments))}, frame.mask, frame.lane_bits)


def _branch(frame: Frame, arms: Sequence[tuple[Expression | None, Statement]]) -> None:
    outer, left = frame.mask, frame.mask
    for condition, body in arms:
        holds = left if condition is None else left & np.broadcast_to(condition(frame).truth, left.shape)
        frame.mask = holds
        if holds.any():
            body(frame)
        left = left & ~holds
    frame.mask = outer & ~frame.variables.get("break", _NEVER).truth if "break" in frame.variables else outer


_NEVER = integer(0, 1, "u")


def _leave(frame: Frame) -> None:
    """End the loop for the lanes that get here."""
    before = frame.variables.get("break", _NEVER).truth
    frame.variables["break"] = truth(before | frame.mask)


def _loop(frame: Frame, name: str, first: Expression, last: Expression, body: Statement) -> None:
    outer = frame.mask
    for number in range(int(first(frame).signed.ravel()[0]), int(last(frame).signed.ravel()[0]) + 1):
        if "break" in frame.variables:
            frame.mask = outer & ~frame.variables["break"].truth
        frame.variables[name] = integer(number)
        body(frame)
    frame.variables.pop("break", None)
    frame.mask = outer
