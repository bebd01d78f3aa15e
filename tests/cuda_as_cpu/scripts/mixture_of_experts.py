"""A feed-forward layer of experts: tokens are sorted by expert, multiplied in tiles, gated, and put back.

python mixture_of_experts.py [--check] [--trace FILE]
"""

import argparse

import cuda.tile as ct
import torch
import torch.nn.functional as F

TM, TN, TK = 16, 64, 64
SIZE = ct.Constant[int]


@ct.kernel
def expert_matmul(x, weights, out, scales, slots, experts, copies: int, scaled: ct.Constant[bool]):
    """Multiply rows of `x` that go to one expert; a slot behind the last one stands for no row."""
    blocks = ct.cdiv(weights.shape[1], TN)
    group, column = ct.bid(0) // blocks, ct.bid(0) % blocks
    slot = ct.gather(slots, group * TM + ct.arange(TM, dtype=ct.int32))
    expert = ct.load(experts, index=group, shape=())
    total = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(weights.shape[2], TK)):
        a = ct.gather(x, ((slot // copies)[:, None], (k * TK + ct.arange(TK, dtype=ct.int32))[None, :]))
        b = ct.load(weights, (expert, k, column), shape=(1, TK, TN), order=(0, 2, 1), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(a, b.reshape((TK, TN)), total)
    if scaled:
        total = total * ct.gather(scales, slot)[:, None]
    columns = column * TN + ct.arange(TN, dtype=ct.int32)
    ct.scatter(out, (slot[:, None], columns[None, :]), total.astype(out.dtype))


@ct.kernel
def gated(gate, up, out, width: SIZE):
    row = ct.bid(0)
    x = ct.load(gate, (row, 0), (1, width)).astype(ct.float32)
    below = ct.add(1, ct.exp(-x), flush_to_zero=True)
    x = ct.mul(x, ct.truediv(1.0, below, flush_to_zero=True, rounding_mode=ct.RoundingMode.APPROX))
    ct.store(out, (row, 0), (x * ct.load(up, (row, 0), (1, width)).astype(ct.float32)).astype(out.dtype))


def sorted_slots(chosen, experts):
    """Return slots of tokens by expert, filled up to whole tiles, and the expert of each tile."""
    flat = chosen.flatten()
    order, counts = torch.argsort(flat, stable=True), torch.bincount(flat, minlength=experts).tolist()
    slots, owners, begin = [], [], 0
    for expert, count in enumerate(counts):
        tiles = -(-count // TM)
        slots.append(F.pad(order[begin : begin + count], (0, tiles * TM - count), value=len(flat)))
        owners += [expert] * tiles
        begin += count
    device = chosen.device
    return torch.cat(slots).to(torch.int32), torch.tensor(owners, device=device, dtype=torch.int32)


def layer(x, first, second, scales, chosen):
    tokens, most = chosen.shape
    experts, _, inner = second.shape
    slots, owners = sorted_slots(chosen, experts)
    both = x.new_zeros(tokens * most, 2 * inner)
    hidden, out = x.new_zeros(tokens * most, inner), x.new_zeros(tokens * most, x.shape[1])
    stream = torch.cuda.current_stream()
    tables = scales.flatten(), slots, owners

    def multiply(a, weights, result, copies, scaled):
        grid = (len(owners) * ct.cdiv(weights.shape[1], TN),)
        ct.launch(stream, grid, expert_matmul, (a, weights, result, *tables, copies, scaled))

    multiply(x, first, both, most, False)
    ct.launch(stream, (len(both),), gated, (*both.chunk(2, dim=1), hidden, 1 << (inner - 1).bit_length()))
    multiply(hidden, second, out, 1, True)
    return out.view(tokens, most, -1).sum(1)


def reference(x, first, second, scales, chosen):
    out = torch.zeros_like(x)
    for expert in range(len(second)):
        token, place = torch.where(chosen == expert)
        gate, up = (x[token] @ first[expert].T).chunk(2, dim=1)
        out.index_add_(0, token, (F.silu(gate) * up) @ second[expert].T * scales[token, place, None])
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--trace", help="write what the allocator did")
    options = parser.parse_args()
    if options.trace:
        torch.cuda.memory._record_memory_history(max_entries=10_000)
    torch.manual_seed(0)
    kind = {"device": "cuda:0", "dtype": torch.bfloat16}
    tokens, width, experts, inner, most = 40, 128, 8, 96, 2
    x = torch.empty(tokens, width, **kind).normal_(0, 0.5)
    first = torch.empty(experts, 2 * inner, width, **kind).normal_(0, 0.1)
    second = torch.empty(experts, width, inner, **kind).normal_(0, 0.1)
    chosen = torch.stack([torch.randperm(experts, device="cuda")[:most] for _ in range(tokens)])
    scales = torch.softmax(torch.randn(tokens, most, device="cuda"), dim=-1).to(kind["dtype"])
    out = layer(x, first, second, scales, chosen)
    print(f"{tokens} tokens, {most} of {experts} experts: {tuple(out.shape)}, {out.dtype}")
    if options.check:
        torch.testing.assert_close(out, reference(x, first, second, scales, chosen), rtol=2e-2, atol=2e-2)
        print("check passed")
    if options.trace:
        torch.cuda.memory._dump_snapshot(options.trace)
        torch.cuda.memory._record_memory_history(enabled=None)


if __name__ == "__main__":
    main()
