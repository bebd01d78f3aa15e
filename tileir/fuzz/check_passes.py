"""Passes checked as they run: the program before and after on generated inputs."""

from __future__ import annotations

from collections.abc import Mapping

from tileir.fuzz.comparing import MAX_ITERATIONS, Comparison, compare
from tileir.fuzz.trials import Trial, trials
from tileir.host.printing import ignored
from tileir.passes.rebuilding import Exactness
from tileir.passes.running import Step
from tileir.runtime.module import Kernel, Module
from tileir.sanitize.launch import sanitize

TRIALS = 9
"""Inputs for each kernel and step."""


class WrongRewrite(Exception):
    """A pass changed what a kernel does."""

    def __init__(self, step: Step, kernel: str, what: str) -> None:
        rows = ", ".join(dict.fromkeys(change.row.name for change in step.changes))
        super().__init__(f"pass '{step.name}' changed what @{kernel} does, by the rows {rows}: {what}")


class Checking:
    """Called after every pass; compares the programs that a pass changed. `compared` counts launches."""

    def __init__(self, known: Mapping[str, object] | None = None, count: int = TRIALS) -> None:
        self.known = known or {}
        self.count = count
        self.compared = self.undefined = 0

    def __call__(self, step: Step) -> None:
        """Compare a step. Raises `WrongRewrite`. Steps that may change rounding, or that changed nothing, are not
        compared."""
        if step.after is step.before or any(change.row.kind is Exactness.ROUNDING for change in step.changes):
            return
        before, after = Module.of(step.before), Module.of(step.after)
        for name, kernel in before.kernels.items():
            inputs = list(trials(kernel, self.count, known=self.known))
            self._check(step, kernel, after[name], inputs)

    def _check(self, step: Step, before: Kernel, after: Kernel, inputs: list[Trial]) -> None:
        found: Comparison = compare(before, after, inputs)
        self.compared += found.compared
        self.undefined += found.undefined
        if found.difference is not None:
            raise WrongRewrite(step, before.name, str(found.difference))
        for trial in inputs[:1]:
            self._sanitize(step, before, after, trial)

    def _sanitize(self, step: Step, before: Kernel, after: Kernel, trial: Trial) -> None:
        """Check that the sanitizer has no new findings."""
        first, second = (
            sanitize(one, trial.grid, *trial.arguments, copy=True, output=ignored, max_iterations=MAX_ITERATIONS)
            for one in (before, after)
        )
        if first.ok and not second.ok:
            raise WrongRewrite(step, before.name, f"the sanitizer finds what it does not find before\n{second}")
