"""Every golden program compiles for every architecture of AMD's; `make amd-test` runs this."""

from __future__ import annotations

import pytest

from tests.gpu.test_amd_compiles import FILES, require_golden
from tileir.gpu.arch import WAVES


@pytest.mark.parametrize("arch", WAVES)
@pytest.mark.parametrize("file", FILES)
def test_a_golden_program_compiles(file: str, arch: str) -> None:
    require_golden(file, arch)
