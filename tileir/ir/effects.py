"""Declarations of what an operation does beside computing its results: to memory, to order, to the host.

    class LoadPtr(Op, name="load_ptr_tko", opcode=0x3D, traits=(reads("source", result="result", mask="mask"), ...)):

Every operation that stands in a body says what it does, in exactly one way: `PURE`, `NO_MEMORY_EFFECT`, `TERMINATOR`,
`RECURSIVE_EFFECTS` or `CALLEE_EFFECTS`, one of the effects below, or an access.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import partial

from tileir.ir.traits import Trait


class Effect(enum.Flag):
    """Effects of an operation beside its results; several for one with regions."""

    NONE = 0
    READ = enum.auto()
    """Reads memory."""
    WRITE = enum.auto()
    """Writes memory."""
    UPDATE = enum.auto()
    """Reads and writes each element of memory as one step."""
    ALLOCATE = enum.auto()
    """Takes memory, until the region around is left."""
    FENCE = enum.auto()
    """Orders accesses, and makes none."""
    WAIT = enum.auto()
    """Waits for another kernel, and makes visible what that has stored."""
    SIGNAL = enum.auto()
    """Lets another kernel start; orders nothing."""
    PRINT = enum.auto()
    """Writes to the output of the launch."""
    HOST = enum.auto()
    """Runs code of the host, which may do anything."""
    STOP = enum.auto()
    """May end the launch with an error that the program asks for."""
    PROMISE = enum.auto()
    """A promise to the compiler: undefined where it does not hold."""
    OPAQUE = enum.auto()
    """Hides a value's properties from the compiler."""


@dataclass(frozen=True)
class EffectTrait(Trait):
    """The operation has this effect; not where the boolean attribute `unless` is set."""

    effect: Effect = Effect.NONE
    unless: str = ""


ALLOCATES = EffectTrait("allocates", Effect.ALLOCATE)
FENCES = EffectTrait("fences", Effect.FENCE)
WAITS = EffectTrait("waits", Effect.WAIT)
SIGNALS = EffectTrait("signals", Effect.SIGNAL)
PRINTS = EffectTrait("prints", Effect.PRINT)
MAY_STOP = EffectTrait("may stop", Effect.STOP)
PROMISES = EffectTrait("promises", Effect.PROMISE)
HIDES = EffectTrait("hides", Effect.OPAQUE)


def calls_host(unless: str = "") -> EffectTrait:
    """Declare an operation that runs code of the host, unless that is pure, as the attribute `unless` says where there
    is one."""
    return EffectTrait("calls the host", Effect.HOST, unless)


CALLEE_EFFECTS = Trait("effects of the callee")
"""Has the effects of the function that it calls, which the attribute `callee` names."""


@dataclass(frozen=True)
class AccessTrait(EffectTrait):
    """The operation accesses the memory that the operand `through` leads to.

    That is a tile of pointers, a tile view or a tensor view. The other fields name operands and results, and are empty
    where an operation has none such: `value` is stored or combined; `expected` decides whether it is; `result` is what
    was found in memory; `padding` stands for what is not read; `indices` say which tile of a view. Where there are
    `rows`, they are the index of the dimension that the attribute `dim` names, and `indices` those of the others.
    `replicated`: the access goes to memory on each of several GPUs.
    """

    through: str = ""
    value: str = ""
    result: str = ""
    expected: str = ""
    mask: str = ""
    padding: str = ""
    indices: str = ""
    rows: str = ""
    replicated: bool = False


reads = partial(AccessTrait, "reads", Effect.READ, "")
"""``reads("source", result="result", mask="mask")``: loads from memory."""
writes = partial(AccessTrait, "writes", Effect.WRITE, "")
"""``writes("destination", value="value", mask="mask")``: stores in memory."""
updates = partial(AccessTrait, "updates", Effect.UPDATE, "")
"""``updates("pointers", value="arg", result="result")``: combines with memory, each element as one step."""
