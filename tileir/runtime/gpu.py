"""Code shared by the GPU targets: from the arguments of a launch to the driver and back."""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from tileir.gpu.arch import MAX_STAGES, MAX_WARPS, Vendor
from tileir.gpu.compiler import AS_THE_KERNEL_HAS_IT, RequestedOptions
from tileir.gpu.driver import DeviceMemory, Driver, GpuDevice, Library
from tileir.gpu.executable import Executable
from tileir.gpu.launch import KernelLauncher
from tileir.gpu.mailbox import Mail
from tileir.host.printing import Output, formatter, write
from tileir.host.undefined import assertion_text
from tileir.ir.core import Op
from tileir.ir.diagnostics import Trap, UnsupportedError
from tileir.ir.escaping import shown
from tileir.ops.module import Global
from tileir.runtime.arguments import Argument, ArrayArgument
from tileir.runtime.arrays import CPU, GPU, ROCM, Array, is_for_rocm
from tileir.runtime.grid import Grid
from tileir.runtime.memory import alignment_of, memory_image
from tileir.runtime.module import DeviceTarget, Kernel, Module, Run
from tileir.runtime.options import (
    Check,
    GpuOptions,
    LaunchOptions,
    VendorOptions,
    checked,
    optimizes,
    positive,
    power_of_two,
    refuse_strict,
)

_LOW_BITS = 15
"""A number without these bits is a multiple of 16, which lets code load and store more at a time."""


MEMORY = {Vendor.NVIDIA: GPU, Vendor.AMD: ROCM}
"""The device whose memory each vendor's GPUs use, by the names of `arrays.Array.device`."""


class CodeVariant(NamedTuple):
    """The code of a kernel that a launch needs: for arguments that are multiples of 16 where `aligned` says so of the
    parameters watched, or 1 where `ones` does, with the options that are requested, and by address where no descriptor
    describes a tensor."""

    aligned: tuple[bool, ...]
    ones: tuple[bool, ...] = ()
    requested: RequestedOptions = AS_THE_KERNEL_HAS_IT
    by_address: bool = False


class Route(Protocol):
    """A way to make the code of one kernel."""

    @property
    def watched(self) -> Sequence[int]:
        """The parameters whose code depends on whether the argument is a multiple of 16, or is 1."""

    def code(self, driver: Driver, device: GpuDevice, variant: CodeVariant) -> tuple[Executable, Library, Sequence[Op]]:
        """Return the code for the device of the thread, and the operations that the host has a part in. Raises
        UnsupportedError."""


@dataclass(frozen=True)
class _Settings:
    """Options of a launch; `stream` None is the current one."""

    stream: int | None = None
    output: Output = None
    requested: RequestedOptions = AS_THE_KERNEL_HAS_IT


class Gpu(DeviceTarget):
    """A target on the GPUs of a driver; `route` makes the code of a kernel."""

    def __init__(
        self,
        name: str,
        description: str,
        driver: Driver,
        route: Callable[[Kernel, bool], Route],
        gives_output: bool = True,
    ) -> None:
        self.name = name
        self.description = description
        self.gives_output = gives_output
        self.driver = driver
        self.devices = (MEMORY[driver.vendor],)
        self._route = route

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        """Prepare a launch; for the options see `options.GpuOptions`, or `VendorOptions` if the target gives no output.

        A launch returns before the kernel has run, unless the kernel prints or has an `assert`.
        """
        refuse_strict(check, self.name)
        key = self.name, optimizes(options)
        prepared = kernel.memo(key, lambda: _GpuKernel(kernel, self.driver, self._route(kernel, key[1])))
        settings = self._settings(options) if options else prepared.usual

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            prepared.run(grid, arguments, settings)

        return run

    def _settings(self, options: LaunchOptions) -> _Settings:
        given = checked(options, GpuOptions if self.gives_output else VendorOptions, self.name)
        number = stream_number(given["stream"]) if "stream" in given else None
        warps = power_of_two("warps", options.get("warps"), MAX_WARPS)
        requested = RequestedOptions(warps, positive("stages", options.get("stages"), MAX_STAGES))
        return _Settings(number, given.get("output"), requested)

    # ------------------------------------------------------------ arrays of the host, on the default stream

    def placed(self, array: np.ndarray) -> Array:
        """Return a copy of an array on the device of the thread, as long as it is referred to."""
        whole = array if array.flags.forc else np.ascontiguousarray(array)
        memory = DeviceMemory(self.driver, whole.tobytes("A"))
        device = f"{self.devices[0]}:{self.driver.device().ordinal}"
        return Array(
            memory.address, array.shape, whole.strides, array.itemsize, array.dtype, None, True, device, True, memory
        )

    def fetch(self, placed: Array, array: np.ndarray) -> None:
        """Copy a placed array back when all launches are done. Raises Trap for a fault of one."""
        content = bytearray(array.nbytes)
        self.driver.download(placed.address, content)
        order: Literal["C", "F"] = "F" if array.flags.fnc else "C"
        array[...] = np.frombuffer(content, array.dtype).reshape(array.shape, order=order)

    def finish(self) -> None:
        """Wait until all launches are done. Raises Trap for a fault of one."""
        self.driver.device()
        self.driver.finish()

    def seconds(self, action: Callable[[], object]) -> float:
        """Measure the device's time for what `action` launches, in seconds."""
        return self.driver.seconds(action)


class _GpuKernel:
    """A kernel for one route; `usual` are the settings of launches without options."""

    def __init__(self, kernel: Kernel, driver: Driver, route: Route) -> None:
        self._kernel = kernel
        self._driver = driver
        self._route = route
        self._watched = [(position, 1 << 2 * number) for number, position in enumerate(route.watched)]
        self._launchers: dict[tuple[int, int, RequestedOptions, bool], KernelLauncher] = {}
        self._captured: list[bytes] = []
        """Tables that graphs read at each run."""
        self.usual = _Settings()

    def run(self, grid: Grid, arguments: Sequence[Argument], settings: _Settings) -> None:
        values, places, tables = _gathered(arguments)
        device = self._driver.device()
        ordinal = _ordinal(places[0]) if len(places) == 1 else _only_ordinal(places)
        if ordinal is None or ordinal == device.ordinal:
            self._launch(device, grid, values, tables, settings)
        else:
            with self._driver.on(ordinal):
                self._launch(self._driver.device(), grid, values, tables, settings)

    def _launch(
        self, device: GpuDevice, grid: Grid, values: list[int], tables: dict[int, bytes], settings: _Settings
    ) -> None:
        """Launch on the device of the thread, which gets the `tables` by position before."""
        stream = current_stream(device.ordinal, device.arch.vendor) if settings.stream is None else settings.stream
        borrowed: list[int] = []
        try:
            for position, table in tables.items():
                borrowed.append(self._driver.borrow(len(table), stream))
                if self._driver.is_capturing(stream):
                    self._captured.append(table)
                self._driver.send(borrowed[-1], table, stream)
                values[position] = borrowed[-1]
            self._start(device, grid, values, stream, settings)
        finally:
            for address in borrowed:
                self._driver.give_back(address, stream)

    def _start(self, device: GpuDevice, grid: Grid, values: list[int], stream: int, settings: _Settings) -> None:
        pattern = 0
        for position, bit in self._watched:
            value = values[position]
            if not value & _LOW_BITS:
                pattern |= bit
            elif value == 1:
                pattern |= 2 * bit
        launcher = self._launcher(device, pattern, settings.requested, stream)
        descriptors = launcher.descriptors(values)
        if descriptors is None:
            launcher, descriptors = self._launcher(device, pattern, settings.requested, stream, by_address=True), ()
        mail = launcher.launch(grid, values, stream, descriptors)
        if mail is not None:
            self._deliver(mail, settings.output)

    def _launcher(
        self, device: GpuDevice, pattern: int, requested: RequestedOptions, stream: int, by_address: bool = False
    ) -> KernelLauncher:
        which = device.ordinal, pattern, requested, by_address
        launcher = self._launchers.get(which)
        if launcher is None:
            if self._driver.is_capturing(stream):
                what = f"kernel @{shown(self._kernel.name)} has no code for these arguments yet"
                raise UnsupportedError(f"{what}: launch it once before a graph is captured", self._driver.vendor.value)
            aligned, ones = (tuple(bool(pattern & bit * by) for _, bit in self._watched) for by in (1, 2))
            launcher = self._launchers[which] = self._made(device, CodeVariant(aligned, ones, requested, by_address))
        return launcher

    def _made(self, device: GpuDevice, variant: CodeVariant) -> KernelLauncher:
        kernel, driver = self._kernel, self._driver
        executable, library, sites = self._route.code(driver, device, variant)

        def global_address(name: str) -> int:
            key = "globals on GPU", id(driver), device.ordinal
            return kernel.module.memo(key, lambda: _globals(kernel.module, driver))[name].address

        return KernelLauncher(driver, executable, library, sites, len(kernel.parameters), global_address, kernel.name)

    def _deliver(self, mail: Mail, output: Output) -> None:
        """Print what was printed. Raises the Trap of a failed assertion."""
        for one in mail.printed:
            text, _ = formatter(one.op.text, [tile.type.element for tile in one.op.args])
            write(output, text(one.tiles))
        if mail.lost:
            what = f"kernel @{shown(self._kernel.name)} printed more than there was room for"
            warnings.warn(f"{what}: {mail.lost} outputs are missing", RuntimeWarning, stacklevel=2)
        failure = mail.failure
        if failure is not None:
            op = failure.op
            raise Trap(
                assertion_text(op, failure.block, failure.condition),
                kernel=self._kernel.name,
                block=failure.block,
                op=op.spec.name,
                loc=op.loc,
                index=failure.index,
                source=self._kernel.module.source,
            )


@cache
def _ordinal(place: str) -> int | None:
    """Return the number in the name of a device; None if it has none."""
    number = place.partition(":")[2]
    return int(number) if number else None


def _only_ordinal(places: Sequence[str]) -> int | None:
    """Return the number of the device that all arrays are on; None if they do not tell."""
    numbers = {_ordinal(place) for place in places} - {None}
    if len(numbers) > 1:
        raise ValueError(f"expected all arrays of a launch on one GPU, got {' and '.join(sorted(set(places)))}")
    return numbers.pop() if numbers else None


def _globals(module: Module, driver: Driver) -> dict[str, DeviceMemory]:
    """Return the globals of a module on the device of the thread, apart from those that other targets use."""
    globals = [item for item in module.items if isinstance(item, Global)]
    return {
        item.sym_name: DeviceMemory(driver, memory_image(item.value).tobytes(), alignment_of(item)) for item in globals
    }


def _gathered(arguments: Sequence[Argument]) -> tuple[list[int], list[str], dict[int, bytes]]:
    """Return the bits of the arguments; the devices that arrays are on, each as often as it follows another one; and,
    by position, the content of tables of addresses, which are not there yet."""
    values: list[int] = []
    device, devices = "", []
    tables = {}
    for argument in arguments:
        if isinstance(argument, ArrayArgument):
            found = argument.device
            if argument.reaches:
                found = argument.reaches[0].device
                array = argument.array
                assert array.device == CPU and array.contiguous, "a launch has made it in the memory of this process"
                tables[len(values)] = ctypes.string_at(array.address, array.itemsize * prod(array.shape))
            if found is not device:
                device = found
                devices.append(device)
        values.append(argument.bits)
    return values, devices, tables


# ---------------------------------------------------------------- streams


DEFAULT_STREAM = 0
"""The default stream of the device, which waits for all others that are not made otherwise."""


def current_stream(ordinal: int, vendor: Vendor) -> int:
    """Return the stream that torch's work on device `ordinal` of the vendor goes to now; CuPy's if torch does not use
    such."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized() and is_for_rocm(torch) is (vendor is Vendor.AMD):
        # Compiled code of torch calls this too: it is ten times faster than the public function.
        quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        return int(torch.cuda.current_stream(ordinal).cuda_stream if quick is None else quick(ordinal))
    cupy = sys.modules.get("cupy")
    if cupy is None or is_for_rocm(cupy) is not (vendor is Vendor.AMD):
        return DEFAULT_STREAM
    return int(cupy.cuda.get_current_stream().ptr)


def stream_number(stream: object) -> int:
    """Return the driver's number of a stream: an integer, or a stream of torch, CuPy, Numba, cuda-core or the bindings.

    Raises TypeError for anything else.
    """
    number = _number(stream)
    if number is None or not 0 <= number < 1 << 64:
        expected = "the number of a stream, or a stream of torch, CuPy or any library with __cuda_stream__"
        raise TypeError(f"stream: expected {expected}, got {stream!r}")
    return number


def _number(stream: Any) -> int | None:
    if isinstance(stream, bool):
        return None
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for attribute in ("cuda_stream", "ptr"):
        if isinstance(getattr(stream, attribute, None), int):
            return int(getattr(stream, attribute))
    return int(stream) if hasattr(stream, "__int__") and not isinstance(stream, str | float) else None
