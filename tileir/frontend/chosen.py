"""The target of a front end's kernels and its options, from when they are chosen until others are."""

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
    """The target of the kernels of `front_end`, and its options."""

    front_end: str
    target: Target
    check: Check = True
    options: LaunchOptions = field(default_factory=LaunchOptions)
    session: SanitizerSession | None = None
    """Set if kernels run under the sanitizer."""
    told: Callable[[str], object] | None = None
    """Is called with the name of each kernel before its launch."""
    dump: Dump | None = None
    """Keeps each kernel's code."""
    children: bool = False
    """True if Python processes started while this is chosen choose the same."""
    _until_end: ExitStack = field(default_factory=ExitStack)

    def begin(self) -> None:
        if self.children:
            folder = None if self.session is None else self.session.folder
            choice = Choice(self.target.name, was_asked_for(), self.check, self.options, folder)
            self._until_end.enter_context(exported_to_children(self.front_end, choice))
        if self.session is not None:
            self.session.poisoned_memory.install()
            self._until_end.callback(self.session.poisoned_memory.remove)

    def end(self) -> None:
        self._until_end.close()


def target_of(name: str, session: SanitizerSession | None, instead: Target | None) -> Target:
    """Return the target that kernels run on: that of a session, one without a name, or the one of this name.

    Raises `UnsupportedError` for a target that does not exist.
    """
    return instead or (target_named(name) if session is None else session.target)
