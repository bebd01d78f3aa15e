"""A pytest plugin: ``pytest -p tileir.cutile`` runs the kernels of a test suite on a tileir target.

Knows: pytest's hooks and the options it adds. Does not know: what they switch on (`switch`, `shim`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir.ir.diagnostics import UnsupportedError

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    from tileir.cutile.switch import DEFAULT

    group = parser.getgroup("tileir", "cuTile kernels on a tileir target")
    group.addoption("--tileir-target", default=DEFAULT, metavar="TARGET", help=f"where to run (default: {DEFAULT})")
    group.addoption("--cuda-as-cpu", action="store_true", help="let code that asks for CUDA use the CPU")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported."""
    import pytest

    from tileir.cutile.shim import cuda_as_cpu
    from tileir.cutile.switch import enable

    if config.getoption("--cuda-as-cpu"):
        cuda_as_cpu()
    try:
        enable(config.getoption("--tileir-target"))
    except UnsupportedError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_report_header(config: pytest.Config) -> str:
    return f"cuTile kernels run on tileir target '{config.getoption('--tileir-target')}'"


def pytest_unconfigure(config: pytest.Config) -> None:
    from tileir.cutile.switch import disable

    disable()
