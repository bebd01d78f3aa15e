"""Runs pieces of text on the reference interpreter, for tests: functions on values, entries on arrays."""

from __future__ import annotations

import numpy as np

from tileir.host.allocation import Allocation, Runs
from tileir.interp import machine
from tileir.interp.api import BlockState, LaunchState, Options
from tileir.interp.memory import Memory
from tileir.interp.prepare import UNOBSERVED, Linker, Preparation
from tileir.ir.storage import dtype_of
from tileir.ir.types import PointerType
from tileir.ops.calls import Func
from tileir.ops.module import Entry, Global
from tileir.text.parser import parse
from tileir.verify import verify


def checked(text):
    """The program, which must be legal."""
    module = parse(text)
    verify(module).raise_if_errors()
    return module


def memory_of(arrays, module=None):
    """The arrays as the memory of a launch, with the module's globals."""
    memory = Memory()
    for name, array in arrays.items():
        memory.add(_allocation(name, array))
    for item in module.items if module else ():
        if isinstance(item, Global):
            array = np.frombuffer(item.value.data, dtype_of(item.value.type.element)).copy()
            memory.add(_allocation(item.sym_name, array))
            memory.globals[item.sym_name] = _address(array)
    return memory


def _address(array):
    return array.__array_interface__["data"][0]


def _allocation(name, array):
    return Allocation(name, _address(array), (Runs(0, array.nbytes),), keep=array)


def evaluate(text, *values, verified=True, **options):
    """Results of device function @f of the program for these values: a value, or a tuple of several."""
    options = Options(**options)
    module = checked(text) if verified else parse(text)
    op = next(item for item in module.items if isinstance(item, Func) and item.sym_name == "f")
    function = Linker(module, machine.TABLES, options.strict, Preparation, UNOBSERVED).prepare(op)
    launch = LaunchState("f", (1, 1, 1), memory_of({}, module), options)
    flow = function.body.run(function.frame(values), BlockState((0, 0, 0), launch))
    with np.errstate(all="ignore"):
        results = _drained(flow).values
    return results[0] if len(results) == 1 else results


def _drained(flow):
    try:
        while True:
            next(flow)
    except StopIteration as stop:
        return stop.value


def function(parameters, results, body):
    """The text of device function @f."""
    return f"experimental$func @f({parameters}) -> ({results}) {{\n{body}\n}}"


def launch(text, *arguments, grid=(1, 1, 1), **options):
    """Run the only entry of the program on arrays and numbers."""
    module = checked(text)
    entry = next(item for item in module.items if isinstance(item, Entry))
    arrays = {f"arg{k}": argument for k, argument in enumerate(arguments) if isinstance(argument, np.ndarray)}
    values = [_scalar(argument, value.type) for argument, value in zip(arguments, entry.body.args)]
    machine.run(module, entry, grid, values, memory_of(arrays, module), Options(**options))


def _scalar(argument, ty):
    if isinstance(ty.element, PointerType):
        return np.uint64(_address(argument))
    return dtype_of(ty.element).type(argument)


def printed(text, *arguments, grid=(1, 1, 1), **options):
    """Output of the only entry."""
    pieces = []
    launch(text, *arguments, grid=grid, output=pieces.append, **options)
    return "".join(pieces)
