"""Prints, as a program of its own, where our signatures differ from those that the library compiles a launch for.

And where we compile twice for one signature.
"""

import sys
from typing import Annotated

import library_driver
import numpy as np
from cuda import tile as ct
from cuda.tile import _cext
from cuda.tile.compilation import CallingConvention
from library_driver import on_device

from tileir.cutile.keys import signature
from tileir.cutile.launch import LaunchReplacement
from tileir.cutile.signature import KernelParameters
from tileir.frontend.chosen import Chosen
from tileir.runtime.module import target_named

HAS_STATIC_STRIDES = hasattr(ct.ArrayAnnotation(), "static_stride_dims")
"""Since cuda-tile 1.6."""


@ct.kernel
def plain(x):
    pass


@ct.kernel
def annotated(x: ct.IndexedWithInt64[ct.Array], n: ct.Constant, w: ct.ScalarInt64, p: tuple[ct.Constant[int], ...]):
    pass


@ct.kernel
def static_shape(x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(-1,))]):
    pass


def static_strides():
    """A kernel for one stride of each array, and one for one of each array of a list."""
    annotation = ct.ArrayAnnotation(static_stride_dims=(0,))

    @ct.kernel
    def static_stride(x: Annotated[ct.Array, annotation]):
        pass

    @ct.kernel
    def static_list(xs: Annotated[list[ct.Array], ct.ListAnnotation(element=annotation)]):
        pass

    return static_stride, static_list


def arrays() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    memory = np.zeros(1 << 16, np.uint8)
    made = []
    for _ in range(300):
        dtype = np.dtype(rng.choice(["f2", "f4", "f8", "i1", "u4", "i8", "?"]))
        offset = int(rng.choice([0, 4, 8, 16])) * dtype.itemsize
        whole = memory[64 + offset : 64 + offset + 4096 * dtype.itemsize].view(dtype)
        rank = int(rng.integers(0, 4))
        shape = tuple(int(extent) for extent in rng.choice([0, 1, 2, 3, 8, 16], rank))
        steps = tuple(int(step) * dtype.itemsize for step in rng.choice([0, 1, 2, 3, 8, 16, 48, 128], rank))
        made.append(np.lib.stride_tricks.as_strided(whole, shape, steps))
        made.append(np.ascontiguousarray(np.zeros(shape, dtype)))
    return made


def launches() -> list[tuple]:
    some = arrays()
    ranked = [array for array in some if array.ndim]
    lists = [[np.zeros(shape, np.float32) for shape in pair] for pair in [
        ((1, 16), (1, 16)), ((1, 16), (2, 16)), ((16, 1), (16, 16)), ((3, 3), (16, 16)), ((0, 1), (1, 1)),
    ]]  # fmt: skip
    calls = [(plain, (array,)) for array in some]
    calls += [(plain, (value,)) for value in (1, True, 1.5, (1, (2.5, np.zeros(16))), [np.zeros(3), np.zeros(16)])]
    calls += [(plain, (arrays,)) for arrays in lists]
    calls += [(annotated, (np.zeros((3, 32)), value, 1 << 40, (1, 2))) for value in (1, True, -0.0, (1, 2))]
    calls += [(static_shape, (array,)) for array in ranked]
    if HAS_STATIC_STRIDES:
        static_stride, static_list = static_strides()
        calls += [(static_stride, (array,)) for array in ranked]
        calls += [(static_list, ([array, array[:1]],)) for array in ranked]
    return calls


def differs_by_convention(launcher, kernel, arguments, convention) -> bool:
    """Return whether `KernelSignature.from_kernel_args` answers differently from the library."""
    ours = launcher.constraints(kernel, arguments, convention)
    theirs = _cext.get_parameter_constraints_from_pyargs(kernel, on_device(arguments), convention)
    if list(ours) == list(theirs):
        return False
    print(f"{kernel._pyfunc.__name__}{arguments!r:.60}, {convention}: {ours} but the library {theirs}")
    return True


def main() -> int:
    calls, faults = launches(), 0
    launcher = LaunchReplacement(Chosen("cutile", target_named("interp")), gpu=False)
    kernels: dict[tuple, tuple] = {}
    for kernel, arguments in calls:
        key, _ = KernelParameters(kernel, ("cpu",)).bind(arguments)
        ours = signature(key, "k")
        theirs = library_driver.compiled_for((1,), kernel, on_device(arguments))
        if (ours.parameters, ours.calling_convention) != (theirs.parameters, theirs.calling_convention):
            faults += 1
            print(f"{kernel._pyfunc.__name__}{arguments!r:.60}: {ours} but the library {theirs}")
        for convention in (CallingConvention.cutile_python_v1(), CallingConvention.cutile_python_v2()):
            faults += differs_by_convention(launcher, kernel, arguments, convention)
        if kernels.setdefault((kernel, repr(theirs)), key) != key:
            faults += 1
            print(f"{kernel._pyfunc.__name__}{arguments!r:.60}: a second kernel for {theirs}")
    print(f"{len(calls)} signatures, {faults} differ")
    return faults


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
