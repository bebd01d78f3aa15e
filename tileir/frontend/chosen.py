"""The target of Triton's kernels and its options, kept by the driver."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from tileir.cuda_as_cpu import was_asked_for
from tileir.frontend.children import Choice, exported_to_children
from tileir.frontend.dumping import Dump
from tileir.frontend.sanitizing import SanitizerSession
from tileir.runtime.module import Target, TargetName, target_named
from tileir.runtime.options import Check, LaunchOptions

DEFAULT: TargetName = "cpu"
"""The target of kernels where none is named."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The target of kernels and its options. `told` is called with the name of each kernel before its launch; `dump`
    keeps each kernel's code."""

    target: Target
    check: Check = True
    options: LaunchOptions = field(default_factory=LaunchOptions)
    session: SanitizerSession | None = None
    told: Callable[[str], object] | None = None
    dump: Dump | None = None
    children: bool = False
    """True if Python processes started while this is chosen choose the same."""
    _until_end: ExitStack = field(default_factory=ExitStack)

    def begin(self) -> None:
        if self.children:
            folder = None if self.session is None else self.session.folder
            choice = Choice(self.target.name, was_asked_for(), self.check, self.options, folder)
            self._until_end.enter_context(exported_to_children("triton", choice))
        if self.session is not None:
            self.session.poisoned_memory.install()
            self._until_end.callback(self.session.poisoned_memory.remove)

    def end(self) -> None:
        self._until_end.close()


def usual() -> Chosen:
    """Return native code, with the usual checks."""
    return Chosen(target_named(DEFAULT))
