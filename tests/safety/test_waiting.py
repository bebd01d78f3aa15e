"""Tile blocks that wait run in any number; those that wait or loop for ever are reported, in the same words."""

import ctypes
import threading
import time
from functools import partial

import llvmlite.binding
import numpy as np
import pytest
from long_programs import ATOMICS, BUSY, CIRCLE, LOOP, PATIENT, SPIN, SUMMING, TURNS, WAIT_FOR_LAST

import tileir
from tileir.cpu.run import execution
from tileir.host import child, limits

TARGETS = ("interp", "cpu")


def run(text, *arguments, grid=1, **options):
    tileir.parse(text)["k"].launch(grid, *arguments, **options)


def trap(text, *arguments, grid=1, **options):
    with pytest.raises(tileir.Trap) as caught:
        run(text, *arguments, grid=grid, **options)
    return caught.value


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(limits, "GRACE", 0.1)


@pytest.mark.parametrize(
    ("target", "options", "blocks"),
    [
        ("interp", {}, 1000),
        ("interp", {"seed": 1}, 300),
        ("cpu", {}, 10_000),
        ("cpu", {"threads": 1}, 1000),
        ("cpu", {"threads": 3}, 5000),
    ],
)
def test_every_tile_block_may_wait_for_the_last(target, options, blocks):
    flag, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run(WAIT_FOR_LAST, flag, count, blocks - 1, grid=blocks, target=target, **options)
    assert count[0] == blocks


@pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
@pytest.mark.parametrize("there", [0, 5])
def test_a_tile_block_without_memory_to_wait_in_is_an_error(there):
    def ending():
        left, malloc = [None] * there, ctypes.CDLL(None).malloc
        malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
        short = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(
            lambda size: malloc(size) if left and not left.pop() else None
        )
        llvmlite.binding.add_symbol("malloc", ctypes.cast(short, ctypes.c_void_p).value)
        flag, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
        with pytest.raises(tileir.UnsupportedError, match="no memory is left"):
            run(WAIT_FOR_LAST, flag, count, 19, grid=20)
        left += [None] * 20
        run(WAIT_FOR_LAST, flag, count, 19, grid=20)
        return count[0]

    assert child.in_child(ending) == 20


@pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_vectors_live_while_their_tile_block_waits(element, dtype):
    def sums():
        flag, given, out = np.zeros(1, np.int32), np.arange(64, dtype=dtype), np.zeros(64, dtype)
        run(TURNS.replace("ELEMENT", element), flag, given, out, 1.5, grid=20, threads=2)
        return flag[0], out - given

    turns, added = child.in_child(sums)
    assert turns == 20
    assert (added == 1.5).all()


@pytest.mark.usefixtures("impatient")
class TestDeadlocks:
    def test_both_targets_say_the_same(self):
        native, reference = (trap(CIRCLE, np.zeros(3, np.int32), grid=3, target=target) for target in TARGETS)
        assert str(native) == str(reference)
        assert native.message == "deadlock: all 3 tile blocks that run wait, and nothing changes"
        assert (native.kernel, native.block, native.op) == ("k", (0, 0, 0), "loop")
        assert "tile blocks (0, 0, 0), (1, 0, 0), (2, 0, 0) wait by this 'atomic_cas_tko'" in str(native)

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_whatever_the_threads(self, threads):
        found = trap(CIRCLE, np.zeros(100, np.int32), grid=100, threads=threads)
        assert "all 100 tile blocks" in found.message
        assert "and 97 more wait by" in str(found)

    @pytest.mark.parametrize("threads", [1, 3])
    def test_also_where_there_is_no_memory_for_a_tile_block_of_every_thread(self, threads, monkeypatch):
        monkeypatch.setattr(execution, "MOST_BYTES", 1)
        found = trap(WAIT_FOR_LAST, np.zeros(1, np.int32), np.zeros(1, np.int32), 99, grid=100, threads=threads)
        assert "waits, and nothing changes; 99 tile blocks have not begun, as those that wait take" in found.message

    @pytest.mark.parametrize("target", TARGETS)
    def test_tile_blocks_that_are_done_are_not_named(self, target):
        flag, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
        found = trap(WAIT_FOR_LAST.replace("%flag, %one", "%count, %one"), flag, count, 0, grid=3, target=target)
        assert "all 2 tile blocks" in found.message
        assert "(1, 0, 0), (2, 0, 0) wait" in str(found)

    @pytest.mark.parametrize("target", TARGETS)
    def test_the_next_launch_is_like_any_other(self, target):
        kernel = tileir.parse(CIRCLE)["k"]
        for _ in range(2):
            flags = np.zeros(20, np.int32)
            with pytest.raises(tileir.Trap, match="deadlock"):
                kernel.launch(20, flags, target=target)
            flags[0] = 1
            kernel.launch(20, flags, target=target)
            assert flags.tolist() == [1] + [0] * 19

    @pytest.mark.parametrize("target", TARGETS)
    def test_a_loop_that_hands_on_other_values_is_not_one(self, target):
        out = np.zeros(1, np.int32)
        rounds = 50_000 if target == "interp" else 100_000_000
        run(PATIENT, np.zeros(1, np.int32), out, rounds, target=target)
        assert out[0] == rounds

    @pytest.mark.parametrize("target", TARGETS)
    def test_nor_is_one_that_adds_to_sums_where_they_stand(self, target):
        out, end = np.zeros(1, np.float32), 2000.0 if target == "interp" else 8e6
        run(SUMMING, np.zeros(1, np.int32), out, end, target=target)
        assert out[0] == end

    @pytest.mark.parametrize("target", TARGETS)
    def test_another_launch_may_end_it(self, target):
        """One launch waits for longer than it would alone, as the other is still at work."""
        flag, slow = np.zeros(1, np.int32), np.zeros(1, np.float32)

        def help() -> None:
            run(LOOP, slow, 100_000_000 if target == "cpu" else 50_000, target=target)
            flag[0] = 1

        helper = threading.Thread(target=help)
        helper.start()
        run(SPIN.replace("ORDER", "acquire device"), flag, target=target)
        helper.join()


@pytest.mark.parametrize("target", TARGETS)
def test_the_host_may_end_it_soon(target):
    flag = np.zeros(1, np.int32)
    threading.Timer(0.2, lambda: flag.__setitem__(0, 1)).start()
    run(SPIN.replace("ORDER", "acquire device"), flag, target=target)


@pytest.mark.usefixtures("impatient")
def test_waiting_by_a_weak_load_is_undefined_and_said_to_be():
    text = SPIN.replace("ORDER", "weak")
    for target in TARGETS:
        found = trap(text, np.zeros(1, np.int32), grid=2, target=target, max_iterations=1 << 20)
        assert found.op == "loop"
        assert "'load_ptr_tko' is weak: it need not see what another tile block writes, so to wait by it is" in str(
            found
        )


class TestLimits:
    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize(("text", "op"), [(LOOP, "for"), (BUSY, "loop")])
    def test_loops_that_run_too_often_are_said_to_hang(self, target, text, op):
        arguments = [np.zeros(1, np.float32), 1 << 62] if text is LOOP else [np.zeros(1, np.int32)]
        found = trap(text, *arguments, target=target, max_iterations=1000)
        assert found.message.startswith("hang: a tile block ran more than 1000 iterations of its loops")
        assert found.op == op

    @pytest.mark.parametrize("target", TARGETS)
    def test_the_limit_is_exact(self, target):
        out = np.zeros(1, np.float32)
        run(LOOP, out, 100, target=target, max_iterations=100)
        first = out.copy()
        assert "hang" in trap(LOOP, out, 101, target=target, max_iterations=100).message
        np.testing.assert_array_equal(out, first)

    @pytest.mark.parametrize("target", TARGETS)
    def test_it_counts_for_each_tile_block(self, target):
        run(LOOP, np.zeros(50, np.float32), 60, grid=50, target=target, max_iterations=100)

    def test_there_is_a_limit_by_default(self):
        assert str(limits.MAX_ITERATIONS) in trap(BUSY, np.zeros(1, np.int32)).message

    @pytest.mark.parametrize("target", TARGETS)
    def test_a_loop_in_which_nothing_happens_is_said_to_hang(self, target):
        found = trap("entry @k() { loop { } return }", target=target)
        assert found.message.startswith("hang: ")


@pytest.mark.parametrize("seed", [None, 5])
def test_many_switch_points_are_no_reason_to_fail(seed):
    out = np.zeros(1, np.int32)
    run(ATOMICS, out, grid=3, target="interp", seed=seed)
    assert out[0] == 6000


@pytest.mark.parametrize("target", TARGETS)
class TestTimeouts:
    @pytest.mark.parametrize("text", [LOOP, BUSY, SPIN.replace("ORDER", "acquire device")])
    def test_a_launch_ends_when_its_time_is_up(self, target, text, monkeypatch):
        monkeypatch.setattr(limits, "GRACE", 60.0)
        monkeypatch.setattr(limits, "MAX_ITERATIONS", 1 << 62)
        arguments = [np.zeros(1, np.float32), 1 << 62] if text is LOOP else [np.zeros(1, np.int32)]
        begin = time.monotonic()
        with pytest.raises(tileir.LaunchTimeout, match=r"took more than 0\.1 s") as caught:
            run(text, *arguments, target=target, timeout=0.1)
        assert caught.value.kernel == "k"
        assert time.monotonic() - begin < 5
        before = arguments[0].copy()
        time.sleep(0.05)
        np.testing.assert_array_equal(arguments[0], before)

    def test_a_timeout_is_a_trap(self, target):
        assert isinstance(trap(LOOP, np.zeros(1, np.float32), 1 << 40, target=target, timeout=0.05), tileir.Trap)

    def test_time_enough_changes_nothing(self, target):
        run(LOOP, np.zeros(4, np.float32), 10, grid=4, target=target, timeout=100)

    @pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1.0, ValueError), ("1", TypeError)])
    def test_it_is_a_positive_number(self, target, value, error):
        with pytest.raises(error, match="timeout: expected a positive number of seconds"):
            run(LOOP, np.zeros(1, np.float32), 1, target=target, timeout=value)


@pytest.mark.parametrize("target", TARGETS)
def test_progress_is_told_of(target):
    told = []
    count = 200 if target == "interp" else 50
    steps = 500 if target == "interp" else 10_000_000
    run(LOOP, np.zeros(count, np.float32), steps, grid=count, target=target, progress=lambda *at: told.append(at))
    finished = [done for done, _ in told]
    assert told and {total for _, total in told} == {count}
    assert finished == sorted(finished)
    assert finished[0] < count


def _note(seen, out, done, total):
    seen.append((done, np.count_nonzero(out)))


def test_progress_counts_what_is_done_whatever_the_threads():
    """One thread is handed out all tile blocks at once."""
    out, told = np.zeros(40, np.float32), []
    kernel = tileir.parse(LOOP)["k"]
    for threads in (1, 2, 3):
        out[:], seen = 0, []
        kernel.launch(40, out, 5_000_000, threads=threads, progress=partial(_note, seen, out))
        assert all(done <= begun for done, begun in seen)
        told += seen
    assert any(0 < done < 40 for done, _ in told)


def test_progress_does_not_count_tile_blocks_that_wait():
    """They wait until the first that is told of them lets them go on."""
    flag, told = np.zeros(1, np.int32), []

    def let_go(done, total):
        told.append((done, total))
        flag[0] = 1

    run(SPIN.replace("ORDER", "acquire device"), flag, grid=50, progress=let_go)
    assert told[0] == (0, 50)
