"""Errors name the user's Python file and line, with the line itself and a caret."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct

from tileir import KernelWarning, Trap, cutile

FILE = __file__
LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def line_of(text: str) -> int:
    """The number of the first line of this file that ends with `text`."""
    return next(number for number, line in enumerate(LINES, 1) if line.endswith(text))


@ct.kernel
def failing(x):
    t = ct.load(x, (ct.bid(0),), (4,))
    ct.assert_(t < 3, "not below three")  # noqa: PT009


def require_small(t):
    ct.assert_(t < 3, "too big")  # noqa: PT009 - in a function


@ct.kernel
def failing_in_a_function(x):
    require_small(ct.load(x, (ct.bid(0),), (4,)))


@ct.kernel
def out_of_bounds(x):
    ct.store(x, (0,), ct.gather(x, ct.arange(8, dtype=ct.int32), check_bounds=False))


@ct.kernel
def ill_typed(x):
    ct.store(x, (0,), ct.load(x, (0,), (4,)) + ct.zeros((3,), x.dtype))


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_failed_assertion_shows_its_line(target):
    with cutile.on(target), pytest.raises(Trap) as caught:
        ct.launch(None, (2,), failing, (np.arange(8, dtype=np.int32),))
    line = line_of("# noqa: PT009")
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{FILE}:{line}:5: trap: assertion failed: not below three")
    assert lines[-2:] == [f" {line} | {LINES[line - 1]}", f" {' ' * len(str(line))} |     ^"]
    assert caught.value.kernel == "failing" and caught.value.block == (0, 0, 0)


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_fault_in_a_function_shows_the_call_too(target):
    with cutile.on(target), pytest.raises(Trap) as caught:
        ct.launch(None, (2,), failing_in_a_function, (np.arange(8, dtype=np.int32),))
    text = str(caught.value)
    assert text.startswith(f"{FILE}:{line_of('# noqa: PT009 - in a function')}:5: trap: ")
    call = line_of("    require_small(ct.load(x, (ct.bid(0),), (4,)))")
    assert f"{FILE}:{call}:5: note: called from here\n {call} |     require_small(" in text


def test_an_access_outside_an_array_names_the_argument_and_shows_the_line():
    with cutile.on("interp"), pytest.raises(Trap) as caught:
        ct.launch(None, (1,), out_of_bounds, (np.zeros(4, np.float32),))
    assert caught.value.array == "x"
    assert f"{FILE}:{line_of('check_bounds=False))')}:" in str(caught.value)


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_errors_of_the_library_come_through_as_they_are(target):
    with cutile.on(target), pytest.raises(ct.TileError) as caught:
        ct.launch(None, (1,), ill_typed, (np.zeros(4, np.float32),))
    assert f"line {line_of('ct.zeros((3,), x.dtype))')}" in str(caught.value)


@ct.kernel
def outside(x):
    ct.store(x, (0,), ct.load(x, (ct.bid(0) + 7,), (4,)))


def test_a_warning_of_the_interpreter_stands_at_its_line():
    with cutile.on("interp"), pytest.warns(KernelWarning, match="outside the index space") as caught:
        ct.launch(None, (1,), outside, (np.zeros(4, np.float32),))
    line = line_of("ct.load(x, (ct.bid(0) + 7,), (4,)))")
    assert (caught[0].filename, caught[0].lineno) == (FILE, line)
