"""A driver of Python functions that says a GPU is there, so that cuTile looks at the arguments of a launch.

`compiled_for` stops a launch where the library would compile its kernel: nothing is run, and no driver is needed.
This module must be imported before `cuda.tile`, in a process of its own.
"""

import ctypes
import sys
import types

import numpy as np

Pointer = ctypes.c_void_p
Int, Long = ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_uint64)
HANDLE = 4096
"""The only context."""
CAPABILITY = {75: 10, 76: 0}
"""Attributes of the device: its compute capability."""

FUNCTIONS = {}


def answers(*parameters):
    """Make a Python function what the driver calls by that name; it gives 0, which is success."""

    def made(function):
        def called(*arguments):
            function(*arguments)
            return 0

        FUNCTIONS[function.__name__.encode()] = ctypes.CFUNCTYPE(ctypes.c_int, *parameters)(called)
        return function

    return made


@answers(Int)
def cuDriverGetVersion(answer):
    answer[0] = 13040


@answers(Int)
def cuDeviceGetCount(answer):
    answer[0] = 1


@answers(Int, ctypes.c_int)
def cuDeviceGet(answer, ordinal):
    answer[0] = ordinal


@answers(ctypes.POINTER(Pointer))
def cuCtxGetCurrent(answer):
    answer[0] = HANDLE


@answers(Int)
def cuCtxGetDevice(answer):
    answer[0] = 0


@answers(Pointer, ctypes.POINTER(Pointer))
def cuStreamGetCtx(stream, answer):
    answer[0] = HANDLE


@answers(Pointer, Long)
def cuCtxGetId(context, answer):
    answer[0] = 1


@answers(Pointer, Long)
def cuStreamGetId(stream, answer):
    answer[0] = 1


@answers(Pointer, Int)
def cuStreamIsCapturing(stream, answer):
    answer[0] = 0


@answers(Int, ctypes.c_int, ctypes.c_int)
def cuDeviceGetAttribute(answer, attribute, device):
    answer[0] = CAPABILITY.get(attribute, 1 << 20)


OTHER = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
FIND = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(Pointer), ctypes.c_int, ctypes.c_uint64, Int
)  # fmt: skip


@FIND
def find(name, answer, version, flags, status):
    answer[0] = ctypes.cast(FUNCTIONS.get(name, OTHER), Pointer).value
    if status:
        status[0] = 0
    return 0


stand_in = types.ModuleType("cuda.tile._load_libcuda")
stand_in.pointer = Pointer(ctypes.cast(find, Pointer).value)
stand_in.cuGetProcAddress_v2_ptrptr = ctypes.addressof(stand_in.pointer)
sys.modules["cuda.tile._load_libcuda"] = stand_in

from cuda.tile import _cext  # noqa: E402
from cuda.tile._execution import kernel as TileKernel  # noqa: E402


class OnDevice:
    """The memory of a NumPy array under the name of a GPU's."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict:
        host = self.array.__array_interface__
        return {key: host[key] for key in ("typestr", "shape", "data")} | {"strides": self.array.strides, "version": 3}


def on_device(value: object) -> object:
    """`value` with every array in it said to be on the GPU."""
    if isinstance(value, np.ndarray):
        return OnDevice(value)
    return type(value)(map(on_device, value)) if type(value) in (tuple, list) else value


class Compiled(Exception):
    """A launch has come as far as compiling."""


def _compile(kernel, signature, *context):
    raise Compiled(signature)


TileKernel._compile = _compile
launch = _cext.launch
"""The library's own."""


def compiled_for(grid, kernel, arguments):
    """The signature that the library compiles for by itself. Raises what the launch raises."""
    try:
        launch(0, grid, kernel, arguments)
    except Compiled as stop:
        return stop.args[0]
    raise AssertionError("the library did not compile")
