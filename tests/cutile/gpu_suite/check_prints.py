"""Output of kernels."""

import torch
from cuda import tile as ct
from kernels import say


def test_prints_come_to_standard_output(capfd):
    x = torch.arange(8, dtype=torch.int32, device="cuda")
    ct.launch(torch.cuda.current_stream(), (2,), say, (x,))
    torch.cuda.synchronize()
    lines = capfd.readouterr().out.splitlines()
    assert sorted(line.split() for line in lines) == [["tile", "0", "holds", "6"], ["tile", "1", "holds", "22"]]
