"""Read-only arrays are taken where a kernel never writes, and refused with the operation that may."""

import multiprocessing
import sys

import numpy as np
import pytest
from test_arguments import OnlyDLPack

import tileir

TARGETS = ("interp", "cpu")
COPY = """
entry @k(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
  %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
  %u = store_ptr_tko weak %y, %v : tile<ptr<i32>>, tile<i32> -> token
}
"""


def frozen(array):
    array.flags.writeable = False
    return array


def mapped(tmp_path):
    np.arange(7, 11, dtype=np.int32).tofile(tmp_path / "x.bin")
    return np.memmap(tmp_path / "x.bin", np.int32, "r")


def like_jax():
    """An array that cannot be changed, though what it lends does not say so."""
    kind = type("ArrayImpl", (OnlyDLPack,), {"__module__": "jaxlib._jax"})
    return kind(np.full(4, 7, np.int32))


KINDS = {
    "mapped": mapped,
    "frozen": lambda path: frozen(np.full(4, 7, np.int32)),
    "frozen by a base": lambda path: np.frombuffer(np.full(4, 7, np.int32).tobytes(), np.int32),
    "broadcast": lambda path: np.broadcast_to(np.int32(7), 4),
    "a buffer": lambda path: memoryview(frozen(np.full(4, 7, np.int32))),
    "dlpack": lambda path: OnlyDLPack(frozen(np.full(4, 7, np.int32))),
    "jax": lambda path: like_jax(),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
class TestKinds:
    def test_it_may_be_read(self, make, check, target, tmp_path):
        array, out = make(tmp_path), np.zeros(4, np.int32)
        tileir.parse(COPY)["k"].launch(1, array, out, target=target, check=check)
        assert out.tolist() == [7, 0, 0, 0]

    def test_it_is_refused_where_the_kernel_writes(self, make, check, target, tmp_path):
        array, out = make(tmp_path), np.zeros(4, np.int32)
        with pytest.raises(ValueError) as caught:
            tileir.parse(COPY, "k.mlir")["k"].launch(1, out, array, target=target, check=check)
        assert str(caught.value) == (
            "kernel @k, parameter 1 'y' (tile<ptr<i32>>): expected a writable array, as 'store_ptr_tko' at k.mlir:4:8 "
            "writes through it, got a read-only one (pass a copy of it)"
        )


@pytest.mark.parametrize("target", TARGETS)
class TestOverlap:
    """Two arguments share memory, and one of them is read-only."""

    def test_what_may_be_written_through_the_other_is(self, target):
        whole = np.arange(7, 15, dtype=np.int32)
        read = whole[:6]
        read.flags.writeable = False
        tileir.parse(COPY)["k"].launch(1, read, whole[2:], target=target)
        assert whole.tolist() == [7, 8, 7, 10, 11, 12, 13, 14]

    def test_what_belongs_to_the_read_only_one_alone_is_not(self, target):
        text = COPY.replace(
            "  %u",
            "  %b = constant <i32: -1> : tile<i32>\n"
            "  %z = offset %y, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n  %u",
        ).replace("%y, %v", "%z, %v")
        whole = np.arange(8, dtype=np.int32)
        read = whole[:6]
        read.flags.writeable = False
        with pytest.raises(tileir.Trap, match="store of i32 at byte offset"):
            tileir.parse(text)["k"].launch(1, read, whole[2:], target=target)
        assert whole.tolist() == list(range(8))


@pytest.mark.parametrize("target", TARGETS)
class TestReversed:
    def test_it_is_refused(self, target):
        kernel, whole = tileir.parse(COPY)["k"], np.arange(8, dtype=np.int32)
        for array in (whole[::-1], whole.reshape(2, 4)[:, ::-1]):
            with pytest.raises(ValueError) as caught:
                kernel.launch(1, array, np.zeros(4, np.int32), target=target)
            expected = f"expected an array without negative strides, got strides of {array.strides} bytes"
            assert str(caught.value).endswith(expected)

    def test_later_launches_and_programs_are_as_if_nothing_had_been(self, target):
        whole, out = np.arange(8, dtype=np.int32), np.zeros(4, np.int32)
        for _ in range(3):
            with pytest.raises(ValueError, match="negative strides"):
                tileir.launch(tileir.parse(COPY), "k", 1, [out, whole[::-1]], target=target)
            tileir.launch(tileir.parse(COPY), "k", 1, [whole[3:], out], target=target)
            assert out[0] == 3
            assert tileir.verify(tileir.parse("entry @f(%a: tile<f32>) { %b = addf %a, %a : tile<f32> }")).ok
        assert whole.tolist() == list(range(8))


def _read_in_worker(path, results):
    out = np.zeros(1, np.int32)
    for target in TARGETS:
        tileir.parse(COPY)["k"].launch(1, np.memmap(path, np.int32, "r"), out, target=target)
        results.put(int(out[0]))


@pytest.mark.skipif(sys.platform == "win32", reason="files that are mapped cannot be removed")
def test_a_mapped_file_is_shared_by_processes(tmp_path):
    mapped(tmp_path)
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    worker = context.Process(target=_read_in_worker, args=(tmp_path / "x.bin", results))
    worker.start()
    assert [results.get(timeout=60) for _ in TARGETS] == [7, 7]
    worker.join()


@pytest.mark.skipif(sys.platform == "win32", reason="files that are mapped cannot be cut")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("mode", "offset", "left"), [("r", 0, 0), ("r", 0, 12), ("r+", 8192, 8196), ("c", 4096, 5000)])
def test_a_mapped_file_that_was_cut_is_refused(mode, offset, left, target, tmp_path):
    path, kernel, out = tmp_path / "x.bin", tileir.parse(COPY)["k"], np.zeros(1, np.int32)
    np.arange(4096, dtype=np.int32).tofile(path)
    array = np.memmap(path, np.int32, mode, offset)
    for part in (array, array[1:]):
        kernel.launch(1, part, out, target=target)
    with open(path, "r+b") as file:
        file.truncate(left)
    for part in (array, array[1:], array[:4].reshape(2, 2)):
        with pytest.raises(ValueError, match=r"parameter 0 'x' .*: expected an array whose memory is there, got one"):
            kernel.launch(1, part, out, target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: np.zeros(41, np.uint8)[1:].view(np.int32),
            r"byte offset 0 of 'x': the address \S+ is not a multiple of 4",
        ),
        (lambda: np.zeros(0, np.int32), "load of i32 at byte offset 0 of 'x': it has no elements"),
        (lambda: np.zeros((3, 0), np.int32), "load of i32 at byte offset 0 of 'x': it has no elements"),
        (lambda: tileir.Pointer(np.zeros(4, np.int32).ctypes.data, 0), "offset 0 of 'x': it has no elements"),
        (lambda: tileir.Pointer(0, 64), "load of i32 at address 0x0, which is in no memory given to the kernel"),
    ],
)
def test_memory_that_cannot_be_used_is_the_same_trap_everywhere(make, words, target):
    with pytest.raises(tileir.Trap, match=words):
        tileir.parse(COPY)["k"].launch(1, make(), np.zeros(1, np.int32), target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_an_array_with_gaps_is_used_by_its_elements(target):
    whole = np.arange(8, dtype=np.int32)
    tileir.parse(COPY)["k"].launch(1, whole[3::2], whole[::4], target=target)
    assert whole.tolist() == [3, 1, 2, 3, 4, 5, 6, 7]
