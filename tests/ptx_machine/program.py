"""The text of PTX: functions, their statements and operands, and arrays of the module.

The text is that of LLVM's back end and of the inline PTX in it; other spellings that the manual allows are faults.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

import numpy as np

from tests.ttir_machine.ptx_instructions import Call
from tests.ttir_machine.values import MachineFault

_FUNCTION = re.compile(r"\.(entry|func)\s*(?:\(([^)]*)\)\s*)?([\w$]+)\s*\(([^)]*)\)[^{;]*\{")
_ARRAY = re.compile(r"\.global\s+\.align\s+\d+\s+\.b(\d+)\s+([\w$]+)\[\d+\]\s*=\s*\{([^}]*)\}")
_LOCAL = re.compile(r"\.local\s+\.align\s+\d+\s+\.b8\s+[\w$]+\[(\d+)\]")
_LABEL = re.compile(r"\s*([$\w]+):")
_LABEL_IN_BLOCK = re.compile(r"^\s*([A-Za-z]\w*):(?!:)", re.MULTILINE)
_STATEMENT = re.compile(r"(?:@(!?)([%$\w]+)\s+)?([\w.:]+)\s*(.*)", re.DOTALL)
_IMMEDIATE = re.compile(r"(-?\d+)|0x([0-9a-fA-F]+)U?|0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")
_SPECIAL = re.compile(r"%(?:tid|ntid|ctaid|nctaid)\.[xyz]|%laneid")
_BITS = re.compile(r"\.(?:pred|[bsuf](\d+))")


@dataclass(frozen=True)
class Register:
    """A register of so many bits; 1 of a predicate, 0 of the one that takes what nobody wants."""

    name: str
    bits: int


@dataclass(frozen=True)
class Immediate:
    """The bits of a number; of a float, those of its type."""

    bits: int


@dataclass(frozen=True)
class Symbol:
    """A special register, a parameter, an array or a label."""

    name: str


@dataclass(frozen=True)
class Vector:
    parts: tuple[Operand, ...]


@dataclass(frozen=True)
class Place:
    """``[base+offset]``."""

    base: Operand
    offset: int


@dataclass(frozen=True)
class Tensor:
    """``[base, {coordinates}]``: a box of the tensor whose descriptor is at `base`."""

    base: Operand
    coordinates: Operand


Operand = Register | Immediate | Symbol | Vector | Place | Tensor


@dataclass(frozen=True)
class Statement:
    """An instruction, which lanes execute where `guard` holds, or does not hold if that is `negated`."""

    call: Call
    operands: tuple[Operand, ...]
    guard: Register | None = None
    negated: bool = False


@dataclass
class Function:
    """Statements, and the number of the one behind each label; bytes of local memory of a thread."""

    parameters: list[str]
    results: list[str]
    statements: list[Statement] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, list[str]] = field(default_factory=dict)
    """Labels that an indexed branch may go to, by the name of their list."""
    local: int = 0


@dataclass(frozen=True)
class Program:
    functions: dict[str, Function]
    arrays: dict[str, np.ndarray]


def parse(text: str) -> Program:
    """Return the functions with code. Raises MachineFault."""
    bare = re.sub(r"//[^\n]*|/\*.*?\*/|^\s*\.(?:loc|file)\b[^\n]*", "", text, flags=re.DOTALL | re.MULTILINE)
    functions = {}
    for found in _FUNCTION.finditer(bare):
        results, name, parameters = found.group(2) or "", found.group(3), found.group(4)
        function = Function(_names(parameters), _names(results))
        _Body(function).read(_block(bare, found.end()))
        functions[name] = function
    return Program(functions, dict(map(_array, _ARRAY.finditer(bare))))


def _names(parameters: str) -> list[str]:
    return [part.split()[-1].partition("[")[0] for part in parameters.split(",") if part.strip()]


def _array(found: re.Match[str]) -> tuple[str, np.ndarray]:
    numbers = [int(part) for part in found.group(3).split(",")]
    return found.group(2), np.array(numbers, f"u{int(found.group(1)) // 8}")


def _block(text: str, start: int) -> str:
    """Return the text up to the brace that closes what was opened in front of `start`."""
    depth = 1
    for found in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if found.group() == "{" else -1
        if not depth:
            return text[start : found.start()]
    raise MachineFault("the PTX of a function does not end")


class _Body:
    """Reads the body of a function; `declared` are the bits of registers by name, or by what stands before a number."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.declared = {"_": 0}

    def read(self, text: str) -> None:
        for part in _with_own_labels(text).split(";"):
            statement = re.sub(r"^[\s{}]+", "", part)
            name = ""
            while label := _LABEL.match(statement):
                name = label.group(1)
                self.function.labels[name] = len(self.function.statements)
                statement = re.sub(r"^[\s{}]+", "", statement[label.end() :])
            if statement.startswith(".branchtargets"):
                self.function.targets[name] = re.findall(r"[$\w]+", statement.removeprefix(".branchtargets"))
            elif statement.strip():
                self._statement(" ".join(statement.split()))

    def _statement(self, text: str) -> None:
        if text.startswith(".reg"):
            bits, names = text.removeprefix(".reg").split(None, 1)
            for name in names.split(","):
                self.declared[name.split("<")[0].strip()] = int(_BITS.fullmatch(bits)[1] or 1)  # type: ignore[index]
        elif local := _LOCAL.match(text):
            self.function.local = int(local.group(1))
        elif not text.startswith("."):
            found = _STATEMENT.fullmatch(text)
            if found is None:
                raise MachineFault(f"the machine cannot read the PTX '{text}'")
            negated, guard, name, rest = found.groups()
            operands = tuple(self._operand(part) for part in _split(rest))
            register = None if guard is None else self._register(guard)
            self.function.statements.append(Statement(Call.parse(name), operands, register, bool(negated)))

    def _operand(self, text: str) -> Operand:
        text = text.strip()
        if text.startswith(("{", "(")):
            return Vector(tuple(self._operand(part) for part in _split(text[1:-1])))
        if "|" in text:
            return Vector(tuple(self._operand(part) for part in text.split("|")))
        if text.startswith("[") and "," in text:
            return Tensor(*(self._operand(part) for part in _split(text[1:-1])))
        if text.startswith("["):
            base, _, offset = text[1:-1].replace(" ", "").partition("+")
            return Place(self._operand(base), int(offset or "0", 0))
        if number := _IMMEDIATE.fullmatch(text):
            decimal, *others = number.groups()
            digits = next((int(part, 16) for part in others if part is not None), 0)
            return Immediate(digits if decimal is None else int(decimal))
        return (
            Symbol(text)
            if _SPECIAL.fullmatch(text)
            else self._register(text)
            if self._is_register(text)
            else Symbol(text)
        )

    def _is_register(self, name: str) -> bool:
        return name in self.declared or name.rstrip("0123456789") in self.declared

    def _register(self, name: str) -> Register:
        bits = self.declared.get(name)
        return Register(name, self.declared[name.rstrip("0123456789")] if bits is None else bits)


def _with_own_labels(text: str) -> str:
    """Rename the labels within braces, where each block has its own."""
    numbers = itertools.count()

    def renamed(found: re.Match[str]) -> str:
        block, number = found.group(), next(numbers)
        for label in _LABEL_IN_BLOCK.findall(block):
            block = re.sub(rf"\b{label}\b", f"{label}__{number}", block)
        return block

    return re.sub(r"\{[^{}]*\}", renamed, text)


def _split(text: str) -> list[str]:
    """Return the operands between commas outside brackets of all kinds."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "{([") - (letter in "})]")
        if letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [part for part in [*parts, text[start:]] if part.strip()]
