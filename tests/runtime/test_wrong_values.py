"""Wrong values handed to a function of the interface are refused in words, before anything runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tileir

MODULE = tileir.parse("""entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {
  %t = store_ptr_tko weak %p, %n : tile<ptr<i32>>, tile<i32> -> token
}""")
KERNEL = MODULE["k"]


@pytest.mark.parametrize("call", [tileir.verify, tileir.to_text, tileir.to_bytecode, tileir.optimize])
def test_what_is_no_module_is_refused(call: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match=r"^module: expected a module, as tileir.load gives one, got str$"):
        call("entry @k() {}")
    with pytest.raises(TypeError, match=r"got Kernel; the program of a kernel is its attribute 'module'$"):
        call(KERNEL)


@pytest.mark.parametrize(
    "call", [tileir.sanitize, tileir.explore, tileir.view, tileir.profile, lambda kernel, *_: tileir.prove(kernel)]
)
def test_what_is_no_kernel_is_refused(call: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=r"^kernel: expected a kernel, such as module\['name'\], got int$"):
        call(5, (1,))
    with pytest.raises(TypeError, match=r"got Module; those of a module are in its attribute 'kernels'$"):
        call(MODULE, (1,))


def test_text_and_bytes_are_told_apart() -> None:
    with pytest.raises(TypeError, match=r"^text: expected a string, got bytes; tileir.load takes files and bytes$"):
        tileir.parse(b"entry @k() {}")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^data: expected bytes, got str; tileir.load takes files and text$"):
        tileir.from_bytecode("entry @k() {}")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^level: expected one of '13.1', .*, '13.5', got 13.5$"):
        tileir.verify(MODULE, level=13.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize(
    ("name", "expected"), [("output", "a file, a function of a text"), ("progress", "a function of two numbers")]
)
def test_an_option_that_cannot_be_called_is_refused_before_the_launch(target: str, name: str, expected: str) -> None:
    out = np.zeros(1, np.int32)
    with pytest.raises(TypeError, match=f"^{name}: expected {expected} or None, got 5$"):
        KERNEL.launch(1, out, 7, target=target, **{name: 5})
    assert out[0] == 0


@pytest.mark.parametrize("schedules", [0, -1])
def test_the_sanitizer_runs_at_least_one_order(schedules: int) -> None:
    with pytest.raises(ValueError, match=f"^schedules: expected a positive integer, got {schedules}$"):
        tileir.sanitize(KERNEL, 1, np.zeros(1, np.int32), 7, schedules=schedules)


def test_a_function_of_the_host_needs_a_name() -> None:
    with pytest.raises(TypeError, match=r"^symbol: expected a name, got int$"):
        tileir.register_extern(5, abs)  # type: ignore[arg-type]
