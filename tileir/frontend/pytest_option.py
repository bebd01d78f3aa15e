"""The pytest option ``--tileir``, which an installed tileir adds: kernels of cuTile Python and Triton run on a target.

It is the same as ``-p tileir.cutile`` and ``-p tileir.triton``, of which those are taken whose library is installed.
Nothing else is imported without the option.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_FRONT_ENDS = {"tileir.cutile": "cuda.tile", "tileir.triton": "triton"}
"""The plugin of each front end, and the module that it needs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tileir", "kernels on a tileir target")
    text = "run kernels of cuTile Python and Triton on a tileir target; more options then follow in --help"
    group.addoption("--tileir", action="store_true", help=text)


def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Load the plugins of the front ends, and let them set up before anything of the suite is imported."""
    import pytest

    if not early_config.known_args_namespace.tileir:
        return
    found = [plugin for plugin, library in _FRONT_ENDS.items() if _is_there(library)]
    if not found:
        raise pytest.UsageError(f"--tileir: needs one of {', '.join(_FRONT_ENDS.values())}")
    manager = early_config.pluginmanager
    fresh = [plugin for plugin in found if not manager.hasplugin(plugin)]
    for plugin in fresh:
        manager.register(import_module(plugin), plugin)
    parser.parse_known_args(args, namespace=early_config.known_args_namespace)
    for plugin in fresh:
        import_module(plugin).pytest_load_initial_conftests(early_config)


def _is_there(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # its package is missing
        return False
