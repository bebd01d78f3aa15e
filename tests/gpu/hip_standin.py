"""A HIP runtime that runs launches as AMD's machine code, on the hsaco machine."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.ttir_machine import Allocation, MachineFault
from tileir.gpu.hip_driver import HipDriver
from tileir.gpu.object_files import hsaco_kernels

SOURCE = Path(__file__).with_name("fake_libamdhip64.c")
ARCH = "gfx1100"
"""The architecture that the devices say they are of."""
PATIENCE = 120
_UNSIGNED, _POINTER = ctypes.c_uint, ctypes.c_void_p
_RUN = ctypes.CFUNCTYPE(
    ctypes.c_int, _POINTER, ctypes.c_size_t, ctypes.c_char_p, *[_UNSIGNED] * 5, ctypes.c_size_t, _POINTER
)
_ILLEGAL_ADDRESS = 700


def headers() -> Path | None:
    """The folder of HIP's headers, which Triton brings along."""
    found = importlib.util.find_spec("triton")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "backends" / "amd" / "include"
    return folder if (folder / "hip" / "hip_runtime_api.h").exists() else None


def reason_not_to_build() -> str | None:
    """Return the requirement that is missing to make the library; None if nothing is."""
    if shutil.which("cc") is None:
        return "needs a C compiler"
    return None if headers() is not None else "needs triton, with the headers of HIP (pip install '.[gpu]')"


def build(folder: Path) -> Path:
    """Make the library in a folder."""
    made = folder / "libamdhip64.so.7"
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-w",
        f"-I{headers()}",
        f"-Wl,-soname,{made.name}",
        "-o",
        str(made),
        str(SOURCE),
    ]
    subprocess.run(command, check=True, timeout=PATIENCE)
    return made


class _Piece(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@dataclass
class HipLaunch:
    """One launch, as the runtime was told it."""

    kernel: str
    grid: tuple[int, int, int]
    threads: int
    stream: int
    values: tuple[int, ...]


@dataclass
class HipStandin:
    """The driver and its launches; `fault` is the last fault that the machine found."""

    driver: HipDriver
    library: ctypes.CDLL
    launches: list[HipLaunch] = field(default_factory=list)
    fault: MachineFault | None = None

    def pieces(self) -> list[Allocation]:
        """The memory of the devices."""
        count = ctypes.c_uint.in_dll(self.library, "fake_count").value
        found = (_Piece * 4096).in_dll(self.library, "fake_pieces")
        return [Allocation("device", piece.address, piece.size) for piece in found[:count]]


def opened(library: Path) -> HipStandin:
    """Load the library and let the machine run its launches."""
    from tests import hsaco_machine

    loaded = ctypes.CDLL(str(library))
    standin = HipStandin(HipDriver(loaded), loaded)

    def run(launched: HipLaunch, code: bytes, shared: int) -> None:
        kernel = hsaco_machine.Kernel(code, launched.kernel, ARCH, launched.threads, shared)
        hsaco_machine.run(kernel, launched.grid, launched.values, standin.pieces())

    callback = _RUN(_receiver(standin, run))
    ctypes.c_void_p.in_dll(loaded, "fake_run").value = ctypes.cast(callback, ctypes.c_void_p).value
    standin.library.callback = callback  # type: ignore[attr-defined]
    return standin


def _receiver(standin: HipStandin, run: Callable[[HipLaunch, bytes, int], None]) -> Callable[..., int]:
    def receive(
        code: int, size: int, name: bytes, gx: int, gy: int, gz: int, threads: int, shared: int, stream: int, given: int
    ) -> int:
        content, kernel = ctypes.string_at(code, size), name.decode()
        values = _values(given, hsaco_kernels(content)[kernel].parameters)
        launched = HipLaunch(kernel, (gx, gy, gz), threads, stream, values)
        standin.launches.append(launched)
        try:
            run(launched, content, shared)
        except MachineFault as fault:
            standin.fault = fault
            return _ILLEGAL_ADDRESS
        return 0

    return receive


def _values(addresses: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """The parameters of a launch, which lie at the addresses that it gives, in so many bytes each."""
    places = (ctypes.c_void_p * len(sizes)).from_address(addresses)
    return tuple(int.from_bytes(ctypes.string_at(place, size), "little") for place, size in zip(places, sizes))
