"""Configurations searched for the fastest one."""

import torch
from cuda import tile as ct
from kernels import DEVICE, scale


def search(**options):
    x = torch.rand(1024, device=DEVICE)
    return ct.tune.exhaustive_search(
        [16, 64, 256],
        torch.cuda.current_stream(),
        lambda size: (ct.cdiv(1024, size),),
        scale,
        lambda size: (x, 2.0, torch.empty_like(x), size),
        lambda size: {"occupancy": 2},
        quiet=True,
        **options,
    )


def test_every_configuration_is_measured():
    found = search()
    assert {measure.config for measure in found.successes} == {16, 64, 256}
    assert found.best.mean_us > 0 and not found.failures
