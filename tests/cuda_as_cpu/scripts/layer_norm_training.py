"""A layer norm with its gradient, as operators of torch, compared with torch's and timed.

python layer_norm_training.py
"""

import cuda.tile as ct
import torch
import torch.utils.benchmark

ROWS, COLUMNS, EPSILON = 256, 384, 1e-5
SIZE = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO


@ct.kernel(occupancy=4)
def forward_kernel(x, weight, bias, out, means, scales, width: SIZE):
    row, columns = ct.bid(0), x.shape[1]
    t = ct.load(x, (row, 0), (1, width), padding_mode=ZERO).astype(ct.float32)
    mean = ct.sum(t, axis=1, keepdims=True) / columns
    centred = ct.where(ct.arange(width, dtype=ct.int32)[None, :] < columns, t - mean, 0.0)
    scale = ct.rsqrt(ct.sum(centred * centred, axis=1, keepdims=True) / columns + EPSILON)
    w = ct.load(weight, (0,), (width,), padding_mode=ZERO).astype(ct.float32)
    b = ct.load(bias, (0,), (width,), padding_mode=ZERO).astype(ct.float32)
    ct.store(out, (row, 0), (centred * scale * w[None, :] + b[None, :]).astype(out.dtype))
    ct.store(means, (row,), mean.reshape((1,)))
    ct.store(scales, (row,), scale.reshape((1,)))


@ct.kernel
def backward_kernel(grad, x, weight, means, scales, grad_x, grad_weight, grad_bias, width: SIZE):
    """Rows of one block after the other; the gradients of weight and bias are added up in memory."""
    columns, place = x.shape[1], ct.arange(width, dtype=ct.int32)
    w = ct.load(weight, (0,), (width,), padding_mode=ZERO).astype(ct.float32)[None, :]
    of_weight, of_bias = ct.zeros((1, width), dtype=ct.float32), ct.zeros((1, width), dtype=ct.float32)
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        g = ct.load(grad, (row, 0), (1, width), padding_mode=ZERO).astype(ct.float32)
        t = ct.load(x, (row, 0), (1, width), padding_mode=ZERO).astype(ct.float32)
        scale = ct.load(scales, (row,), (1,))[:, None]
        normal = ct.where(place[None, :] < columns, (t - ct.load(means, (row,), (1,))[:, None]) * scale, 0.0)
        of_weight, of_bias = of_weight + g * normal, of_bias + g
        g = g * w
        along = ct.sum(g * normal, axis=1, keepdims=True) / columns
        ct.store(grad_x, (row, 0), (scale * (g - ct.sum(g, axis=1, keepdims=True) / columns - normal * along)))
    ct.atomic_add(grad_weight, (place,), of_weight.reshape((width,)))
    ct.atomic_add(grad_bias, (place,), of_bias.reshape((width,)))


@torch.library.custom_op("training::positions", mutates_args=(), device_types="cuda")
def positions(rows: int, columns: int, device: torch.device) -> torch.Tensor:
    return torch.arange(rows * columns, device=device, dtype=torch.float32).view(rows, columns).mul_(0.37).sin_()


@positions.register_fake
def _(rows, columns, device):
    return torch.empty(rows, columns, device=device)


@torch.library.custom_op("training::layer_norm", mutates_args=(), device_types="cuda")
def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    out, sums = torch.empty_like(x), torch.empty(2, len(x), device=x.device)
    width = 1 << (x.shape[1] - 1).bit_length()
    ct.launch(torch.cuda.current_stream(), (len(x),), forward_kernel, (x, w, b, out, *sums, width))
    return out, sums[0].clone(), sums[1].clone()


@layer_norm.register_fake
def _(x, w, b):
    return torch.empty_like(x), x.new_empty(len(x)), x.new_empty(len(x))


@torch.library.custom_op("training::layer_norm_gradient", mutates_args=(), device_types="cuda")
def gradient(
    grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, means: torch.Tensor, scales: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    found = torch.empty_like(x), torch.zeros_like(w), torch.zeros_like(w)
    width = 1 << (x.shape[1] - 1).bit_length()
    blocks = torch.cuda.get_device_properties(x.device).multi_processor_count
    arguments = (grad.contiguous(), x, w, means, scales, *found, width)
    ct.launch(torch.cuda.current_stream(), (blocks,), backward_kernel, arguments)
    return found


@gradient.register_fake
def _(grad, x, w, means, scales):
    return torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)


def keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2], *output[1:])


layer_norm.register_autograd(lambda context, grad, *_: gradient(grad, *context.saved_tensors), setup_context=keep)


def gradients(function, *tensors):
    tensors = [one.detach().clone().requires_grad_() for one in tensors]
    out = function(*tensors)
    out.backward(torch.cos(out.detach()))
    return [out.detach(), *(one.grad for one in tensors)]


def main():
    device = torch.device("cuda")
    x = positions(ROWS, COLUMNS, device)
    weight, bias = positions(2, COLUMNS, x.device) + 1
    expected = gradients(lambda x, w, b: torch.nn.functional.layer_norm(x, (COLUMNS,), w, b, EPSILON), x, weight, bias)
    compiled = torch.compile(lambda x, w, b: layer_norm(x, w, b)[0], fullgraph=True)
    for name, function in (("eager", lambda *tensors: layer_norm(*tensors)[0]), ("compiled", compiled)):
        for got, one in zip(gradients(function, x, weight, bias), expected):
            torch.testing.assert_close(got, one, rtol=1e-3, atol=1e-3)
        print(f"{name}: outputs and gradients agree")
    timer = torch.utils.benchmark.Timer("layer_norm(x, weight, bias)", globals={**globals(), **locals()})
    torch.cuda.synchronize()
    print(f"{timer.timeit(5).median * 1e6:.0f} us, peak of memory {torch.cuda.max_memory_allocated() >> 20} MiB")


if __name__ == "__main__":
    main()
