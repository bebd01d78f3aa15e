"""Triton kernels on the target `cpu`, beside torch eager, Triton's interpreter and the same kernels in cuTile.

    python bench/triton_cpu.py [--models] [NAME ...]

The kernels are those of ``bench/kernels/model_kernels``. All results are compared before anything is timed. One thread
on both sides, processor time, medians of runs in turn; ratios are how many times as fast tileir is. ``--models``
compares models that Inductor compiles to Triton and to C++ with eager instead.
"""

from __future__ import annotations

import copy
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path

BENCH = Path(__file__).parent
sys.path[:0] = [str(BENCH.parent), str(BENCH / "kernels"), str(BENCH.parent / "examples" / "cutile")]

import torch  # noqa: E402
from model_kernels import attention, elementwise, matmul, orders, rows, windows  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.testing import assert_close  # noqa: E402

Call = Callable[[], object]
Comparison = tuple[str, Call, Call]
"""A name, a call of Triton kernels and one of a peer."""

RUNS = 7
LEAST = 2e-3
"""Seconds of one sample: shorter calls are repeated."""


def in_turn(*calls: Call) -> list[float]:
    """Median processor seconds of each, run in turn."""
    counts = [max(1, math.ceil(LEAST / max(sample(call, 1), 1e-6))) for call in calls]
    times = [[sample(call, count) for call, count in zip(calls, counts)] for _ in range(RUNS)]
    return [statistics.median(column) for column in zip(*times)]


def sample(call: Call, count: int) -> float:
    begin = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - begin) / count


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))


# ------------------------------------------------------------------- torch


def kernels() -> Iterator[Comparison]:
    """Each of eighteen kinds of kernels, and torch."""
    x, y = torch.randn(2, 1 << 20)
    yield "vector add, 2^20", lambda: elementwise.add(x, y), lambda: x + y
    yield "dropout, 2^20", lambda: elementwise.dropout(x, 0.25, 7), lambda: functional.dropout(x, 0.25)
    yield "SwiGLU, 2^20", lambda: elementwise.swiglu(x, y), lambda: functional.silu(x) * y
    turned, angles = torch.randn(2, 256, 8, 128), torch.randn(256, 64)
    cos, sin = angles.cos(), angles.sin()
    yield "RoPE, 512 x 8 x 128", lambda: elementwise.rope(turned.clone(), cos, sin), lambda: rotated(turned, cos, sin)
    yield adamw()
    square = torch.randn(1024, 1000)
    yield "softmax, 1024 x 1000", lambda: rows.softmax(square), lambda: torch.softmax(square, 1)
    logits, wanted = torch.randn(256, 8000, requires_grad=True), torch.randint(8000, (256,))
    yield (
        "cross entropy and gradient, 256 x 8000",
        lambda: rows.cross_entropy(logits.detach().clone(), wanted),
        lambda: with_gradients(functional.cross_entropy(logits, wanted), logits),
    )
    yield from norms()
    yield from products()
    yield from attentions()
    yield "top 8, 256 x 1000", lambda: orders.topk(square[:256], 8), lambda: torch.topk(square[:256], 8)
    decay, values = torch.rand(2, 256, 1024)
    yield "recurrence, 256 x 1024", lambda: orders.recurrence(decay, values), lambda: stepwise(decay, values)
    signal, taps, image = torch.randn(4, 256, 1024), torch.randn(256, 4), torch.randn(1024, 1024)
    yield "causal filter, 4 x 256 x 1024", lambda: windows.causal_filter(signal, taps), lambda: filtered(signal, taps)
    yield (
        "mean of neighbours, 1024 x 1024",
        lambda: windows.mean_of_neighbours(image),
        lambda: functional.avg_pool2d(image[None, None], 3, 1, 1)[0, 0],
    )


def adamw() -> Comparison:
    g, *state = torch.randn(4, 1 << 20)
    state[2].abs_()
    theirs, step = [one.clone() for one in state], torch.tensor(999.0)

    def fused() -> list[torch.Tensor]:
        groups = [[one] for one in (theirs[0], g, *theirs[1:])]
        rates = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.01, "eps": 1e-8}
        torch._fused_adamw_(*groups, [], [step], amsgrad=False, maximize=False, **rates)
        return theirs

    return "AdamW in place, 2^20", lambda: elementwise.adamw(state[0], g, *state[1:], 1000), fused


def filtered(x: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    behind = functional.conv1d(x, taps[:, None], padding=taps.shape[1] - 1, groups=x.shape[1])
    return functional.silu(behind[..., : x.shape[2]])


def norms() -> Iterator[Comparison]:
    x, dout = torch.randn(1024, 1000, requires_grad=True), torch.randn(1024, 1000)
    weight, bias = torch.randn(1000, requires_grad=True), torch.randn(1000, requires_grad=True)
    leaves = x, weight, bias
    ours = rows.layer_norm(*leaves)
    eager = functional.layer_norm(x, (1000,), weight, bias)
    yield (
        "layer norm, 1024 x 1000",
        lambda: rows.layer_norm(*leaves),
        lambda: functional.layer_norm(x, (1000,), weight, bias),
    )
    yield "layer norm's gradients", lambda: gradients(ours, leaves, dout), lambda: gradients(eager, leaves, dout)


def products() -> Iterator[Comparison]:
    a, b = torch.randn(2, 512, 512)
    yield "matmul, 512, grouped order", lambda: matmul.matmul(a, b), lambda: a @ b
    yield "matmul, 512, persistent", lambda: matmul.persistent_matmul(a, b), lambda: a @ b.T
    sizes = (256, 384, 128), (300, 200, 400), (512, 256, 256)
    left, right = [torch.randn(m, k) for m, k, _ in sizes], [torch.randn(k, n) for _, k, n in sizes]
    yield (
        "grouped GEMM, three products",
        lambda: matmul.grouped_matmul(left, right),
        lambda: [p @ q for p, q in zip(left, right)],
    )
    narrow, scales = torch.randn(2, 256, 512).to(torch.float8_e4m3fn), torch.randint(122, 130, (2, 256, 16)).byte()
    yield (
        "block-scaled matmul, 256 x 256 x 512",
        lambda: matmul.scaled_matmul(narrow[0], scales[0], narrow[1], scales[1]),
        lambda: widened(narrow[0], scales[0]) @ widened(narrow[1], scales[1]).T,
    )


def attentions() -> Iterator[Comparison]:
    three = q, k, v = [torch.randn(1, 8, 512, 64, requires_grad=True) for _ in range(3)]
    dout = torch.randn(1, 8, 512, 64)
    eager = functional.scaled_dot_product_attention
    yield (
        "attention, 8 heads, 512 x 64",
        lambda: attention.attention(q, k, v, False),
        lambda: eager(q, k, v),
    )
    ours, theirs = attention.attention(q, k, v, True), eager(q, k, v, is_causal=True)
    yield "causal attention's gradients", lambda: gradients(ours, three, dout), lambda: gradients(theirs, three, dout)
    pages = torch.randn(2, 256, 16, 2, 64)
    table, lengths = torch.randperm(256).reshape(8, 32).int(), torch.full((8,), 512, dtype=torch.int32)
    one = torch.randn(8, 8, 64)
    yield (
        "paged decode, 8 x 8 heads, 512 tokens",
        lambda: attention.paged_decode(one, pages[0], pages[1], table, lengths),
        lambda: decoded(one, pages, table),
    )


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    c, s = cos[None, :, None], sin[None, :, None]
    return torch.cat([first * c - second * s, second * c + first * s], -1)


def widened(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return x.float() * torch.exp2(scale.float() - 127).repeat_interleave(32, 1)


def decoded(q: torch.Tensor, pages: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Attention of one token for each sequence, whose pages are all full."""
    k, v = (part[table.long()].flatten(1, 2).transpose(1, 2) for part in pages)
    return functional.scaled_dot_product_attention(q[:, :, None], k, v, enable_gqa=True)[:, :, 0]


def stepwise(decay: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    h, found = torch.zeros(len(x)), []
    for step in range(x.shape[1]):
        h = decay[:, step] * h + x[:, step]
        found.append(h)
    return torch.stack(found, 1)


def gradients(out: torch.Tensor, leaves: tuple[torch.Tensor, ...] | list[torch.Tensor], dout: torch.Tensor) -> object:
    return torch.autograd.grad(out, leaves, dout, retain_graph=True)


def with_gradients(loss: torch.Tensor, leaf: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return loss.detach(), torch.autograd.grad(loss, leaf)[0]


def agree(name: str, ours: object, theirs: object) -> None:
    """Raise AssertionError unless both are the same; of random numbers, unless as many are kept."""
    if name.startswith("dropout"):
        kept = [float((one != 0).float().mean()) for one in (ours, theirs)]
        assert abs(kept[0] - kept[1]) < 0.01, kept
        return
    pairs = zip(*(list(one) if isinstance(one, tuple | list) else [one] for one in (ours, theirs)), strict=True)
    for found, wanted in pairs:
        assert_close(found, wanted, atol=1e-3, rtol=1e-3)


def beside(title: str, comparisons: Iterator[Comparison], chosen: list[str]) -> None:
    print(f"| {title} | tileir | peer | ratio |\n|---|---:|---:|---:|")
    ratios = []
    for name, ours, theirs in comparisons:
        if chosen and not any(word in name for word in chosen):
            continue
        agree(name, ours(), theirs())
        own, other = in_turn(ours, theirs)
        ratios.append(other / own)
        print(f"| {name} | {own * 1e3:.3g} ms | {other * 1e3:.3g} ms | {other / own:.2f} |", flush=True)
    if ratios:
        print(f"| geometric mean | | | {mean(ratios):.2f} |\n", flush=True)


# ----------------------------------------------------------- other peers


def twins() -> Iterator[Comparison]:
    """The same kernels in cuTile, in the same tiles."""
    import cuda.tile as ct

    def twin(name: str) -> Callable[..., object]:
        return getattr(import_module(name), name)

    x, y = torch.randn(2, 1 << 20)

    def added() -> torch.Tensor:
        out = torch.empty_like(x)
        ct.launch(0, (256,), twin("vector_add"), (x, y, out, 4096))
        return out

    yield "vector add, 2^20", lambda: elementwise.add(x, y), added
    square = torch.randn(1024, 1024)
    yield "softmax, 1024 x 1024", lambda: rows.softmax(square), lambda: twin("softmax")(square, 1)
    weight, bias = torch.randn(2, 1024)
    yield (
        "layer norm, 1024 x 1024",
        lambda: rows.layer_norm(square, weight, bias),
        lambda: twin("layer_norm")(square, weight, bias, piece=1024),
    )
    a, b = torch.randn(2, 512, 512)
    yield "matmul, 512", lambda: matmul.matmul(a, b), lambda: twin("matmul")(a, b, 128, 128, 64)
    q, k, v = torch.randn(3, 8, 512, 64)
    four = [one[None] for one in (q, k, v)]
    yield (
        "attention, 8 heads, 512 x 64",
        lambda: attention.attention(*four, False)[0],
        lambda: twin("attention")(q, k, v, queries=64, keys=64),
    )


def small() -> Iterator[tuple[str, Call]]:
    """Launches that Triton's interpreter can make, too."""
    x, y = torch.randn(2, 1 << 18)
    yield "vector add, 2^18", lambda: elementwise.add(x, y)
    square = torch.randn(256, 1000)
    yield "softmax, 256 x 1000", lambda: rows.softmax(square)
    weight, bias = torch.randn(2, 1000)
    yield "layer norm, 256 x 1000", lambda: rows.layer_norm(square, weight, bias)
    a, b = torch.randn(2, 256, 256)
    yield "matmul, 256, tiles of 64", lambda: matmul.matmul(a, b, (64, 64, 32))
    q, k, v = torch.randn(3, 1, 2, 256, 64)
    yield "attention, 2 heads, 256 x 64", lambda: attention.attention(q, k, v, False)
    yield "SwiGLU, 2^18", lambda: elementwise.swiglu(x, y)
    decay, values = torch.rand(2, 16, 1024)
    yield "recurrence, 16 x 1024", lambda: orders.recurrence(decay, values)


def beside_the_interpreter() -> None:
    """Triton's interpreter is chosen when kernels are made, so that it is measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results"
        words = [sys.executable, __file__, "--interpreted", str(file)]
        subprocess.run(words, env={**os.environ, "TRITON_INTERPRET": "1"}, check=True)
        interpreted = torch.load(file)
    torch.manual_seed(0)
    print("| Triton's interpreter | tileir | peer | ratio |\n|---|---:|---:|---:|")
    ratios = []
    for name, call in small():
        result, other = interpreted[name]
        assert_close(call(), result, atol=1e-3, rtol=1e-3)
        (own,) = in_turn(call)
        ratios.append(other / own)
        print(f"| {name} | {own * 1e3:.3g} ms | {other * 1e3:.4g} ms | {other / own:.0f} |", flush=True)
    print(f"| geometric mean | | | {mean(ratios):.0f} |\n")


def interpreted(file: str) -> None:
    torch.manual_seed(0)
    torch.save({name: (call(), sample(call, 1)) for name, call in small()}, file)


# ------------------------------------------------------ launches, compiling


def launches() -> None:
    """What a launch of one block takes, beside Triton's part of it, which is all but our launcher."""
    x, y, out = torch.zeros(3, 128)

    def launch() -> object:
        return elementwise.add_kernel[(1,)](x, y, out, 128, BLOCK=128)

    compiled = launch()
    own = compiled.run

    def count(run: object) -> float:
        compiled._run = run
        return min(sample(launch, 500) for _ in range(9)) * 1e6

    alone = count(lambda *arguments: None)
    whole = count(own)
    print(f"* launch of one block: {whole:.1f} us, of which Triton's own {alone:.1f} us: {whole / alone:.2f} times\n")


def first_launches() -> None:
    """The first launch in a process, without and with what an earlier process left on disk."""
    program = f"""
import sys, time; sys.path[:0] = {[str(BENCH.parent), str(BENCH / "kernels")]!r}
import torch; torch.set_num_threads(1)
import tileir.triton
from triton.compiler import ASTSource
from model_kernels import attention, elementwise, matmul, rows
q = torch.randn(1, 1, 64, 64); x = torch.randn(64, 64)
def spent(call):
    begin = time.process_time(); call(); return time.process_time() - begin
front, make = [0.0], ASTSource.make_ir
def timed(*arguments):
    begin = time.process_time()
    try: return make(*arguments)
    finally: front[0] += time.process_time() - begin
ASTSource.make_ir = timed
with tileir.triton.on("cpu", threads=1):
    spent(lambda: elementwise.add(x, x))
    for call in (lambda: rows.softmax(x), lambda: matmul.matmul(x, x), lambda: attention.attention(q, q, q, False)):
        front[0] = 0.0
        first = spent(call)
        print(first - spent(call), front[0])
"""
    with tempfile.TemporaryDirectory() as folder:
        kept = {"TRITON_CACHE_DIR": f"{folder}/triton", "TILEIR_CACHE_DIR": f"{folder}/tileir"}
        cold, warm = (
            [
                [float(word) for word in line.split()]
                for line in subprocess.run(
                    [sys.executable, "-c", program], env={**os.environ, **kept}, check=True, capture_output=True,
                    text=True,
                ).stdout.splitlines()
            ]
            for _ in range(2)
        )  # fmt: skip
    for name, (all_of_it, front), (again, _) in zip(("softmax", "matmul", "attention"), cold, warm):
        print(
            f"* {name}: first launch {all_of_it * 1e3:.0f} ms, of which Triton's front end {front * 1e3:.0f} ms; "
            f"in the next process {again * 1e3:.1f} ms"
        )


# ------------------------------------------------------------------ models


def compiled_models(chosen: list[str]) -> None:
    """Models compiled by Inductor to Triton and to C++, beside eager, forward and with gradients."""
    from torch._inductor import config
    from torch._inductor.utils import fresh_cache
    from torch_models import models, results

    print("| model | Inductor writes | eager | compiled | ratio | first call |\n|---|---|---:|---:|---:|---:|")
    for name, backend in product(models(8), ("cpp", "triton")):
        if chosen and not any(word in name for word in chosen):
            continue
        torch._dynamo.reset()  # or the code of the other backend is used again
        own = models(8)[name]
        model, inputs = own.make(), own.inputs(64)
        plain = copy.deepcopy(model)
        eager = partial(results, plain, plain, inputs)
        with config.patch(cpu_backend=backend, compile_threads=1), fresh_cache():
            compiled = partial(results, model, torch.compile(model), inputs)
            begin = spent()
            compiled()
            first = spent() - begin
            agree(name, compiled(), eager())
        theirs, ours = in_turn(eager, compiled)
        words = f"{theirs * 1e3:.3g} ms | {ours * 1e3:.3g} ms | {theirs / ours:.2f} | {first:.1f} s"
        print(f"| {name} | {backend} | {words} |", flush=True)


def spent() -> float:
    """Processor seconds of this process and those it has waited for, such as compilers."""
    times = os.times()
    return sum(times[:4])


def main(words: list[str]) -> None:
    torch.set_num_threads(1)
    if words[:1] == ["--interpreted"]:
        return interpreted(words[1])
    import tileir.triton
    from tileir import cutile

    torch.manual_seed(0)
    chosen = [word for word in words if not word.startswith("--")]
    with tileir.triton.on("cpu", threads=1) if "--models" not in words else nullcontext():
        if "--models" in words:
            return compiled_models(chosen)
        beside("torch eager", kernels(), chosen)
        if not chosen:
            with cutile.on("cpu", threads=1):
                beside("cuTile", twins(), [])
            beside_the_interpreter()
            launches()
    if not chosen:
        first_launches()


if __name__ == "__main__":
    main(sys.argv[1:])
