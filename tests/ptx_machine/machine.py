"""Blocks of warps: how a launch begins, and how warps wait for each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.ptx_machine.matrix import LANES
from tests.ptx_machine.moving import EFFECTS
from tests.ptx_machine.program import Program, parse
from tests.ptx_machine.warp import Block, Warp
from tests.ttir_machine import Allocation, MachineFault, allocation
from tests.ttir_machine.memory import Memory
from tests.ttir_machine.values import GARBAGE
from tileir.gpu.descriptors import TensorMap

_AXES = "xyz"
_ALIGNMENT = 128
_MAX_PHASES = 100_000
"""Times that the warps of a block stop, after which it counts as hanging."""


@dataclass(frozen=True)
class Kernel:
    """PTX to run: blocks of `threads`, with `shared` bytes of memory for each."""

    text: str
    name: str
    threads: int
    shared: int


Value = int | TensorMap
"""A parameter: a number without sign, or the tensor that it is the descriptor of."""


def run(kernel: Kernel, grid: Sequence[int], values: Sequence[Value], allocations: Sequence[Allocation]) -> None:
    """Run a kernel over a grid. Of parameters that are missing at the end `values` are 0. Raises MachineFault."""
    program = parse(kernel.text)
    extents = (*grid, 1, 1)[:3]
    names = program.functions[kernel.name].parameters
    parameters: dict[str, Value] = dict(itertools.zip_longest(names, values[: len(names)], fillvalue=0))
    for place in itertools.product(*map(range, reversed(extents))):
        _run_block(kernel, program, parameters, extents, place[::-1], allocations)


def _run_block(
    kernel: Kernel,
    program: Program,
    parameters: dict[str, Value],
    extents: Sequence[int],
    place: Sequence[int],
    allocations: Sequence[Allocation],
) -> None:
    shared = np.full(kernel.shared + _ALIGNMENT, GARBAGE, np.uint8)
    shared = shared[-shared.ctypes.data % _ALIGNMENT :][: kernel.shared]
    arrays = [allocation(name, array) for name, array in program.arrays.items()]
    memory = Memory([*allocations, *arrays, Allocation("shared memory", shared.ctypes.data, kernel.shared)])
    tensors = {number: value for number, value in enumerate(parameters.values(), 1) if isinstance(value, TensorMap)}
    numbers = {
        name: number if isinstance(value, TensorMap) else value
        for number, (name, value) in enumerate(parameters.items(), 1)
    }
    block = Block(program, memory, shared, {array.name: array.address for array in arrays}, numbers, tensors)
    warps = [_warp(kernel, block, extents, place, number) for number in range(-(-kernel.threads // LANES))]
    for phase in range(_MAX_PHASES):
        for warp in warps if phase % 2 == 0 else reversed(warps):
            warp.run()
        polling = [warp for warp in warps if warp.polling]
        for warp in polling:
            warp.look_again()
        if not _released(warps) and not polling:
            _require_end(warps)
            return
    raise MachineFault("a block does not end")


def _released(warps: Sequence[Warp]) -> bool:
    """Let the lanes at each complete barrier go on; return whether there are any."""
    found = False
    alive = sum(int((~warp.ended).sum()) for warp in warps)
    for barrier in {barrier for warp in warps for barrier in warp.waiting}:
        if sum(warp.arrived(barrier) for warp in warps) >= (barrier[1] or alive):
            found = True
            for warp in warps:
                warp.release(barrier)
    return found


def _require_end(warps: Sequence[Warp]) -> None:
    for warp in warps:
        if warp.waiting:
            raise MachineFault(f"warps wait for ever at the barriers {sorted(number for number, _ in warp.waiting)}")
        warp.require_end()


def _warp(kernel: Kernel, block: Block, extents: Sequence[int], place: Sequence[int], number: int) -> Warp:
    special = {"%tid.x": number * LANES + np.arange(LANES), "%ntid.x": np.full(LANES, kernel.threads)}
    special |= {f"%tid.{axis}": np.zeros(LANES) for axis in "yz"} | {f"%ntid.{axis}": np.ones(LANES) for axis in "yz"}
    special |= {f"%ctaid.{axis}": np.full(LANES, at) for axis, at in zip(_AXES, place)}
    special |= {f"%nctaid.{axis}": np.full(LANES, extent) for axis, extent in zip(_AXES, extents)}
    special["%laneid"] = np.arange(LANES)
    words = {name: found.astype(np.uint32) for name, found in special.items()}
    function = block.program.functions.get(kernel.name)
    if function is None:
        raise MachineFault(f"the PTX has no function {kernel.name}")
    return Warp(block, function, words, EFFECTS, number)
