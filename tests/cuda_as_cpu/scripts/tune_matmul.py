"""A search for the best tiles of a matrix product, with hints for a GPU, and a launch with what it found."""

from itertools import product

import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search


@ct.kernel
def matmul(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((M, N), dtype=ct.float32)
    zero = ct.PaddingMode.ZERO
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        total = ct.mma(
            ct.load(a, index=(i, k), shape=(M, K), padding_mode=zero),
            ct.load(b, index=(k, j), shape=(K, N), padding_mode=zero),
            total,
        )
    ct.store(c, index=(i, j), tile=total.astype(c.dtype))


def main():
    a = torch.randn(192, 160, device="cuda", dtype=torch.float16)
    b = torch.randn(160, 224, device="cuda", dtype=torch.float16)
    c = torch.empty(192, 224, device="cuda", dtype=torch.float16)
    space = [
        dict(zip(("M", "N", "K", "ctas", "occupancy"), values))
        for values in product((32, 64), (64,), (32,), (1, 2), (1, 2, 4))
    ]

    def grid(config):
        return (ct.cdiv(192, config["M"]), ct.cdiv(224, config["N"]), 1)

    found = exhaustive_search(
        space,
        torch.cuda.current_stream(),
        grid,
        matmul,
        lambda config: (a, b, torch.empty_like(c), config["M"], config["N"], config["K"]),
        lambda config: {"num_ctas": config["ctas"], "occupancy": config["occupancy"]},
        single_run_timeout_sec=60,
    )
    best = found.best.config
    assert len(found.successes) == len(space) and not found.failures
    kernel = matmul.replace_hints(num_ctas=best["ctas"], occupancy=best["occupancy"])
    ct.launch(torch.cuda.current_stream(), grid(best), kernel, (a, b, c, best["M"], best["N"], best["K"]))
    torch.testing.assert_close(c, a @ b, atol=1e-1, rtol=1e-2)
    print(f"best: {best}, {found.best.mean_us:.0f} us")


if __name__ == "__main__":
    main()
