"""Prints, as a program of its own, where the library's launch and ours find different faults in arguments and grids.

The kind must be the library's, and our text must begin with its text.
"""

import sys
from collections import namedtuple
from typing import Annotated

import library_driver
import numpy as np
from cuda import tile as ct
from library_driver import on_device

from tileir.cutile.launch import LaunchReplacement
from tileir.frontend.chosen import Chosen
from tileir.runtime.module import target_named


@ct.kernel
def none():
    pass


@ct.kernel
def one(x):
    pass


@ct.kernel
def two(x, y):
    pass


@ct.kernel
def constant(n: ct.Constant[int]):
    pass


@ct.kernel
def constants(p: tuple[ct.Constant[int], ...]):
    pass


@ct.kernel
def pair(p: tuple[ct.Array, int]):
    pass


@ct.kernel
def wide(n: ct.ScalarInt64):
    pass


@ct.kernel
def third_extent(x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(2,))]):
    pass


@ct.kernel
def far_stride(x: Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(-4,))]):
    pass


@ct.kernel
def extent_twice(x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0, -1))]):
    pass


@ct.kernel
def equal_extents(
    xs: Annotated[list[ct.Array], ct.ListAnnotation(element=ct.ArrayAnnotation(static_shape_dims=(-1,)))],
):
    pass


@ct.kernel
def equal_strides(
    xs: Annotated[list[ct.Array], ct.ListAnnotation(element=ct.ArrayAnnotation(static_stride_dims=(0,)))],
):
    pass


class Plain:
    """Nothing that a kernel takes."""


class Tuple(tuple):
    """A tuple that is not plain."""


Point = namedtuple("Point", "x y")
f = np.zeros(3)
GRIDS = [
    [1], 1, None, (1, 1, 1, 1), (1.0,), (None,), ("1",), (np.int64(3),), (-1,), (1, -2), (1 << 24,), (1, 1, 1 << 24),
    ((1 << 32) - 1,), (1 << 32,), (1 << 63,), (1 << 64,), (True,), ((1 << 24) - 1,), (1, 2, 3), (),
]  # fmt: skip
ARGUMENTS = [
    (two, (1,)), (one, (1, 2)), (none, (1,)), (one, [1]), (one, None), (len, (1,)), (None, (1,)), (one, (1,)),
    *((one, (value,)) for value in [
        "a", None, Plain(), {}, 1j, np.float32(1), np.int32(1), ct.int32, b"a", len, Plain,
        1 << 31, -(1 << 31) - 1, 1 << 70, 1e300, float("nan"), (1, "a"), (1, (2, "a")), (1, ((2, None),)), (1, 1 << 40),
        Point(1, 2), Tuple((1, 2)), np.zeros(3, np.complex64), np.zeros(3, np.uint16),
        [], [1, 2], [True], [1.5], [[f]], [None], ["a"], [(f,)], [{}], [f, "a"], [f, None], [f, np.zeros((3, 3))],
        [f, np.zeros(3, np.int32)], [f, np.zeros((3, 3), np.int32)], (1, []), (1, [f, f.astype(np.float32)]), [f, f],
    ]),
    *((constant, (value,)) for value in [
        None, "a", [1], np.int32(3), (1, 2), (1, "a"), (1, (2, None)), Point(1, 2),
        1 << 64, -(1 << 63) - 1, (1 << 64) - 1,
    ]),
    *((constants, (value,)) for value in [1, [1], (1, None), Point(1, 2), (), (1, 2)]),
    *((pair, (value,)) for value in [1, f, (f,), (f, 1, 2), (), [f, 1], Point(1, 2), (f, 1)]),
    (wide, (1 << 63,)), (wide, (-(1 << 63) - 1,)), (wide, (1 << 40,)),
    (third_extent, (np.zeros((3, 3)),)), (third_extent, (np.zeros(()),)), (third_extent, (np.zeros((3, 3, 3)),)),
    (far_stride, (np.zeros((3, 3)),)), (extent_twice, (f,)), (extent_twice, (np.zeros((3, 3)),)),
    (equal_extents, ([np.zeros((3, 4)), np.zeros((2, 4)), np.zeros((3, 5))],)),
    (equal_extents, ([np.zeros(()), np.zeros(())],)),
    (equal_strides, ([np.zeros((4, 4)), np.zeros((4, 5))],)), (equal_strides, ([np.zeros((4, 4)), np.zeros((5, 4))],)),
]  # fmt: skip


def fault(launch, *arguments) -> tuple[str, str]:
    """Return the kind and text of a launch's error, both empty if it gets as far as compiling."""
    try:
        launch(*arguments)
    except library_driver.Compiled:
        pass
    except Exception as error:
        return type(error).__name__, str(error)
    return "", ""


def main() -> int:
    ours = LaunchReplacement(Chosen("cutile", target_named("interp")), gpu=False)
    cases = [(grid, one, (1,)) for grid in GRIDS] + [((1,), *case) for case in ARGUMENTS]
    faults = 0
    for grid, kernel, arguments in cases:
        given = on_device(arguments)
        kind, text = fault(library_driver.compiled_for, grid, kernel, given)
        my_kind, my_text = fault(ours.bound, grid, kernel, arguments)
        if kind != my_kind or not my_text.startswith(text):
            faults += 1
            print(f"{grid!r} {arguments!r:.80}: {my_kind} {my_text!r}, but the library {kind} {text!r}")
    print(f"{len(cases)} launches, {faults} differ")
    return faults


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
