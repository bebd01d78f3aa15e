"""``tileir.equiv``: whether the kernels of two programs do the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tileir.fuzz.algebraic import algebraic as with_integers
from tileir.fuzz.comparing import Comparison, Difference, compare
from tileir.fuzz.trials import Trial
from tileir.fuzz.trials import trials as generated
from tileir.ir import core
from tileir.ir.escaping import shown, shown_html
from tileir.runtime.module import Kernel, Module, target_named
from tileir.sanitize.proofs.smt import INSTALLED
from tileir.text.printer import to_text

TRIALS = 24


class NotComparable(ValueError):
    """Programs whose entries do not go together."""


@dataclass(frozen=True)
class KernelEquivalence:
    """The verdict on two kernels: `proved` for all inputs, or the outcome of launches."""

    name: str
    comparison: Comparison
    proved: bool

    @property
    def ok(self) -> bool:
        """Whether they are equal as far as was looked."""
        return self.proved or self.comparison.equal

    @property
    def difference(self) -> Difference | None:
        """The first difference that was found, and its inputs."""
        return self.comparison.difference

    def __str__(self) -> str:
        return f"@{shown(self.name)}: {'equal: proved for all inputs' if self.proved else self._launches()}"

    def _launches(self) -> str:
        found = self.comparison
        if found.difference is not None:
            return f"different: {found.difference}"
        left = f", {found.undefined} without a defined result" if found.undefined else ""
        if not found.compared:
            return f"nothing compared{left}; give a launch with --grid and arguments"
        return f"equal on {found.compared} {'launch' if found.compared == 1 else 'launches'}{left}"


@dataclass(frozen=True)
class EquivalenceReport:
    """The verdicts on the kernels of two programs, one for each pair. Notebooks show it in colour."""

    kernels: tuple[KernelEquivalence, ...]

    @property
    def ok(self) -> bool:
        """Whether all are equal as far as was looked."""
        return all(one.ok for one in self.kernels)

    def __iter__(self) -> Iterator[KernelEquivalence]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __str__(self) -> str:
        return "\n".join(map(str, self.kernels))

    def _repr_html_(self) -> str:
        return shown_html(str(self))


def equiv(
    first: Module,
    second: Module,
    *,
    kernel: str | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    ulps: int = 0,
    algebraic: bool = False,
    target: str = "interp",
) -> EquivalenceReport:
    """Compare two programs on generated inputs, bit for bit; straight-line programs for all inputs, with a solver.

    Parameters
    ----------
    first, second : Module
        The programs. What has no defined result in the first says nothing.
    kernel : str or None
        The entry to compare; None: every entry of the first, or the only ones of both.
    trials : int
        Number of inputs for each entry.
    seed : int
        The seed of what is generated.
    ulps : int
        Units in the last place by which floats may differ.
    algebraic : bool
        Whether integers modulo 2^32 take the place of floats, so that sums may be taken in any order.
    target : str
        Where to run.

    Returns
    -------
    EquivalenceReport
        A verdict for each entry; ``report.ok`` if all are equal.

    Raises
    ------
    DiagnosticError
        If a program is not valid.
    ValueError
        For an entry that is not in both, other parameters, or numbers that are negative.
    """
    if trials < 1 or seed < 0 or ulps < 0:
        raise ValueError(f"expected trials >= 1, seed >= 0 and ulps >= 0, got {trials}, {seed} and {ulps}")
    first, second = comparable(first, algebraic), comparable(second, algebraic)
    name = target_named(target).name
    pairs = list(paired(first, second, kernel))
    return EquivalenceReport(tuple(compared(*pair, generated(pair[0], trials, seed), name, ulps) for pair in pairs))


def comparable(module: core.Module, algebraic: bool) -> Module:
    """Return a valid program, on request with integers in place of floats. Raises `DiagnosticError`."""
    made = module if isinstance(module, Module) else Module.of(module)
    made.require_valid()
    return Module.of(with_integers(made)) if algebraic else made


def paired(first: Module, second: Module, name: str | None) -> Iterator[tuple[Kernel, Kernel]]:
    """Yield the entries to compare: those of one name, or the only ones. Raises `NotComparable`."""
    if len(first.kernels) == len(second.kernels) == 1 and name is None:
        pairs = [(*first.kernels.values(), *second.kernels.values())]
    else:
        names = list(first.kernels) if name is None else [name.removeprefix("@")]
        missing = [one for one in names if one not in first.kernels or one not in second.kernels]
        if missing or not names:
            raise NotComparable(f"no entry @{missing[0] if missing else ''} in both programs")
        pairs = [(first.kernels[one], second.kernels[one]) for one in names]
    for one, other in pairs:
        if [p.type for p in one.parameters] != [p.type for p in other.parameters]:
            raise NotComparable(f"@{one.name}: the parameters of the two programs differ")
        yield one, other


def compared(one: Kernel, other: Kernel, inputs: Iterable[Trial], target: str, ulps: int) -> KernelEquivalence:
    """Return the verdict on two kernels: launches on `inputs`, then a proof: they are one program, or a solver that is
    installed finds one."""
    found = compare(one, other, inputs, target, ulps, refine=True)
    return KernelEquivalence(one.name, found, found.difference is None and _proved(one, other))


def _proved(first: Kernel, second: Kernel) -> bool:
    if first.name == second.name and to_text(first.module) == to_text(second.module):
        return True
    if not INSTALLED:
        return False
    from tileir.fuzz.proving import proved_equal

    return proved_equal(first.entry, second.entry)
