"""Blocks of warps, and clusters of blocks: how a launch begins, and how warps wait for each other."""

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

_AXES = "xyz"
_ALIGNMENT = 128


@dataclass(frozen=True)
class Kernel:
    """PTX to run: blocks of `threads`, with `shared` bytes of memory for each; so many are a `cluster`, which is what a
    grid counts."""

    text: str
    name: str
    threads: int
    shared: int
    cluster: int = 1


def run(kernel: Kernel, grid: Sequence[int], values: Sequence[int], allocations: Sequence[Allocation]) -> None:
    """Run a kernel over a grid. `values` are the parameters as numbers without sign; of those that are missing at the
    end, 0. Raises MachineFault."""
    program = parse(kernel.text)
    extents = (*grid, 1, 1)[:3]
    names = program.functions[kernel.name].parameters
    parameters = dict(itertools.zip_longest(names, values[: len(names)], fillvalue=0))
    for place in itertools.product(*map(range, reversed(extents))):
        _run_cluster(kernel, program, parameters, extents, place[::-1], allocations)


def _run_cluster(
    kernel: Kernel,
    program: Program,
    parameters: dict[str, int],
    extents: Sequence[int],
    place: Sequence[int],
    allocations: Sequence[Allocation],
) -> None:
    shared = [_aligned(kernel.shared) for _ in range(kernel.cluster)]
    arrays = [allocation(name, array) for name, array in program.arrays.items()]
    own = [Allocation("shared memory", part.ctypes.data, kernel.shared) for part in shared]
    memory, symbols = Memory([*allocations, *arrays, *own]), {array.name: array.address for array in arrays}
    blocks = [Block(program, memory, shared, rank, symbols, parameters) for rank in range(kernel.cluster)]
    numbers = range(-(-kernel.threads // LANES))
    teams = [[_warp(kernel, block, extents, place, number) for number in numbers] for block in blocks]
    for phase in itertools.count():
        for team in teams if phase % 2 == 0 else reversed(teams):
            _run_block(team, phase)
        waiting = [warp for team in teams for warp in team if warp.waiting]
        if not waiting:
            return
        for warp in waiting:
            warp.release()


def _run_block(warps: Sequence[Warp], phase: int) -> None:
    """Run the warps of a block until they have ended or wait for the other blocks of the cluster."""
    for number in itertools.count(phase):
        for warp in warps if number % 2 == 0 else reversed(warps):
            warp.run()
        kinds = {warp.barrier for warp in warps if warp.waiting}
        if len(kinds) > 1:
            raise MachineFault("the warps of a block wait at different barriers")
        if kinds != {"bar"}:
            return
        for warp in warps:
            warp.release()


def _aligned(size: int) -> np.ndarray:
    memory = np.full(size + _ALIGNMENT, GARBAGE, np.uint8)
    return memory[-memory.ctypes.data % _ALIGNMENT :][:size]


def _warp(kernel: Kernel, block: Block, extents: Sequence[int], place: Sequence[int], number: int) -> Warp:
    special = {"%tid.x": number * LANES + np.arange(LANES), "%ntid.x": np.full(LANES, kernel.threads)}
    special |= {f"%tid.{axis}": np.zeros(LANES) for axis in "yz"} | {f"%ntid.{axis}": np.ones(LANES) for axis in "yz"}
    places = place[0] * kernel.cluster + block.rank, *place[1:]
    counts = extents[0] * kernel.cluster, *extents[1:]
    special |= {f"%ctaid.{axis}": np.full(LANES, at) for axis, at in zip(_AXES, places)}
    special |= {f"%nctaid.{axis}": np.full(LANES, extent) for axis, extent in zip(_AXES, counts)}
    special |= {"%laneid": np.arange(LANES), "%cluster_ctarank": np.full(LANES, block.rank)}
    words = {name: found.astype(np.uint32) for name, found in special.items()}
    function = block.program.functions.get(kernel.name)
    if function is None:
        raise MachineFault(f"the PTX has no function {kernel.name}")
    return Warp(block, function, words, EFFECTS)
