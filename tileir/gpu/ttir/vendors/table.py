"""The vendors' tables of instructions beyond TTIR."""

from __future__ import annotations

from tileir.gpu.arch import Arch, Vendor
from tileir.gpu.ttir.ir.builder import VendorInstructions
from tileir.gpu.ttir.vendors.amd import AmdInstructions
from tileir.gpu.ttir.vendors.nvidia import NvidiaInstructions

_TABLES: dict[Vendor, VendorInstructions] = {
    Vendor.NVIDIA: NvidiaInstructions(),
    Vendor.AMD: AmdInstructions(),
}


def instructions_of(arch: Arch) -> VendorInstructions:
    return _TABLES[arch.vendor]
