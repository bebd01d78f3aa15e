"""Switching cuTile to a tileir target and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tileir.cutile.errors import FIRST_COLUMN
from tileir.cutile.launch import LaunchReplacement, installed
from tileir.frontend.child_findings import FindingsFolder
from tileir.frontend.chosen import DEFAULT, Chosen, target_of
from tileir.frontend.dumping import Dump
from tileir.frontend.sanitizing import SanitizerSession
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.usage import pip_install
from tileir.runtime.module import Target, TargetName
from tileir.runtime.options import check_level

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tileir.runtime.options import Check, LaunchOptions
    from tileir.sanitize.launch import SanitizerOptions


def enable(
    target: TargetName | str = DEFAULT,
    *,
    gpu: bool = True,
    children: bool | None = None,
    sanitize: bool | SanitizerOptions | FindingsFolder = False,
    check: Check = True,
    instead: Target | None = None,
    told: Callable[[str], object] | None = None,
    dump: Dump | None = None,
    **options: Unpack[LaunchOptions],
) -> SanitizerSession | None:
    """Let `cuda.tile.launch` run kernels on `target`, from now on and wherever it has been imported already.

    Launches on arrays of a GPU that the target does not use go to the library as before, or, with ``gpu=False``, raise
    ValueError. With ``children`` Python processes that are started while it is enabled use the target too; they do what
    they did before if it is None. With ``sanitize``, which takes target ``interp``, kernels run under the sanitizer,
    and the session that is given has the report; instead of True it may be ``checks``, ``schedules`` and ``seed`` as a
    dictionary, or in a child process what its parent hands on. With ``instead`` kernels of this process run on that
    target, which is not one of those with a name. ``check`` and ``options`` are those of a launch on the
    target: ``threads``, ``output``, ... `told` is called with the name of each kernel before its launch; `dump` keeps
    each kernel's code.

    Raises `UnsupportedError` if the target or cuda-tile is not there, ValueError for a `check` that there is not.
    """
    session, before = SanitizerSession.of(target, sanitize, FIRST_COLUMN), installed()
    used = target_of(target, session, instead)
    children = before is not None and before.chosen.children if children is None else children
    chosen = Chosen("cutile", used, check_level(check), options, session, told, dump, children)
    try:
        launcher = LaunchReplacement(chosen, gpu)
    except ImportError as error:
        what = f"needs the package cuda-tile ({pip_install('cutile')}): {error}"
        raise UnsupportedError(what, target) from error
    launcher.install()
    return session


def disable() -> None:
    """Give `cuda.tile.launch` back to the library. Does nothing if no target is enabled."""
    launcher = installed()
    if launcher is not None:
        launcher.remove()


@contextmanager
def on(
    target: TargetName | str = DEFAULT,
    *,
    gpu: bool = True,
    children: bool | None = None,
    sanitize: bool | SanitizerOptions = False,
    check: Check = True,
    instead: Target | None = None,
    told: Callable[[str], object] | None = None,
    dump: Dump | None = None,
    **options: Unpack[LaunchOptions],
) -> Iterator[SanitizerSession | None]:
    """Run launches on `target` within the block; see `enable`.

    This holds for all threads; afterwards the earlier state is restored. With ``sanitize`` the block gets a session,
    whose ``report`` has the findings of all launches so far.
    """
    before = installed()
    session = enable(
        target, gpu=gpu, children=children, sanitize=sanitize, check=check, instead=instead, told=told, dump=dump,
        **options,
    )  # fmt: skip
    try:
        yield session
    finally:
        if before is None:
            disable()
        else:
            before.install()
