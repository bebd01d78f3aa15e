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


def test_a_program():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"96.0 {torch.cuda.get_device_name()}\n"


def grandchild():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=Path(__file__).parent)
    sys.exit(done.returncode)


def worker(results):
    x = torch.ones(32, device="cuda")
    results.put(scaled(x, 5.0).cpu().sum().item())


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_a_worker(method):
    assert scaled(torch.ones(1 << 16, device="cuda"), 2.0).sum().item() == 1 << 17
    context = multiprocessing.get_context(method)
    results = context.Queue()
    process = context.Process(target=worker, args=(results,))
    process.start()
    assert results.get(timeout=120) == 160
    process.join()
    assert process.exitcode == 0


def test_a_child_of_a_child():
    process = multiprocessing.get_context("spawn").Process(target=grandchild)
    process.start()
    process.join()
    assert process.exitcode == 0
