"""Python processes that the tests start."""

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from kernels import scaled

PROGRAM = """
import torch
from kernels import scaled
x = torch.ones(32, device="cuda")
print(scaled(x, 3.0).sum().item(), torch.cuda.get_device_name())
"""


PRINTED = f"96.0 {torch.cuda.get_device_name()}\n"


def printed():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, timeout=120)
    return done.stdout + done.stderr


def test_a_program():
    assert printed() == PRINTED


def worker(results):
    x = torch.ones(32, device="cuda")
    results.put(scaled(x, 5.0).cpu().sum().item())


def worker_with_a_child(results):
    worker(results)
    results.put(printed())


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_a_worker(method):
    assert scaled(torch.ones(1 << 16, device="cuda"), 2.0).sum().item() == 1 << 17
    context = multiprocessing.get_context(method)
    results = context.Queue()
    process = context.Process(target=worker_with_a_child if method == "spawn" else worker, args=(results,))
    process.start()
    assert results.get(timeout=120) == 160
    if method == "spawn":
        assert results.get(timeout=120) == PRINTED
    process.join(timeout=120)
    assert process.exitcode == 0
