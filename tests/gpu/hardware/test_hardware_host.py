"""The host's side of a launch on a GPU: text, traps, globals, grids, arrays of any kind, streams, threads."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

import tileir
from tests.differential import outcome
from tests.gpu.hardware.hardware_device import Device
from tileir.cli import main
from tileir.examples import FOLDER
from tileir.runtime.module import target_named

ROOT = Path(__file__).resolve().parents[3]


def kernel_of(text: str) -> tileir.Kernel:
    return tileir.parse(text)["k"]


def require_host(device: Device) -> None:
    if not device.is_open:
        pytest.skip("the vendor's code prints and asserts by itself")


# ---------------------------------------------------------------- text

PRINTS = """entry @k(%x: tile<ptr<f32>>) {
  %b, %y, %z = get_tile_block_id : tile<i32>
  %lane = iota : tile<4xi32>
  %p1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p4 = broadcast %p1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %p = offset %p4, %lane : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %v, %t0 = load_ptr_tko weak %p : tile<4xptr<f32>> -> tile<4xf32>, token
  %i = ftoi %v signed : tile<4xf32> -> tile<4xi8>
  %h = ftof %v : tile<4xf32> -> tile<4xf16>
  %m = cmpi less_than %i, %i, signed : tile<4xi8> -> tile<4xi1>
  %t1 = print_tko "%d begins\\n", %b token=%t0 : tile<i32> -> token
  %t2 = print_tko "%d: %f and %8.3f, %d, %i, 100%%\\n", %b, %v, %h, %i, %m token=%t1
      : tile<i32>, tile<4xf32>, tile<4xf16>, tile<4xi8>, tile<4xi1> -> token
  return
}"""


def test_what_is_printed_is_the_text_of_the_interpreter(device: Device) -> None:
    require_host(device)
    args = [np.array([1.5, -2.25, 100.0, 0.0], np.float32)]
    assert (
        device.outcome(kernel_of(PRINTS), (1,), args).printed
        == outcome(kernel_of(PRINTS), (1,), args, "interp").printed
    )


def test_every_block_prints_its_lines_whole_and_in_order(device: Device) -> None:
    require_host(device)
    args, blocks = [np.arange(4, dtype=np.float32)], 7 if device.rehearsal else 3000
    found = device.outcome(kernel_of(PRINTS), (blocks,), args).printed.splitlines()
    expected = outcome(kernel_of(PRINTS), (blocks,), args, "interp").printed.splitlines()
    assert sorted(found) == sorted(expected)
    for block in range(0, blocks, 97):
        mine = [line for line in found if line.startswith((f"{block} ", f"{block}:"))]
        assert [line[len(str(block))] for line in mine] == [" ", ":"]


LOUD = """entry @k(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %i in (%zero to %n, step %one) : tile<i32> {
    %t = print_tko "%d\\n", %i : tile<i32> -> token
  }
  return
}"""


def test_text_that_there_is_no_room_for_is_told_of(device: Device) -> None:
    require_host(device)
    written: list[str] = []
    count = 2500
    with pytest.warns(RuntimeWarning, match="printed more than there was room for") as warned:
        device.launch(kernel_of(LOUD), (1,), count, output=written.append)
    (lost,) = (int(str(one.message).split(": ")[1].split()[0]) for one in warned)
    assert written == [f"{number}\n" for number in range(count - lost)]


# ---------------------------------------------------------------- assertions

CHECKS = """entry @k(%x: tile<ptr<i32>>) {
  %b, %y, %z = get_tile_block_id : tile<i32>
  %lane = iota : tile<64xi32>
  %size = constant <i32: 64> : tile<i32>
  %start = muli %b, %size : tile<i32>
  %q = offset %x, %start : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %p1 = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
  %pn = broadcast %p1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %p = offset %pn, %lane : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %v, %t = load_ptr_tko weak %p : tile<64xptr<i32>> -> tile<64xi32>, token
  %zeros = constant <i32: 0> : tile<64xi32>
  %fine = cmpi greater_than_or_equal %v, %zeros, signed : tile<64xi32> -> tile<64xi1>
  assert %fine, "no number is negative" : tile<64xi1>
  return
}"""


def test_a_failed_assertion_is_a_trap_with_its_place_and_the_gpu_stays_of_use(device: Device) -> None:
    require_host(device)
    kernel = kernel_of(CHECKS)
    numbers = np.ones((40, 64), np.int32)
    assert device.outcome(kernel, (40,), [numbers]).trap is None
    numbers[17, 5] = numbers[17, 50] = -1
    for _ in range(2):
        trap = device.outcome(kernel, (40,), [numbers]).trap
        assert trap is not None
        expected = outcome(kernel, (40,), [numbers], "interp").trap
        assert expected is not None
        assert (trap.kernel, trap.op, trap.block, trap.index) == ("k", "assert", (17, 0, 0), (5,))
        assert str(trap).splitlines() == str(expected).splitlines()
    numbers[17] = 1
    assert device.outcome(kernel, (40,), [numbers]).trap is None


def test_one_of_many_failed_assertions_is_reported(device: Device) -> None:
    require_host(device)
    trap = device.outcome(kernel_of(CHECKS), (20,), [np.full((20, 64), -1, np.int32)]).trap
    assert trap is not None
    assert trap.block is not None and trap.block[0] < 20 and trap.index == (0,)


def test_an_access_outside_all_memory_is_a_trap_that_says_what_it_means(gpu: Device) -> None:
    """In a process of its own, which cannot use the GPU afterwards."""
    script = f"""
import tileir
kernel = tileir.parse('''entry @k(%x: tile<ptr<i32>>) {{
  %one = constant <i32: 1> : tile<i32>
  %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
  return
}}''')["k"]
from tileir.runtime.module import target_named
for _ in range(2):
    try:
        kernel.launch(1, tileir.Pointer(64), target={gpu.name!r})
        target_named({gpu.name!r}).finish()
    except tileir.Trap as trap:
        print(trap)
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)
    lines = ran.stdout.splitlines()
    assert len(lines) == 2, ran.stdout + ran.stderr
    assert all("this process can no longer use the GPU" in line for line in lines)


# ---------------------------------------------------------------- globals

GLOBALS = """
global @count alignment = 64 <i32: [5, 0, 0, 7]> : tile<4xi32>
entry @k(%out: tile<ptr<i32>>) {
  %p = get_global @count : tile<ptr<i32>>
  %one = constant <i32: 1> : tile<i32>
  %old, %t = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %u = store_ptr_tko weak %out, %old : tile<ptr<i32>>, tile<i32> -> token
  return
}
entry @other(%out: tile<ptr<i32>>) {
  %p = get_global @count : tile<ptr<i32>>
  %x, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  %u = store_ptr_tko weak %out, %x : tile<ptr<i32>>, tile<i32> -> token
  return
}"""


def test_globals_keep_their_contents_between_launches_and_are_shared_by_kernels(device: Device) -> None:
    module = tileir.parse(GLOBALS)
    out = np.zeros(1, np.int32)
    for expected in (5, 6, 7):
        assert device.outcome(module["k"], (1,), [out]).arrays[0][0] == expected
    assert device.outcome(module["other"], (1,), [out]).arrays[0][0] == 8
    assert outcome(module["other"], (1,), [out], "interp").arrays[0][0] == 5
    assert device.outcome(tileir.parse(GLOBALS)["other"], (1,), [out]).arrays[0][0] == 5


# ---------------------------------------------------------------- grids

PLACES = """entry @k(%out: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
  %zy = muli %z, %gy : tile<i32>
  %row = addi %zy, %y : tile<i32>
  %rx = muli %row, %gx : tile<i32>
  %at = addi %rx, %x : tile<i32>
  %p = offset %out, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %old, %t = atomic_rmw_tko relaxed device %p, add, %at : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}"""


@pytest.mark.parametrize("grid", [(3, 4, 5), (1, 7, 1), (100_003, 1, 1), (3, 65535, 2), (2, 3, 65535)])
def test_every_block_of_a_grid_runs_once(device: Device, grid: tuple[int, int, int]) -> None:
    if device.rehearsal and np.prod(grid) > 100:
        pytest.skip("takes the TTIR machine too long")
    out = np.zeros(int(np.prod(grid)), np.int32)
    found = device.outcome(kernel_of(PLACES), grid, [out]).arrays[0]
    np.testing.assert_array_equal(found, np.arange(out.size))


def test_a_grid_that_the_hardware_does_not_have_is_refused(device: Device) -> None:
    for grid in ((1, 65536, 1), (1, 1, 65536)):
        with pytest.raises(tileir.UnsupportedError, match=r"the largest that .* has is"):
            kernel_of("entry @k() { return }").launch(grid, target=device.name)


# ---------------------------------------------------------------- memory

FILLED = """entry @k(%p: tile<ptr<ELEMENT>>, %rows: tile<i64>, %columns: tile<i64>, %row: tile<i32>, %column: tile<i32>,
                    %out: tile<ptr<ELEMENT>>) {
  %tensor = make_tensor_view %p, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i64> -> tensor_view<?x?xELEMENT, strides=[?,1]>
  %view = make_partition_view %tensor : partition_view<tile=(8x128), tensor_view<?x?xELEMENT, strides=[?,1]>>
  %dense = make_tensor_view %out, shape = [8, 128], strides = [128, 1] : tensor_view<8x128xELEMENT, strides=[128,1]>
  %whole = make_partition_view %dense : partition_view<tile=(8x128), tensor_view<8x128xELEMENT, strides=[128,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %value = constant <ELEMENT: 77> : tile<8x128xELEMENT>
  %t = store_view_tko weak %value, %view[%row, %column] : tile<8x128xELEMENT>,
      partition_view<tile=(8x128), tensor_view<?x?xELEMENT, strides=[?,1]>>, tile<i32> -> token
  %back, %u = load_view_tko weak %view[%row, %column] token = %t :
      partition_view<tile=(8x128), tensor_view<?x?xELEMENT, strides=[?,1]>>, tile<i32> -> tile<8x128xELEMENT>, token
  %v = store_view_tko weak %back, %whole[%zero, %zero] : tile<8x128xELEMENT>,
      partition_view<tile=(8x128), tensor_view<8x128xELEMENT, strides=[128,1]>>, tile<i32> -> token
  %wide = muli %columns, %rows : tile<i64>
  %one = constant <i64: 1> : tile<i64>
  %last = subi %wide, %one : tile<i64>
  %end = offset %p, %last : tile<ptr<ELEMENT>>, tile<i64> -> tile<ptr<ELEMENT>>
  %mark = constant <ELEMENT: 99> : tile<ELEMENT>
  %w = store_ptr_tko weak %end, %mark : tile<ptr<ELEMENT>>, tile<ELEMENT> -> token
  return
}"""


@pytest.mark.parametrize("element", ["i8", "i32", "i64"])
def test_elements_beyond_the_first_2_to_the_31_are_reached(device: Device, element: str) -> None:
    """A tensor of more than 2^32 elements; only a few are touched."""
    dtype = np.dtype(f"i{int(element[1:]) // 8}")
    rows, columns = (80, 384) if device.rehearsal else (66_000, 65_664)
    driver = device.target.driver  # type: ignore[attr-defined]
    try:
        address = driver.allocate(rows * columns * dtype.itemsize)
    except tileir.UnsupportedError as error:
        pytest.skip(str(error))
    try:
        _fill_far_tile(device, kernel_of(FILLED.replace("ELEMENT", element)), address, dtype, rows, columns)
    finally:
        device.target.finish()
        driver.free(address)


def _fill_far_tile(
    device: Device, kernel: tileir.Kernel, address: int, dtype: np.dtype, rows: int, columns: int
) -> None:
    row, column = rows // 8 - 2, columns // 128 - 2
    out = np.zeros((8, 128), dtype)
    pointer = tileir.Pointer(address, rows * columns * dtype.itemsize)
    found = device.outcome(kernel, (1,), [pointer, rows, columns, row, column, out]).arrays[0]
    assert (found == 77).all()
    for line in (0, 7):
        place = (8 * row + line) * columns + 128 * column
        assert (_at(device, address, dtype, place, 128) == 77).all()
    assert _at(device, address, dtype, rows * columns - 1, 1)[0] == 99


def _at(device: Device, address: int, dtype: np.dtype, place: int, count: int) -> np.ndarray:
    content = bytearray(count * dtype.itemsize)
    device.target.driver.download(address + place * dtype.itemsize, content)  # type: ignore[attr-defined]
    return np.frombuffer(content, dtype)


VECTOR = "tensor_view<?xf32, strides=[1]>"
VIEW = f"partition_view<tile=(256), {VECTOR}>"
SUM = f"""entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) {{
  %ta = make_tensor_view %a, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
  %tb = make_tensor_view %b, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
  %va = make_partition_view %ta : {VIEW}
  %vb = make_partition_view %tb : {VIEW}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %p, %t = load_view_tko weak %va[%x] : {VIEW}, tile<i32> -> tile<256xf32>, token
  %q, %u = load_view_tko weak %vb[%x] : {VIEW}, tile<i32> -> tile<256xf32>, token
  %s = addf %p, %q : tile<256xf32>
  %w = store_view_tko weak %s, %vb[%x] token = %u : tile<256xf32>, {VIEW}, tile<i32> -> token
  return
}}"""
"""b += a."""


@pytest.mark.parametrize("count", [1024, 1000, 1])
@pytest.mark.parametrize("skipped", [0, 1, 2, 3, 4])
def test_arrays_that_begin_anywhere_are_served(device: Device, skipped: int, count: int) -> None:
    """Addresses and extents of other alignments: they decide how much is loaded at a time."""
    whole = np.random.default_rng(1).standard_normal((2, 1100)).astype(np.float32)
    a, b = (line[skipped : skipped + count] for line in whole)
    found = device.outcome(kernel_of(SUM), (-(-count // 256),), [a, b, count]).arrays[1]
    np.testing.assert_array_equal(found, a + b)


class Interface:
    """An array that is known by CUDA's array interface only."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        typestr = np.dtype(dtype).str
        self.__cuda_array_interface__ = {"data": (address, False), "shape": shape, "typestr": typestr, "version": 3}


def test_arrays_with_the_interface_of_cuda_and_raw_addresses_are_taken(device: Device) -> None:
    numbers = np.arange(512, dtype=np.float32)
    first, second = (device.target.placed(numbers) for _ in range(2))
    a = Interface(first.address, (512,), numbers.dtype)
    device.launch(kernel_of(SUM), (2,), a, tileir.Pointer(second.address, numbers.nbytes), 512)
    device.target.fetch(second, numbers)
    np.testing.assert_array_equal(numbers, 2 * np.arange(512))


# ---------------------------------------------------------------- streams and threads


def test_a_launch_goes_to_the_stream_that_it_is_told(gpu: Device) -> None:
    import cuda.bindings.driver as cuda

    status, stream = cuda.cuStreamCreate(1)  # one that does not wait for the default stream
    assert not status
    numbers = np.arange(1024, dtype=np.float32)
    a, b = (gpu.target.placed(numbers) for _ in range(2))
    kernel = kernel_of(SUM)
    for _ in range(3):
        kernel.launch(4, a, b, 1024, target=gpu.name, stream=stream)
    gpu.target.driver.synchronize(int(stream))  # type: ignore[attr-defined]
    gpu.target.fetch(b, numbers)
    np.testing.assert_array_equal(numbers, 4 * np.arange(1024))
    cuda.cuStreamDestroy(stream)


SLOW = """entry @k(%n: tile<i32>, %p: tile<ptr<i32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %begin = make_token : token
  %end = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%t = %begin) -> (token) {
    %old, %u = atomic_rmw_tko relaxed device %p, add, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    continue %u : token
  }
  return
}"""


def test_a_launch_returns_before_the_kernel_has_run(gpu: Device) -> None:
    kernel, count = kernel_of(SLOW), gpu.target.placed(np.zeros(1, np.int32))
    gpu.launch(kernel, (1,), 1, count)
    begin = perf_counter()
    kernel.launch(1, 200_000, count, target=gpu.name)
    launched = perf_counter()
    gpu.target.finish()
    assert launched - begin < (perf_counter() - begin) / 2
    found = np.zeros(1, np.int32)
    gpu.target.fetch(count, found)
    assert found[0] == 200_001


def test_launches_from_several_threads_are_all_made(device: Device) -> None:
    kernel, count = kernel_of(SLOW), device.target.placed(np.zeros(1, np.int32))
    device.launch(kernel, (1,), 0, count)
    rounds = 3 if device.rehearsal else 300
    threads = [threading.Thread(target=_launch_often, args=(device, kernel, count, rounds)) for _ in range(4)]
    if device.rehearsal:  # the stand-in is for one thread
        _launch_often(device, kernel, count, 4 * rounds)
    else:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    device.target.finish()
    found = np.zeros(1, np.int32)
    device.target.fetch(count, found)
    assert found[0] == 4 * rounds * 7


def _launch_often(device: Device, kernel: tileir.Kernel, count: object, rounds: int) -> None:
    for _ in range(rounds):
        kernel.launch(7, 1, count, target=device.name)


# ---------------------------------------------------------------- the command line


def test_the_examples_run_from_the_command_line(gpu: Device, capsys: pytest.CaptureFixture[str]) -> None:
    require_host(gpu)
    assert main(["demo", "--target", gpu.name]) == 0, capsys.readouterr()
    add = str(FOLDER / "vector_add.mlir")
    words = ["a=f32[5000]:arange", "b=f32[5000]:ones", "c=f32[5000]", "n=5000"]
    assert main(["run", add, "--target", gpu.name, "--grid", "5", *words, "--print", "c"]) == 0
    assert main(["bench", add, "--target", gpu.name, "--grid", "5", "--runs", "3", *words]) == 0


def test_the_target_is_listed(gpu: Device) -> None:
    assert target_named(gpu.name).description.startswith("GPUs, through")
