"""A library of fused operations for training, each an `autograd.Function` around kernels of cuTile."""

import cuda.tile as ct
import torch

TILE = 256


@ct.kernel
def swiglu_forward(gate, up, out, TILE: ct.Constant[int]):
    at = (ct.bid(0), ct.bid(1))
    g = ct.load(gate, at, (1, TILE), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
    u = ct.load(up, at, (1, TILE), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
    ct.store(out, at, (g / (1 + ct.exp(-g)) * u).astype(out.dtype))


@ct.kernel
def swiglu_backward(gradient, gate, up, of_gate, of_up, TILE: ct.Constant[int]):
    at = (ct.bid(0), ct.bid(1))
    d = ct.load(gradient, at, (1, TILE), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
    g = ct.load(gate, at, (1, TILE), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
    u = ct.load(up, at, (1, TILE), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
    sigmoid = 1 / (1 + ct.exp(-g))
    ct.store(of_gate, at, (d * u * sigmoid * (1 + g * (1 - sigmoid))).astype(of_gate.dtype))
    ct.store(of_up, at, (d * g * sigmoid).astype(of_up.dtype))


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, up):
        if not (gate.is_cuda and up.is_cuda):
            raise ValueError("fused.swiglu needs tensors on a GPU")
        gate, up = gate.contiguous(), up.contiguous()
        out = torch.empty_like(gate)
        ctx.save_for_backward(gate, up)
        with torch.cuda.device(gate.device):
            _launch(swiglu_forward, gate, (gate, up, out, TILE))
        return out

    @staticmethod
    def backward(ctx, gradient):
        gate, up = ctx.saved_tensors
        of_gate, of_up = torch.empty_like(gate), torch.empty_like(up)
        _launch(swiglu_backward, gate, (gradient.contiguous(), gate, up, of_gate, of_up, TILE))
        return of_gate, of_up


def _launch(kernel, like, arguments):
    rows, columns = like.shape
    ct.launch(torch.cuda.current_stream(like.device), (rows, ct.cdiv(columns, TILE), 1), kernel, arguments)


def swiglu(gate, up):
    return SwiGLU.apply(gate, up)


@torch.library.custom_op("fused::scale", mutates_args=(), device_types="cuda")
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    """The product with a number, as an operator that `torch.compile` keeps whole."""
    out = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.numel(), TILE),), scale_kernel, (x, factor, out, TILE))
    return out


@ct.kernel
def scale_kernel(x, factor, out, TILE: ct.Constant[int]):
    at = (ct.bid(0),)
    ct.store(out, at, ct.load(x, at, (TILE,)) * factor)


@scale.register_fake
def _(x, factor):
    return torch.empty_like(x)


scale.register_autograd(
    lambda ctx, gradient: (scale(gradient.contiguous(), ctx.factor), None),
    setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]),
)
