"""Softmax of rows, with a table of times: a tutorial's script, which asks for CUDA by name."""

import argparse
from functools import partial

import cuda.tile as ct
import torch

DEVICE = torch.device("cuda", torch.cuda.current_device())


@ct.kernel
def softmax_rows(x, out, COLUMNS: ct.Constant[int]):
    row = ct.bid(0)
    tile = ct.load(x, index=(row, 0), shape=(1, COLUMNS), padding_mode=ct.PaddingMode.NEG_INF)
    shifted = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(out, index=(row, 0), tile=shifted / ct.sum(shifted, axis=1, keepdims=True))


def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    assert dim == 1 and x.is_cuda and x.is_contiguous()
    out = torch.empty_like(x)
    columns = 1 << (x.shape[1] - 1).bit_length()
    ct.launch(torch.cuda.current_stream(), (x.shape[0], 1, 1), softmax_rows, (x, out, columns))
    return out


def milliseconds(function, repeats: int) -> float:
    for _ in range(3):
        function()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    for _ in range(repeats):
        function()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / repeats


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    properties = torch.cuda.get_device_properties(DEVICE)
    print(f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}, {properties.multi_processor_count} processors")
    torch.manual_seed(0)
    print(f"{'columns':>8} {'cuTile GB/s':>12} {'torch GB/s':>12}")
    for columns in (100, 256, 781):
        x = torch.randn(options.rows, columns, device=DEVICE)
        torch.testing.assert_close(softmax(x, dim=1), torch.softmax(x, dim=1))
        size = 2 * x.numel() * x.element_size()
        rates = [
            size / milliseconds(partial(call, x, dim=1), options.repeats) / 1e6 for call in (softmax, torch.softmax)
        ]
        print(f"{columns:>8} {rates[0]:>12.2f} {rates[1]:>12.2f}")


if __name__ == "__main__":
    main()
