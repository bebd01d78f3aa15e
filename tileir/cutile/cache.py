"""Specialised kernels, kept as long as the kernel they were made from.

One Python kernel becomes many entries, one for each key of arguments (`cutile.signature`), each made once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileir.cutile.errors import FIRST_COLUMN, with_advice
from tileir.cutile.export import exported, python_file
from tileir.cutile.keys import signature
from tileir.cutile.signature import Binding, KernelParameters
from tileir.frontend.tracebacks import at_python_line
from tileir.host.stages import first_call, stage
from tileir.ir.core import without_collection
from tileir.ir.diagnostics import DiagnosticError, Trap
from tileir.runtime.arguments import read_only
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel, Run, Target
from tileir.runtime.options import Check, LaunchOptions

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel


@dataclass(frozen=True)
class Specialisation:
    """An entry made ready for a target. `prepared` makes it ready once more, for options of one launch."""

    file: str
    entry: Kernel
    usual: Run
    prepared: Callable[[LaunchOptions], Run]

    def run(self, grid: Grid, binding: Binding, options: LaunchOptions) -> None:
        if binding.read_only:
            self._require_unwritten(binding)
        run = self.prepared(options) if options else self.usual
        try:
            run(grid, binding.arguments)
        except Trap as trap:
            raise at_python_line(trap, self.file, FIRST_COLUMN) from None

    def _require_unwritten(self, binding: Binding) -> None:
        for place, position in binding.read_only:
            refused = read_only(self.entry.writes, position)
            if refused is not None:
                raise place.error(ValueError, *refused)


class Specialisations:
    """The specialisations of one Python kernel for one target with its options."""

    def __init__(self, kernel: TileKernel, target: Target, check: Check, options: LaunchOptions) -> None:
        self.parameters = KernelParameters(kernel, target.devices)
        self._target, self._check, self._options = target, check, options
        self._made: dict[Hashable, Specialisation] = {}

    def find(self, kernel: TileKernel, key: tuple) -> Specialisation:
        """Return the specialisation. Raises the library's errors, `DiagnosticError` for bytecode that is no valid
        program, `UnsupportedError`."""
        found = self._made.get(key)
        if found is None:
            with without_collection(), first_call(self.parameters.kernel):
                found = self._made[key] = self._make(kernel, key)
        return found

    def _make(self, kernel: TileKernel, key: tuple) -> Specialisation:
        file = python_file(kernel)
        try:
            entry = exported(kernel, signature(key, self.parameters.kernel))
        except Exception as error:
            raise with_advice(error)  # noqa: B904 - it is the same error
        try:
            with stage("verifier"):
                entry.module.require_valid()
        except DiagnosticError as error:
            raise at_python_line(error, file, FIRST_COLUMN) from None

        def prepared(options: LaunchOptions) -> Run:
            return self._target.prepare(entry, self._check, {**self._options, **options})

        usual = prepared({})
        return Specialisation(file, entry, usual, prepared)


class SpecialisationCache:
    """The specialisations of every kernel for one target with its options.

    They are kept on the kernel object, as the library keeps its own, and go when it goes.
    """

    _ATTRIBUTE = "_tileir_specialisations"

    def __init__(self, target: Target, check: Check, options: LaunchOptions) -> None:
        self._target, self._check, self._options = target, check, options
        self._key = (target, check, *sorted(options.items()))

    def of(self, kernel: TileKernel) -> Specialisations:
        kept: dict[object, Specialisations] | None = vars(kernel).get(self._ATTRIBUTE)
        found = None if kept is None else kept.get(self._key)
        return self._first(kernel) if found is None else found

    def _first(self, kernel: TileKernel) -> Specialisations:
        kept: dict[object, Specialisations] = vars(kernel).setdefault(self._ATTRIBUTE, {})
        return kept.setdefault(self._key, Specialisations(kernel, self._target, self._check, self._options))
