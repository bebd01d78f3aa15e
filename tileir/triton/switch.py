"""Switching Triton's kernels to another target than native code, and back.

The choice is an attribute of Triton's driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tileir.frontend.child_findings import FindingsFolder
from tileir.frontend.chosen import DEFAULT, Chosen, target_of
from tileir.frontend.dumping import Dump
from tileir.frontend.sanitizing import SanitizerSession
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.usage import pip_install
from tileir.runtime.arrays import CPU
from tileir.runtime.module import Target, TargetName
from tileir.runtime.options import Check, LaunchOptions, check_level

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tileir.sanitize.launch import SanitizerOptions
    from tileir.triton.driver import CpuDriver


def enable(
    target: TargetName | str = DEFAULT,
    *,
    children: bool | None = None,
    sanitize: bool | SanitizerOptions | FindingsFolder = False,
    check: Check = True,
    instead: Target | None = None,
    told: Callable[[str], object] | None = None,
    dump: Dump | None = None,
    **options: Unpack[LaunchOptions],
) -> SanitizerSession | None:
    """Run Triton's kernels on `target` from now on, instead of a GPU if there is one.

    With ``children`` Python processes that are started while it is enabled use the target too; None keeps the present
    choice. With ``sanitize``, which takes target ``interp``, kernels run under the sanitizer, and the returned session
    has the report; instead of True it may be a dictionary of ``checks``, ``schedules`` and ``seed``, or in a child
    process its `FindingsFolder`. With ``instead`` kernels of this process run on that target, which is not one of those
    with a name. ``check`` and ``options`` are those of a launch on the target: ``threads``, ``output``, ... `told` is
    called with the name of each kernel before its launch; `dump` keeps each kernel's code.

    Raises `UnsupportedError` if the target or triton is missing, ValueError for an unknown `check`.
    """
    session = SanitizerSession.of(target, sanitize)
    used = target_of(target, session, instead)
    if CPU not in used.devices:
        raise UnsupportedError(
            "Triton's kernels run here on the memory of this process: expected cpu or interp", target
        )
    driver = _driver(target)
    children = driver.chosen.children if children is None else children
    driver.choose(Chosen("triton", used, check_level(check), options, session, told, dump, children))
    return session


def _driver(target: str) -> CpuDriver:
    """Return Triton's driver for the CPU, which becomes the active one."""
    try:
        from triton.runtime import driver as drivers

        from tileir.triton.driver import CpuDriver
    except ImportError as error:
        raise UnsupportedError(f"needs the package triton ({pip_install('triton')}): {error}", target) from error
    driver = active()
    if driver is None:
        driver = CpuDriver()
        drivers.set_active(driver)
    return driver


def active() -> CpuDriver | None:
    """Return Triton's driver, if that is the one for the CPU."""
    from triton.runtime import driver as drivers

    from tileir.triton.driver import CpuDriver

    try:
        return drivers.active if isinstance(drivers.active, CpuDriver) else None
    except RuntimeError:  # several are active, or none
        return None


def disable() -> None:
    """Let kernels run as native code again; where there is a GPU, on that."""
    from triton.runtime import driver as drivers

    from tileir.triton.driver import CpuDriver

    driver = active()
    if driver is not None:
        driver.choose(driver.usual())
        if not CpuDriver.is_active():
            drivers.reset_active()


def enabled() -> str | None:
    """Return the target that Triton's kernels run on; None where that is a GPU of Triton's own."""
    driver = active()
    return None if driver is None else driver.chosen.target.name


@contextmanager
def on(
    target: TargetName | str = DEFAULT,
    *,
    children: bool | None = None,
    sanitize: bool | SanitizerOptions = False,
    check: Check = True,
    instead: Target | None = None,
    told: Callable[[str], object] | None = None,
    dump: Dump | None = None,
    **options: Unpack[LaunchOptions],
) -> Iterator[SanitizerSession | None]:
    """Run launches on `target` within the block; see `enable`. This holds for all threads; afterwards they run
    where they ran before.

    With ``sanitize`` the block is given a session, whose ``report`` has the findings of all launches so far.
    """
    before = active()
    chosen = None if before is None else before.chosen
    session = enable(
        target, children=children, sanitize=sanitize, check=check, instead=instead, told=told, dump=dump, **options
    )
    try:
        yield session
    finally:
        if before is None or chosen is None:
            disable()
        else:
            before.choose(chosen)
