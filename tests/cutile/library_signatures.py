"""Prints, as a program of its own, where our signatures differ from those that the library makes for a launch.

The library asks a driver before it looks at arguments. Here the driver is a few Python functions that say a GPU is
there: nothing is launched, and no driver is needed.
"""

import ctypes
import sys
import types

import numpy as np

FOUND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))
FIND = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int,
    ctypes.c_uint64,
    ctypes.POINTER(ctypes.c_int),
)


@FOUND
def driver_version(answer):
    answer[0] = 13040
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int)
def success():
    return 0


@FIND
def find(name, answer, version, flags, status):
    function = driver_version if name == b"cuDriverGetVersion" else success
    answer[0] = ctypes.cast(function, ctypes.c_void_p).value
    if status:
        status[0] = 0
    return 0


def stand_in() -> types.ModuleType:
    module = types.ModuleType("cuda.tile._load_libcuda")
    module.pointer = ctypes.c_void_p(ctypes.cast(find, ctypes.c_void_p).value)
    module.cuGetProcAddress_v2_ptrptr = ctypes.addressof(module.pointer)
    return module


class OnDevice:
    """The memory of a NumPy array under the name of a GPU's."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict:
        host = self.array.__array_interface__
        return {key: host[key] for key in ("typestr", "shape", "data")} | {"strides": self.array.strides, "version": 3}


def on_device(value: object) -> object:
    if isinstance(value, np.ndarray):
        return OnDevice(value)
    return type(value)(map(on_device, value)) if isinstance(value, tuple | list) else value


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


def main() -> int:
    sys.modules["cuda.tile._load_libcuda"] = stand_in()
    import cuda.tile as ct
    from cuda.tile.compilation import CallingConvention, KernelSignature

    from tileir.cutile.signature import Parameters, signature

    @ct.kernel
    def plain(x):
        pass

    @ct.kernel
    def annotated(x: ct.IndexedWithInt64[ct.Array], n: ct.Constant, w: ct.ScalarInt64, p: tuple[ct.Constant[int], ...]):
        pass

    calls = [(plain, (array,)) for array in arrays()]
    calls += [(plain, (value,)) for value in (1, True, 1.5, (1, (2.5, np.zeros(16))), [np.zeros(3), np.zeros(16)])]
    calls += [(annotated, (np.zeros((3, 32)), value, 1 << 40, (1, 2))) for value in (1, True, -0.0, (1, 2))]
    faults = 0
    for kernel, arguments in calls:
        key, _ = Parameters(kernel, ("cpu",)).bind(arguments)
        ours = signature(key, "k")
        convention = {1: CallingConvention.cutile_python_v1, 2: CallingConvention.cutile_python_v2}
        version = convention[ours.calling_convention.version]()
        theirs = KernelSignature.from_kernel_args(kernel, on_device(arguments), version, symbol="k")
        if ours.parameters != theirs.parameters:
            faults += 1
            print(f"{kernel._pyfunc.__name__}{arguments!r:.60}: {ours.parameters} but the library {theirs.parameters}")
    print(f"{len(calls)} signatures, {faults} differ")
    return faults


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
