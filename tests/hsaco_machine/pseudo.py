"""AMD's pseudo-code of instructions: read once, run as often as wanted.

`expressions` executes it.
"""

from __future__ import annotations

import re
from functools import cache

from tests.hsaco_machine.expressions import (
    Expression,
    Frame,
    Statement,
    Target,
    binary,
    bit_of,
    branches,
    field_named,
    inner_frame,
    lane_bit,
    leave,
    literal_of,
    loop_over,
    part_of,
    type_named,
    typed_as,
    variable_named,
)
from tests.hsaco_machine.functions import FUNCTIONS
from tests.hsaco_machine.typed import (
    TYPE,
    PseudoFault,
    Typed,
    chosen,
    converted,
    inverted,
    joined,
    negated,
    operated,
    truth,
)

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
            return leave
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
                return lambda frame: branches(frame, arms)
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
        return lambda frame: loop_over(frame, name, first, last, body)

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

    def _target(self, name: str) -> Target:
        kind: tuple[str, int] | None = None
        part: tuple[Expression, Expression] | None = None
        lane = False
        while self.at(".", "["):
            if self.take() == ".":
                word = self.take()
                if TYPE.fullmatch(word) is None:  # a flag of exceptions, which nobody reads
                    name = f"{name}.{word}"
                else:
                    kind = type_named(word)
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
        return Target(name, kind, part, lane)

    # ------------------------------------------------------------ expressions

    def expression(self, level: int = -1) -> Expression:
        if level < 0:
            return self._choice()
        if level == len(_LEVELS):
            return self._unary()
        found = self.expression(level + 1)
        while self.at(*_LEVELS[level]):
            operator = self.take()
            found = binary(operator, found, self.expression(level + 1))
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
            constant = literal_of(kind, text)
            return lambda frame: constant
        if text == "(":
            found = self.expression()
            self.take(")")
            return found
        if text == "{":
            return self._joined()
        if kind != "name":
            raise PseudoFault(f"expected a value, got {text!r}")
        return self._call(text) if self.at("(") else variable_named(text)

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
            return lambda frame: body(inner_frame(frame, parameters, [one(frame) for one in arguments]))
        if name not in FUNCTIONS:
            raise PseudoFault(f"the machine does not know the function {name}")
        function = FUNCTIONS[name]
        return lambda frame: function(*(one(frame) for one in arguments))

    def _postfix(self, value: Expression) -> Expression:
        while self.at(".", "["):
            if self.take() == ".":
                name = self.take()
                value = typed_as(value, type_named(name)) if TYPE.fullmatch(name) else field_named(value, name)
                continue
            if self.at("laneId"):
                self.take()
                self._lane_type()
                self.take("]")
                value = lane_bit(value)
                continue
            high = self.expression()
            if self.at(":"):
                self.take()
                value = part_of(value, high, self.expression())
            else:
                value = bit_of(value, high)
            self.take("]")
        return value

    def _lane_type(self) -> None:
        if self.at("."):
            self.take()
            self.take()
