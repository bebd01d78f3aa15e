"""Kernels of f16 and bf16 whose results come near a tolerance: ours and torch's, beside those of float64.

    python tests/cutile/narrow_accuracy.py cpu

Prints, for the mixing of hyper-connections and the backward pass of RMS normalisation, how many elements are further
from the exact result than a tolerance of 0.01 (absolute and relative), and how many are not the exact result rounded.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from cuda import tile as ct

from tileir import cutile

TOLERANCE = 0.01
EPSILON = 1e-6


@ct.kernel
def mix(x, h, gate, new, out, n: ct.Constant[int], width: ct.Constant[int]):
    """Mix the `n` streams of a token by a matrix, and add what is new through a gate: product and sum in f32."""
    token, part = ct.bid(0), ct.bid(1)
    streams = ct.load(x, (token, 0, part), (1, n, width)).reshape((n, width))
    mixing = ct.load(h, (token, 0, 0), (1, n, n)).reshape((n, n))
    mixed = ct.mma(mixing, streams, ct.zeros((n, width), ct.float32))
    gates = ct.load(gate, (token, 0), (1, n)).reshape((n, 1)).astype(ct.float32)
    added = gates * ct.load(new, (token, part), (1, width)).astype(ct.float32)
    ct.store(out, (token, 0, part), (mixed + added).astype(out.dtype).reshape((1, n, width)))


@ct.kernel
def mix_in_narrow_steps(x, h, gate, new, out, n: ct.Constant[int], width: ct.Constant[int]):
    """The same with each step in the type of the arrays."""
    token, part = ct.bid(0), ct.bid(1)
    streams = ct.load(x, (token, 0, part), (1, n, width)).reshape((n, width))
    mixing = ct.load(h, (token, 0, 0), (1, n, n)).reshape((n, n))
    added = ct.load(gate, (token, 0), (1, n)).reshape((n, 1)) * ct.load(new, (token, part), (1, width))
    ct.store(out, (token, 0, part), (mixing @ streams + added).reshape((1, n, width)))


@ct.kernel
def rms_norm_backward(x, grad, weight, x_grad, weight_grads, width: ct.Constant[int]):
    """Both gradients, in f32; each block sums its part of that of the weight."""
    scale = ct.load(weight, (0,), (width,)).astype(ct.float32).reshape((1, width))
    total = ct.zeros((1, width), ct.float32)
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, (row, 0), (1, width)).astype(ct.float32)
        g = ct.load(grad, (row, 0), (1, width)).astype(ct.float32)
        inverse = ct.rsqrt(ct.sum(t * t, axis=1, keepdims=True) / width + EPSILON)
        norm, scaled = t * inverse, g * scale
        mean = ct.sum(scaled * norm, axis=1, keepdims=True) / width
        ct.store(x_grad, (row, 0), ((scaled - norm * mean) * inverse).astype(x_grad.dtype))
        total += g * norm
    ct.store(weight_grads, (ct.bid(0), 0), total)


# ---------------------------------------------------------------- ours

Tensors = tuple[torch.Tensor, ...]


def mixture(dtype: torch.dtype, tokens: int = 64, width: int = 2048) -> Tensors:
    """Streams, matrices, gates and what is new."""
    shapes = (tokens, 4, width), (tokens, 4, 4), (tokens, 4), (tokens, width)
    return tuple(torch.randn(shape).to(dtype) for shape in shapes)


def mixed(kernel: object, tensors: Tensors) -> torch.Tensor:
    x = tensors[0]
    out = torch.empty_like(x)
    ct.launch(None, (x.shape[0], x.shape[2] // 256), kernel, (*tensors, out, 4, 256))
    return out


def normalised(dtype: torch.dtype, rows: int = 512, width: int = 1024) -> Tensors:
    """Rows, the gradient of their normalisation, and the weight."""
    return tuple(torch.randn(shape).to(dtype) for shape in ((rows, width), (rows, width), (width,)))


def gradients(x: torch.Tensor, grad: torch.Tensor, weight: torch.Tensor) -> Tensors:
    """Of the rows and of the weight."""
    x_grad, parts = torch.empty_like(x), torch.empty(16, x.shape[1])
    ct.launch(None, (16,), rms_norm_backward, (x, grad, weight, x_grad, parts, x.shape[1]))
    return x_grad, parts.sum(0).to(weight.dtype)


# ---------------------------------------------------------------- torch's


def eager_mix(x: torch.Tensor, h: torch.Tensor, gate: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return h @ x + gate[:, :, None] * new[:, None]


Norm = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def built_in(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x, weight.shape, weight, EPSILON)


def usual_module(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """As models have it: the norm in f32, its product with the weight in the type of the input."""
    wide = x.float()
    return weight * (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)).to(x.dtype)


def eager_gradients(norm: Norm, x: torch.Tensor, grad: torch.Tensor, weight: torch.Tensor) -> Tensors:
    x, weight = x.clone().requires_grad_(), weight.clone().requires_grad_()
    norm(x, weight).backward(grad)
    assert x.grad is not None and weight.grad is not None
    return x.grad, weight.grad


# ---------------------------------------------------------------- the comparison


@dataclass
class Outcome:
    what: str
    who: str
    got: torch.Tensor
    exact: torch.Tensor

    @property
    def far(self) -> float:
        """The part of the elements that a test with the tolerance would report."""
        return self._part((self.got.double() - self.exact).abs() > TOLERANCE + TOLERANCE * self.exact.abs())

    @property
    def unrounded(self) -> float:
        """The part of the elements that are not the exact result rounded once."""
        return self._part(self.got != self.exact.to(self.got.dtype))

    @staticmethod
    def _part(found: torch.Tensor) -> float:
        return found.double().mean().item()


def outcomes(dtype: torch.dtype) -> Iterator[Outcome]:
    tensors = mixture(dtype)
    exact = eager_mix(*(tensor.double() for tensor in tensors))
    for who, got in [
        ("cuTile, f32 inside", mixed(mix, tensors)),
        ("cuTile, narrow steps", mixed(mix_in_narrow_steps, tensors)),
        ("torch, narrow steps", eager_mix(*tensors)),
        ("torch, f32 inside", eager_mix(*(tensor.float() for tensor in tensors)).to(dtype)),
    ]:
        yield Outcome("mixing", who, got, exact)
    tensors = normalised(dtype)
    exacts = eager_gradients(built_in, *(tensor.double() for tensor in tensors))
    found = {"cuTile, f32 inside": gradients(*tensors)}
    found |= {
        f"torch, {who}": eager_gradients(norm, *tensors)
        for who, norm in (("rms_norm", built_in), ("usual module", usual_module))
    }
    for who, both in found.items():
        for what, got, exact in zip(("gradient of x", "gradient of the weight"), both, exacts):
            yield Outcome(what, who, got, exact)


def main(target: str) -> None:
    torch.manual_seed(0)
    with cutile.on(target):
        for dtype in (torch.float16, torch.bfloat16):
            for found in outcomes(dtype):
                name = str(dtype).removeprefix("torch.")
                print(f"{name:9}{found.what:24}{found.who:24}{found.far:9.3%} far{found.unrounded:9.3%} unrounded")


if __name__ == "__main__":
    main(sys.argv[1])
