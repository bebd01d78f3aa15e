"""Rows looked up in a table, and put back in another order: gather and scatter with tiles of indices."""

import cuda.tile as ct
import torch

STREAM = torch.cuda.current_stream() if torch.cuda.is_available() else 0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@ct.kernel
def look_up(table, indices, out, rows: ct.Constant[int], columns: ct.Constant[int]):
    i = ct.bid(0)
    chosen = ct.load(indices, (i,), (rows,)).reshape((rows, 1))
    across = ct.arange(columns, dtype=ct.int32).reshape((1, columns))
    ct.store(out, (i, 0), ct.gather(table, (chosen, across)))


@ct.kernel
def put_back(x, indices, out, rows: ct.Constant[int], columns: ct.Constant[int]):
    i = ct.bid(0)
    places = ct.load(indices, (i,), (rows,)).reshape((rows, 1))
    across = ct.arange(columns, dtype=ct.int32).reshape((1, columns))
    ct.scatter(out, (places, across), ct.load(x, (i, 0), (rows, columns)))


def moved(kernel, x, indices, out, rows=16):
    columns = 1 << (x.shape[1] - 1).bit_length()
    ct.launch(STREAM, (ct.cdiv(len(indices), rows),), kernel, (x, indices, out, rows, columns))
    return out


def main():
    torch.manual_seed(0)
    table = torch.randn(100, 48, device=DEVICE)
    indices = torch.randint(100, (64,), device=DEVICE, dtype=torch.int32)
    torch.testing.assert_close(moved(look_up, table, indices, table.new_empty(64, 48)), table[indices.long()])
    order = torch.randperm(64, device=DEVICE).int()
    expected = torch.empty_like(table[:64])
    expected[order.long()] = table[:64]
    torch.testing.assert_close(moved(put_back, table[:64], order, torch.zeros_like(expected)), expected)
    print("gather_scatter: 64 rows of 48 agree with torch")


if __name__ == "__main__":
    main()
