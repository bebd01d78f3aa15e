"""Rows of all processes times a matrix, in one kernel that reads the memory of its peers.

python gather_matmul.py [--processes N]
"""

import argparse
import socket

import cuda.tile as ct
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
import torch.multiprocessing as mp

ROWS, DEPTH, COLUMNS = 128, 192, 96


@ct.kernel
def gather_matmul_kernel(parts, weight, out, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    each = ct.cdiv(parts[0].shape[0], TM)
    part, row = parts[i // each], i % each
    kind = ct.tfloat32 if part.dtype == ct.float32 else part.dtype
    total = ct.full((TM, TN), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(weight, axis=0, shape=(TK, TN))):
        a = ct.load(part, index=(row, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO).astype(kind)
        b = ct.load(weight, index=(k, j), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO).astype(kind)
        total = ct.mma(a, b, total)
    ct.store(out, index=(i, j), tile=total.astype(out.dtype))


def gather_matmul(x: torch.Tensor, weight: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
    memory = symmetric.rendezvous(x, group.group_name)
    parts = [memory.get_buffer(rank, x.shape, x.dtype, 0) for rank in range(memory.world_size)]
    out = torch.empty(len(x) * memory.world_size, weight.shape[1], device=x.device, dtype=x.dtype)
    grid = (ct.cdiv(len(out), 64), ct.cdiv(weight.shape[1], 64))
    ct.launch(torch.cuda.current_stream(), grid, gather_matmul_kernel, (parts, weight, out, 64, 64, 64))
    return out


def work(rank: int, processes: int, port: int) -> None:
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    place = f"tcp://localhost:{port}"
    dist.init_process_group("nccl", init_method=place, rank=rank, world_size=processes, device_id=device)
    torch.manual_seed(rank)
    x = symmetric.empty(ROWS, DEPTH, device=device, dtype=torch.bfloat16).copy_(torch.randn(ROWS, DEPTH))
    weight = torch.randn(DEPTH, COLUMNS, device=device, dtype=torch.bfloat16)
    dist.barrier()
    gathered = torch.empty(processes * ROWS, DEPTH, device=device, dtype=x.dtype)
    dist.all_gather_into_tensor(gathered, x)
    torch.testing.assert_close(gather_matmul(x, weight, dist.group.WORLD), gathered @ weight, rtol=2e-2, atol=1e-1)
    dist.barrier()
    if rank == 0:
        print(f"{processes} processes: the products agree")
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=torch.cuda.device_count())
    processes = parser.parse_args().processes
    mp.spawn(work, args=(processes, free_port()), nprocs=processes)
