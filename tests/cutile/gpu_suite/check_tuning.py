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


def test_no_run_takes_longer_than_it_may():
    found = search(single_run_timeout_sec=60)
    assert len(found.successes) == 3 and not found.failures


@ct.kernel
def wait_for(x, value: ct.Constant[int]):
    while ct.atomic_add(x, (0,), 0) != value:
        pass


def test_a_configuration_that_waits_forever_is_skipped():
    x = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    stream = torch.cuda.current_stream()
    found = ct.tune.exhaustive_search(
        [1, 0],
        stream,
        lambda value: (1,),
        wait_for,
        lambda value: (x, value),
        quiet=True,
        single_run_timeout_sec=0.3,
    )
    assert found.best.config == 0
    ((config, kind, _),) = found.failures
    assert config == 1 and issubclass(kind, RuntimeError) and kind.__name__ == "TileLaunchTimeoutError"
