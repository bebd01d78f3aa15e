"""Native launches: every tile block runs once whatever the threads, traps, waiting, printing, options, callers."""

import threading

import native_programs as programs
import numpy as np
import pytest

import tileir
from tileir.cpu.emit.record import block_at
from tileir.ir.diagnostics import Trap


def launch(text, *arguments, grid=1, target="cpu", **options):
    tileir.parse(text)["k"].launch(grid, *arguments, target=target, **options)


def trap(text, *arguments, **options):
    with pytest.raises(Trap) as caught:
        launch(text, *arguments, **options)
    return caught.value


class TestGrid:
    @pytest.mark.parametrize("grid", [(1, 1, 1), (3, 5, 7), (1, 1, 64), (1000,), (2, 300)])
    @pytest.mark.parametrize("threads", [1, 2, 7])
    def test_every_tile_block_runs_once(self, grid, threads):
        out = np.zeros(np.prod(grid), np.int32)
        launch(programs.BLOCKS, out, grid=grid, threads=threads)
        assert (out == 1).all()

    def test_again_and_again(self):
        kernel, out = tileir.parse(programs.BLOCKS)["k"], np.zeros(500, np.int32)
        for _ in range(50):
            kernel.launch(500, out, target="cpu", threads=3)
        assert (out == 50).all()

    def test_from_several_threads_at_once(self):
        kernel = tileir.parse(programs.BLOCKS)["k"]
        arrays = [np.zeros(300, np.int32) for _ in range(6)]

        def repeat(out):
            for _ in range(20):
                kernel.launch(300, out, target="cpu", threads=2)

        callers = [threading.Thread(target=repeat, args=(out,)) for out in arrays]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert all((out == 20).all() for out in arrays)


class TestTraps:
    def test_a_failed_assertion_names_the_elements_like_the_interpreter(self):
        native, reference = (trap(programs.ASSERT, 20, grid=40, target=target) for target in ("cpu", "interp"))
        assert str(native) == str(reference)
        assert (native.block, native.index, native.op) == ((13, 0, 0), (7,), "assert")

    def test_a_failed_scalar_assertion_too(self):
        native, reference = (
            trap(programs.SCALAR_ASSERT, 2, grid=(3, 2, 2), target=target) for target in ("cpu", "interp")
        )
        assert str(native) == str(reference)

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_the_first_tile_block_that_traps_is_reported_whatever_the_threads(self, threads):
        assert trap(programs.ASSERT, 1000, grid=10000, threads=threads).block == (993, 0, 0)

    def test_a_launch_after_a_trap_is_like_any_other(self):
        kernel = tileir.parse(programs.ASSERT)["k"]
        for _ in range(3):
            with pytest.raises(Trap):
                kernel.launch(40, 20, target="cpu")
            kernel.launch(40, 100, target="cpu")


class TestWaiting:
    @pytest.mark.parametrize("grid", [(1, 1, 1), (200, 1, 1), (3, 5, 7), (3000, 1, 1)])
    def test_a_mutex_lets_every_tile_block_through_once(self, grid):
        lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
        launch(programs.MUTEX, lock, count, grid=grid)
        assert (count[0], lock[0]) == (np.prod(grid), 0)

    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("program", [programs.WAIT_FOR_NEXT, programs.WAIT_IN_FUNCTION])
    def test_tile_blocks_may_wait_for_ones_that_start_later(self, program, threads):
        flags = np.zeros(101, np.int32)
        flags[100] = 1
        launch(program, flags, grid=100, threads=threads)
        assert flags.all()

    def test_a_loop_that_never_ends_traps_after_the_iterations_allowed(self):
        found = trap(programs.ENDLESS, max_iterations=5000)
        assert "hang: a tile block ran more than 5000 iterations of its loops" in str(found)
        assert found.op == "loop"


class TestOptions:
    def test_unknown_options_are_refused(self):
        with pytest.raises(TypeError, match="has no option mode: it has debug_info, max_iterations, optimize, output"):
            launch(programs.EMPTY, mode="strict")

    @pytest.mark.parametrize(
        ("value", "error"), [(0, ValueError), (-1, ValueError), ("2", TypeError), (True, TypeError)]
    )
    def test_threads_is_a_positive_integer(self, value, error):
        with pytest.raises(error, match="threads: expected a positive integer, got"):
            launch(programs.EMPTY, threads=value)

    def test_what_printing_raises_ends_the_launch(self):
        def refuse(text):
            raise ConnectionError("nobody listens")

        with pytest.raises(ConnectionError, match="nobody listens"):
            launch(programs.PRINTS, grid=50, output=refuse)

    def test_lines_come_in_the_order_of_the_tile_blocks(self):
        lines = []
        launch(programs.PRINTS, grid=50, output=lines.append)
        assert "".join(lines) == "".join(f"{block} " for block in range(50))

    def test_printing_may_launch(self):
        kernel, out = tileir.parse(programs.BLOCKS)["k"], np.zeros(10, np.int32)
        launch(programs.PRINTS, grid=3, output=lambda text: kernel.launch(10, out, target="cpu"))
        assert (out == 3).all()


@pytest.mark.parametrize("grid", [(5, 1, 1), (3, 8, 1), (4, 11, 3), (1, 20, 2)])
def test_the_numbers_of_tile_blocks_cover_the_grid(grid):
    blocks = [block_at(number, grid) for number in range(np.prod(grid))]
    assert sorted(blocks) == [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]


@pytest.mark.parametrize("number", [0, 7, 100])
def test_native_code_and_python_agree_which_tile_block_a_number_is(number):
    grid = (5, 11, 2)
    x, y, z = block_at(number, grid)
    text = programs.ASSERT_BLOCK.replace("X", str(x)).replace("Y", str(y)).replace("Z", str(z))
    assert trap(text, grid=grid).block == (x, y, z)
