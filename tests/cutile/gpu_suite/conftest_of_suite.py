"""Asks for the GPU as soon as it is imported."""

import pytest
import torch
from torch import manual_seed, zeros

assert torch.cuda.is_available(), "this suite needs a GPU"
WARM = zeros(1, device="cuda")


@pytest.fixture(autouse=True)
def seeded():
    manual_seed(0)
    torch.cuda.synchronize()
