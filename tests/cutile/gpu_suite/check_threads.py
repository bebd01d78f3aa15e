"""Tensors made and kernels launched in threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from kernels import scaled


def work(number):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.device("cuda"):
        x = torch.arange(64, dtype=torch.float32) + torch.full((64,), float(number), device="cuda")
        out = scaled(x.cuda(), 2.0, stream=stream)
    stream.synchronize()
    assert out.is_cuda and out.get_device() == 0
    return torch.equal(out, x * 2)


def test_a_pool_of_threads():
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(16)))


def test_a_thread_of_its_own():
    found = []
    thread = threading.Thread(target=lambda: found.append(work(3)))
    thread.start()
    thread.join()
    assert found == [True]
