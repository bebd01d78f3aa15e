"""A kernel is launched again as it was the first time, whatever it is given then, and keeps nothing of it."""

from __future__ import annotations

import gc
import os
import random
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import pytest

import tileir
from tileir.cpu.emit.record import ENTRY
from tileir.ir.storage import DTYPES
from tileir.ir.types import ELEMENTS
from tileir.runtime.arguments import ArrayArgument, ScalarArgument, scalar
from tileir.runtime.arrays import described
from tileir.runtime.module import bind, target_named
from tileir.runtime.native import NativeArguments

TEXT = """
cuda_tile.module @m {
  global @table <i32: [1, 2, 3, 4]> : tile<4xi32>
  global constant @fixed <i32: 7> : tile<2xi32>
  entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<i8>>, %i: tile<i32>, %s: tile<i8>, %w: tile<i64>, %x: tile<f32>,
           %d: tile<f64>, %bit: tile<ptr<i1>>) { return }
}
"""
USUAL = (np.zeros((3, 5), np.float32), np.zeros(7, np.int8), -5, -1, 1 << 62, 0.1, 0.2, np.zeros(2, np.bool_))
VALUES = [(2, 0), (2, 2**31 - 1), (2, -(2**31)), (3, -128), (3, 127), (4, -1), (4, -(2**63))]
FLOATS = [(5, -0.0), (5, float("inf")), (5, -float("inf")), (5, 3.4e38), (5, 1e-46), (5, 1e-40), (6, -1.5), (6, 5e-324)]
NUMBERS = [
    *((2, kind(5)) for kind in (np.int8, np.uint8, np.int32, np.uint64, np.longlong)),
    *[(2, np.int8(-5)), (3, np.uint8(200)), (4, np.int64(-1)), (2, np.uint32(2**32 - 1))],
    *((place, kind(0.1)) for place in (5, 6) for kind in (np.float16, np.float32, np.float64, np.longdouble)),
]
ARRAYS = [
    (0, np.zeros((), np.float32)),
    (0, np.arange(60, dtype=np.float32)[10:50]),
    (0, np.zeros(3, np.dtype("f4", metadata={"a": 1}))),
    (0, np.zeros((4, 4), np.float32)[:, ::2]),
    (0, np.zeros((4, 5), np.float32).T),
    (0, np.zeros((4, 5, 3), np.float32)[1:3, ::2, :1]),
    (0, np.zeros((1, 5), np.float32)[:, None, 3:]),
    (0, np.lib.stride_tricks.as_strided(np.zeros(9, np.float32), (3, 5), (4, 0), writeable=True)),
    (1, np.zeros(3, np.uint8)),
    (7, np.zeros(3, np.uint8)),
]

PUT = """
entry @put(%a: tile<ptr<f32>>, %x: tile<f32>) {
  %t = store_ptr_tko weak %a, %x : tile<ptr<f32>>, tile<f32> -> token
}
entry @far(%a: tile<ptr<f32>>, %at: tile<i32>) {
  %p = offset %a, %at : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
}
entry @count(%a: tile<ptr<i32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
    %x = xori %s, %i : tile<i32>
    %y = muli %x, %i : tile<i32>
    continue %y : tile<i32>
  }
  %t = store_ptr_tko weak %a, %sum : tile<ptr<i32>>, tile<i32> -> token
}
"""


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@pytest.fixture(scope="module")
def kernel() -> tileir.Kernel:
    return tileir.parse(TEXT)["k"]


def given(position: int, value: object) -> tuple:
    return (*USUAL[:position], value, *USUAL[position + 1 :])


def bound(kernel: tileir.Kernel, arguments: tuple) -> list:
    return bind(kernel, arguments, target_named("cpu"))


def test_the_bounds_of_a_memory_begin_at_the_pointer_to_it() -> None:
    """Native code relies on it (`cpu.memory.bounds`)."""
    kernel = tileir.parse(TEXT)["k"]
    given = (*USUAL[:1], np.zeros((4, 4), np.int8)[1:, ::2], *USUAL[2:-1], tileir.Pointer(64, 8))
    found = NativeArguments(bound(kernel, given), kernel.module.globals).slots
    memories, table = [found[place] for place in (0, 1, 7, 8, 9)], found[10:-3]
    assert memories == list(table[::ENTRY])


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize(("position", "value"), [(0, USUAL[0]), *ARRAYS], ids=str)
def test_an_array_is_bound_the_second_time_as_the_first(kernel, position, value):
    for _ in range(2):
        argument = bound(kernel, given(position, value))[position]
        array = described(value)
        assert isinstance(argument, ArrayArgument) and argument.array[:-1] == array[:-1]
        assert (argument.bits, argument.bounds) == (array.address, array.bounds)


@pytest.mark.parametrize(("position", "value"), [*VALUES, *FLOATS, *NUMBERS], ids=str)
def test_a_number_is_bound_as_any_other_of_its_value(kernel, position, value):
    element = kernel.parameters[position].type.element
    argument = bound(kernel, given(position, value))[position]
    assert isinstance(argument, ScalarArgument)
    assert argument.value.tobytes() == scalar(np.array(value), element).tobytes()


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "i64", "i16", "i1"])
def test_arrays_and_tensors_of_every_type_that_torch_has_are_bound_alike(name):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    kernel = tileir.parse(f"entry @k(%a: tile<ptr<{name}>>) {{ return }}")["k"]
    dtype = np.dtype(np.uint8) if name == "f4E2M1FN" else DTYPES[ELEMENTS[name]]
    named = {"f4E2M1FN": "float4_e2m1fn_x2", "i1": "bool"}.get(name)
    kind = getattr(torch, named or {"f16": "float16", "bf16": "bfloat16"}.get(name, str(dtype)))
    tensor = torch.zeros((4, 2), dtype=torch.uint8 if dtype.itemsize == 1 else kind).view(kind)
    for value in (np.zeros((4, 2), dtype), tensor) * 2:
        (argument,) = bound(kernel, (value,))
        begin, *ends = argument.bounds
        assert ends == [begin + 8 * dtype.itemsize] * 3 and argument.array.address == argument.bits == begin


def test_a_tensor_is_refused_after_a_plain_one_as_before_it(kernel):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    plain = torch.zeros(3, 4)
    refused = [plain.double(), plain.clone().requires_grad_(), torch._neg_view(plain), plain.to_sparse()]
    refused += [plain.to("meta"), torch.nn.Parameter(plain.clone()), torch.zeros(3, dtype=torch.complex64).conj()]
    refused += [plain.to_mkldnn(), plain.clone().requires_grad_()[0], torch.nested.nested_tensor([plain, plain])]
    fresh = tileir.parse(TEXT)["k"]
    errors = [_error(fresh, given(0, tensor)) for tensor in refused]
    bound(fresh, given(0, plain))
    assert None not in errors and [_error(fresh, given(0, tensor)) for tensor in refused] == errors


def _error(kernel: tileir.Kernel, arguments: tuple) -> str | None:
    try:
        bound(kernel, arguments)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


# ---------------------------------------------------------------- launches


def test_an_array_that_has_become_read_only_is_refused_again():
    kernel, array = tileir.parse(PUT)["put"], np.zeros(1, np.float32)
    kernel.launch(1, array, 2.5)
    with pytest.raises(ValueError, match="read-only"):
        kernel.launch(1, read_only(array), 3.5)
    assert array[0] == 2.5


def test_a_fault_is_told_as_in_a_first_launch():
    array = np.zeros(4, np.float32)
    with pytest.raises(tileir.Trap) as first:
        tileir.parse(PUT)["far"].launch(1, array, 4)
    kernel = tileir.parse(PUT)["far"]
    for _ in range(20):
        with pytest.raises(tileir.Trap, match="byte offset 16") as trap:
            kernel.launch(1, array, 4)
        assert str(trap.value) == str(first.value) and trap.value.array == "a"
        kernel.launch(1, array, 3)


def test_the_trap_of_the_first_tile_block_counts():
    text = """entry @k(%n: tile<i32>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %ok = cmpi less_than %x, %n, signed : tile<i32> -> tile<i1>
      assert %ok, "too far" : tile<i1>
    }"""
    kernel = tileir.parse(text)["k"]
    for _ in range(3):
        kernel.launch((8, 1), 8)
        with pytest.raises(tileir.Trap, match="too far") as trap:
            kernel.launch((8, 1), 5)
        assert trap.value.block == (5, 0, 0)


def test_nothing_is_kept_of_an_argument():
    kernel, far = tileir.parse(PUT)["put"], tileir.parse(PUT)["far"]
    array, number, odd = np.zeros(4, np.float32), 1.25, np.zeros((4, 2), np.float32).T

    def launches() -> None:
        kernel.launch((1, 1), array, number)
        for wrong in ((array, "x"), (array,), (odd, number), (array, number, 3)):
            with nullcontext() if wrong[0] is odd else pytest.raises((TypeError, ValueError)):
                kernel.launch(1, *wrong)
        with pytest.raises(tileir.Trap):
            far.launch(1, array, 100)

    launches()
    gc.collect()
    counts = [sys.getrefcount(value) for value in (array, number, odd)]
    for _ in range(50):
        launches()
    gc.collect()
    after = [sys.getrefcount(value) for value in (array, number, odd)]
    assert counts == after


def test_a_kernel_goes_when_nobody_needs_it():
    kernel = tileir.parse(PUT)["put"]
    gone, method = weakref.ref(kernel), kernel.launch
    del kernel
    gc.collect()
    array = np.zeros(1, np.float32)
    method(1, array, 7.0)
    assert array[0] == 7.0 and gone() is not None
    del method
    tileir.parse(PUT)["far"].launch(1, np.zeros(4, np.float32), 3)  # what compiles keeps the last one it has compiled
    gc.collect()
    assert gone() is None


def test_a_class_that_launches_otherwise_is_asked():
    class Counted(tileir.Kernel):
        count = 0

        def launch(self, grid, *args, **keywords):
            self.count += 1
            super().launch(grid, *args, **keywords)

    kernel = Counted((module := tileir.parse(PUT)), module["put"].entry)
    for _ in range(5):
        kernel.launch(1, np.zeros(1, np.float32), 1.0)
    assert kernel.count == 5


# ---------------------------------------------------------------- odd arguments


def odd_values(rng: random.Random) -> list[object]:
    """Arguments of all kinds, most of them wrong somewhere."""
    array = np.arange(rng.randint(0, 5), dtype=rng.choice(["f4", "f8", "i4", ">f4", "u1", "f2"]))
    wide = np.zeros((rng.randint(0, 3), rng.randint(1, 3)), np.float32)
    return [
        *(
            array,
            array[::-1],
            wide,
            wide.T,
            wide[:, :1],
            read_only(array.copy()),
            np.float32(2),
            np.array(2.0),
            object(),
        ),
        *(
            rng.randint(-(2**33), 2**33),
            rng.random() * 10.0 ** rng.randint(-50, 50),
            2**64,
            True,
            None,
            "x",
            b"y",
            (1,),
        ),
        *(float("nan"), float("inf"), int, [], {}, np.zeros(2, "f4").tobytes(), bytearray(8), memoryview(bytearray(8))),
        *(
            tileir.Pointer(0),
            np.ma.zeros(3, "f4"),
            np.rec.array([(1.0,)]),
            np.zeros(3, "U4"),
            3,
            0.5,
            np.zeros(3, "f4"),
        ),
    ]


def drawn(seed: int) -> tuple[object, tuple, dict]:
    """A grid, arguments and keywords, made anew each time."""
    rng = random.Random(seed)
    values = odd_values(rng)
    usual = np.zeros(3, np.float32), rng.randint(-1, 4), rng.random()
    arguments = [value if rng.random() < 0.6 else rng.choice(values) for value in usual]
    arguments += rng.sample(values, rng.choice([0, 0, 0, 0, 0, 0, 1]))
    grid = rng.choice([1, 1, (1,), (1, 1, 1), 0, "1", (1, 2, 3, 4), [1], True, np.int8(1), None, 2**24, (1, -1)])
    keywords = rng.choice([{}, {}, {}, {"threads": rng.choice([1, 2, 0, None, 1.0])}, {"target": "cpu"}, {"n": 1}])
    return grid, tuple(arguments), keywords


def outcome(kernel: tileir.Kernel, grid: object, arguments: tuple, keywords: dict) -> str:
    """The error, or what is in the arrays after the launch; without addresses."""
    try:
        result: object = kernel.launch(grid, *arguments, **keywords)
    except Exception as error:
        result = type(error), str(error)
    arrays = [value.tobytes() for value in arguments if isinstance(value, np.ndarray)]
    return re.sub("0x[0-9a-f]+", "", str((result, arrays)))


def test_odd_arguments_have_one_outcome_in_a_first_launch_and_later():
    text = """entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>) {
      %p = offset %a, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    }"""
    again = tileir.parse(text)["k"]
    for seed in range(400):
        assert outcome(again, *drawn(seed)) == outcome(tileir.parse(text)["k"], *drawn(seed))


# ---------------------------------------------------------------- threads, interrupts, forks


def test_an_interrupt_ends_a_launch():
    kernel, array = tileir.parse(PUT)["count"], np.zeros(1, np.int32)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), _alarm(lambda *_: 1 // 0):
            kernel.launch(1, array, (1 << 30) - 1)
        kernel.launch(1, array, 3)
        assert array[0] == ((0 ^ 1) * 1 ^ 2) * 2


class _alarm:
    """A signal, soon, that is handled by a function."""

    def __init__(self, handler: Callable[..., object]) -> None:
        self._handler = handler

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGALRM, self._handler)
        signal.setitimer(signal.ITIMER_REAL, 0.05)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)


def test_a_launch_within_a_launch_finds_another_arena():
    kernel, array, inner = tileir.parse(PUT)["count"], np.zeros(1, np.int32), []

    def handle(*_: object) -> None:
        other = np.zeros(1, np.int32)
        for _ in range(3):
            kernel.launch(1, other, 3)
        inner.append(int(other[0]))
        raise InterruptedError

    with pytest.raises(InterruptedError), _alarm(handle):
        kernel.launch(1, array, (1 << 30) - 1)
    assert inner == [6]


def test_threads_launch_one_kernel_at_once():
    kernel, wrong = tileir.parse(PUT)["count"], []

    def launches(count: int) -> None:
        array = np.zeros(1, np.int32)
        expected = 0
        for index in range(count):
            expected = (expected ^ index) * index & 0xFFFFFFFF
        for _ in range(300):
            array[0] = -1
            kernel.launch(1, array, count)
            if array.view(np.uint32)[0] != expected:
                wrong.append(count)

    threads = [threading.Thread(target=launches, args=(500 * number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_a_process_may_end_while_threads_launch():
    code = f"""if True:
        import threading, time, numpy, tileir
        kernel = tileir.parse({PUT!r})["count"]
        def launches(count=None):
            array = numpy.zeros(1, numpy.int32)
            while count is None or (count := count - 1) > 0:
                kernel.launch(1, array, 3000)
        launches(5)
        for _ in range(3):
            threading.Thread(target=launches, daemon=True).start()
        time.sleep(0.2)
    """
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_launches_again():
    kernel = tileir.parse(PUT)["count"]
    child = os.fork()
    if not child:
        array = np.zeros(1, np.int32)
        for _ in range(3):
            kernel.launch(1, array, 3)
        signal.alarm(20)
        with _alarm(lambda *_: os._exit(0 if array[0] == 6 else 2)):
            kernel.launch(1, array, (1 << 30) - 1)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
