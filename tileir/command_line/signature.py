"""The parameters of a kernel, and a command that launches it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tileir.analysis.effects import effects_of
from tileir.analysis.evaluation import Program
from tileir.analysis.extents import Extent
from tileir.analysis.footprint import Footprint, footprints
from tileir.analysis.symbols import StorageKind
from tileir.ir import types as t
from tileir.ir.attributes import Bounded, DivBy
from tileir.ir.effects import Effect
from tileir.ir.escaping import shown
from tileir.ops.core import GetTileBlockId
from tileir.ops.misc import Assume
from tileir.runtime.arguments import Parameter
from tileir.runtime.module import Kernel

_EXTENT = 64
"""Value of integers in the suggested command; they are mostly extents and strides."""
_ELEMENTS = 1024
"""Elements of an array about which the analysis says nothing."""
_MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Described:
    """A parameter: what is passed for it, and what the kernel does with it."""

    parameter: Parameter
    argument: str
    uses: tuple[str, ...]

    @property
    def name(self) -> str:
        return shown(self.parameter.name)


class Signature:
    """The parameters of `kernel`."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def text(self) -> str:
        """The kernel as one line: ``@scale(x: tile<ptr<f32>>, factor: tile<f32>)``."""
        parameters = ", ".join(one.text for one in self.kernel.parameters)
        return f"@{shown(self.kernel.name)}({parameters})"

    @cached_property
    def parameters(self) -> list[Described]:
        """The parameters in order."""
        return [Described(one, self._argument(one), self._uses(one)) for one in self.kernel.parameters]

    @property
    def words(self) -> list[str]:
        """Arguments for a command line that launches one tile block."""
        return [f"{described.parameter.name}={self._word(described.parameter)}" for described in self.parameters]

    def command(self, verb: str, program: Sequence[str], several: bool) -> str:
        """Return a command to copy, with the words that name the program; `several`: it has other kernels too."""
        kernel = ["--kernel", self.kernel.name] if several else []
        return shown(shlex.join(["tileir", verb, *program, *kernel, "--grid", "1", *self.words]), 4000)

    @property
    def axes(self) -> str:
        """The axes of the grid that the kernel looks at."""
        results = {value for op in self.kernel.entry.walk() if isinstance(op, GetTileBlockId) for value in op.results}
        used = {value.index for op in self.kernel.entry.walk() for value in op.operands if value in results}
        return ", ".join("xyz"[axis] for axis in sorted(used)) or "none"

    @property
    def effects(self) -> list[str]:
        """Return the effects of a launch besides computing."""
        found = effects_of(self.kernel.entry)
        words = {Effect.PRINT: "prints", Effect.STOP: "may stop with a message", Effect.HOST: "calls the host"}
        return [text for effect, text in words.items() if found & effect]

    # ------------------------------------------------------------ parameters

    def _argument(self, parameter: Parameter) -> str:
        element = parameter.element
        if element is None:
            return f"a {parameter.type!r}, which a launch cannot pass"
        if parameter.pointee is not None:
            return f"an array of {element.name}"
        return "true or false" if element is t.I1 else f"a number, {element.name}"

    def _uses(self, parameter: Parameter) -> tuple[str, ...]:
        accesses = [one for one, _ in self._accesses if _parameter_of(one) == parameter.index]
        verbs = [("read", any(one.reads for one in accesses)), ("written", any(one.writes for one in accesses))]
        return (*(verb for verb, holds in verbs if holds), *self._promises(parameter))

    def _promises(self, parameter: Parameter) -> list[str]:
        argument = self.kernel.entry.body.args[parameter.index]
        assumed = [op.predicate for op in self.kernel.entry.body.ops if isinstance(op, Assume) and op.value is argument]
        return [text for predicate in assumed if (text := _promise_text(predicate))]

    # ------------------------------------------------------------ the command

    def _word(self, parameter: Parameter) -> str:
        element = parameter.element
        if element is None:
            return "?"
        if parameter.pointee is None:
            return "1.0" if element.is_float else "true" if element is t.I1 else str(_EXTENT)
        fill = "rand" if element.is_float else "zeros"
        return f"{element.name}[{self._elements(parameter, element)}]:{fill}"

    def _elements(self, parameter: Parameter, element: t.ElementType) -> int:
        """Return the number of elements that an array needs for one tile block, as far as it can be told."""
        needed = [extent for one, extent in self._accesses if _parameter_of(one) == parameter.index]
        known = [extent.high for extent in needed if isinstance(extent, Extent)]
        if not known or len(known) < len(needed) or not 0 < max(known) <= _MOST_BYTES:
            return _ELEMENTS
        return max(known) * 2 if element is t.F4E2M1FN else max(known) // element.byte_size

    @cached_property
    def _accesses(self) -> list[tuple[Footprint, object]]:
        """The accesses of the kernel, each with its extent in a launch of one tile block."""
        found = footprints(self.kernel.entry)
        return list(zip(found, Program(found).extents([_guess(one) for one in self.kernel.parameters], (1, 1, 1))))


def _guess(parameter: Parameter) -> int | None:
    element = parameter.element
    return _EXTENT if element is not None and element.is_int and parameter.pointee is None else None


def _parameter_of(footprint: Footprint) -> int | None:
    storage = footprint.storage
    return storage.number if storage is not None and storage.kind is StorageKind.PARAMETER else None


def _promise_text(predicate: object) -> str | None:
    if isinstance(predicate, DivBy) and predicate.every is None:
        return f"multiple of {predicate.divisor}"
    if isinstance(predicate, Bounded):
        low = "" if predicate.lower is None else f"{predicate.lower} <= "
        high = "" if predicate.upper is None else f" <= {predicate.upper}"
        return f"{low}it{high}"
    return None
