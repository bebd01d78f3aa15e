"""What is in a program: its kernels with their parameters, its globals, the version that it needs.

Knows: how that is shown, as tables and as JSON. Does not know: how it is found out (`signature`).
"""

from __future__ import annotations

import json

from tileir.cli import FINE, files, show
from tileir.cli.signature import Signature
from tileir.cli.tables import Justify
from tileir.ir.shown import shown
from tileir.ir.versions import NEWEST
from tileir.ops.calls import Func
from tileir.ops.module import Global
from tileir.runtime.module import Module
from tileir.runtime.serialisation import lowest_version

_COLUMNS: dict[str, Justify] = {"parameter": "left", "type": "left", "takes": "left", "inferred": "left"}


def show_program(file: str, as_json: bool) -> int:
    """Describe the program in a file. Raises `DiagnosticError`."""
    module = files.verified(file, NEWEST)
    if as_json:
        print(json.dumps(_as_data(module), indent=2))
        return FINE
    counts = [f"{len(module.kernels)} kernels" if len(module.kernels) != 1 else "1 kernel", *_others(module)]
    show.line(f"{files.display_name(file)}: {', '.join(counts)}; bytecode from version {lowest_version(module)} on")
    for kernel in module.kernels.values():
        _show_kernel(Signature(kernel), file, len(module.kernels) > 1)
    return FINE


def _others(module: Module) -> list[str]:
    numbers = [(sum(isinstance(item, cls) for item in module.items), name) for cls, name in _ITEMS]
    return [show.counted(number, name) for number, name in numbers if number]


_ITEMS = ((Global, "global"), (Func, "function"))


def _show_kernel(signature: Signature, file: str, several: bool) -> None:
    also = "".join(f"; {effect}" for effect in signature.effects)
    show.line(f"\n@{shown(signature.kernel.name)}: axes of the grid it looks at: {signature.axes}{also}")
    rows: list[list[str]] = [
        [one.name, repr(one.parameter.type), one.argument, ", ".join(one.uses)] for one in signature.parameters
    ]
    if rows:
        show.print_table(show.table(_COLUMNS, rows))
    show.line(f"{'' if rows else chr(10)}{signature.command('run', file, several)}")


def _as_data(module: Module) -> dict[str, object]:
    return {
        "lowest_version": lowest_version(module),
        "globals": [item.sym_name for item in module.items if isinstance(item, Global)],
        "functions": [item.sym_name for item in module.items if isinstance(item, Func)],
        "kernels": [_kernel_data(Signature(kernel)) for kernel in module.kernels.values()],
    }


def _kernel_data(signature: Signature) -> dict[str, object]:
    parameters = [
        {"name": one.parameter.name, "type": repr(one.parameter.type), "inferred": list(one.uses)}
        for one in signature.parameters
    ]
    return {
        "name": signature.kernel.name,
        "grid_axes": signature.axes.split(", ") if signature.axes != "none" else [],
        "effects": signature.effects,
        "parameters": parameters,
        "example": ["--grid", "1", *signature.words],
    }
