"""GPU code: run on the TTIR machine, or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

import tileir
from tests.differential import Outcome
from tests.gpu.hardware import hardware_functions
from tests.gpu.hardware.hardware_device import Device
from tests.targets import ttir, ttir_functions
from tests.targets.compared import Compared


class GpuCode(Protocol):
    """A place where GPU code runs."""

    def outcome(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[Any], arch: str) -> Outcome:
        """Run on the arrays as they are, and put back what was in them. Raises UnsupportedError."""

    def evaluated(self, text: str, *values: Any, arch: str = "sm_90") -> list[np.ndarray]:
        """The results of device function @f."""


class OnMachine:
    """Code for any architecture, on the TTIR machine."""

    def outcome(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[Any], arch: str) -> Outcome:
        return ttir.outcome(kernel, grid, args, arch)

    def evaluated(self, text: str, *values: Any, arch: str = "sm_90") -> list[np.ndarray]:
        return ttir_functions.evaluated(text, *values, arch=arch)


class OnDevice:
    """Code for the architecture of a device, whichever is asked for."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def outcome(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[Any], arch: str) -> Outcome:
        return self.device.outcome(kernel, grid, args)

    def evaluated(self, text: str, *values: Any, arch: str = "sm_90") -> list[np.ndarray]:
        return hardware_functions.evaluated(self.device, text, *values)


class GpuCompared(Compared):
    """GPU code beside the interpreter: launches as code for each of `archs`."""

    def __init__(self, name: str, code: GpuCode, archs: tuple[str, ...]) -> None:
        self.name = name
        self.variants = archs
        self._code = code

    def outcome(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[Any], variant: str) -> Outcome:
        return self._code.outcome(kernel, grid, args, variant)

    def evaluated(self, text: str, *values: Any) -> Sequence[np.ndarray] | None:
        return self._code.evaluated(text, *values)
