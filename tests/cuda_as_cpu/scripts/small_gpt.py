"""A small GPT whose norm and loss are fused Triton kernels, trained under autocast and compiled."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn

VOCABULARY, WIDTH, HEADS, CONTEXT = 65, 32, 4, 16


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + epsilon)
    weight = tl.load(weight_ptr + at, mask=inside)
    tl.store(out_ptr + row * columns + at, x * scale * weight, mask=inside)


class RMSNorm(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, x, weight):
        x = x.contiguous()
        out = torch.empty_like(x)
        block = triton.next_power_of_2(x.shape[1])
        rms_norm_kernel[(x.shape[0],)](x, weight, out, x.shape[1], 1e-5, BLOCK=block, num_warps=4)
        ctx.save_for_backward(x, weight)
        return out

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        scale = torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-5)
        weighted = gradient * weight
        inner = (weighted * x).mean(1, keepdim=True)
        return scale * weighted - x * scale.pow(3) * inner, (gradient * x * scale).sum(0)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return RMSNorm.apply(x.reshape(-1, WIDTH), self.weight).view(x.shape)


@triton.jit
def cross_entropy_kernel(logits_ptr, target_ptr, loss_ptr, gradient_ptr, columns, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    logits = tl.load(logits_ptr + row * columns + at, mask=inside, other=-float("inf")).to(tl.float32)
    target = tl.load(target_ptr + row)
    most = tl.max(logits, axis=0)
    powers = tl.exp(logits - most)
    total = tl.sum(powers, axis=0)
    chosen = tl.sum(tl.where(at == target, logits, 0.0), axis=0)
    tl.store(loss_ptr + row, tl.log(total) + most - chosen)
    gradient = (powers / total - tl.where(at == target, 1.0, 0.0)) / rows
    tl.store(gradient_ptr + row * columns + at, gradient, mask=inside)


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        rows, columns = logits.shape
        loss = torch.empty(rows, device=logits.device, dtype=torch.float32)
        gradient = torch.empty_like(logits)
        block = triton.next_power_of_2(columns)
        cross_entropy_kernel[(rows,)](logits, targets, loss, gradient, columns, rows, BLOCK=block)
        ctx.save_for_backward(gradient)
        return loss.mean()

    @staticmethod
    def backward(ctx, scale):
        (gradient,) = ctx.saved_tensors
        return gradient * scale, None


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = Norm(), Norm()
        self.attend, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.widen, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.attend(self.before(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.project(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.narrow(F.gelu(self.widen(self.between(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.block, self.norm, self.head = Block(), Norm(), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        logits = self.head(self.norm(self.block(x)))
        return CrossEntropy.apply(logits.view(-1, VOCABULARY).contiguous(), targets.reshape(-1))


def main():
    assert torch.cuda.is_available(), "needs a GPU"
    device = "cuda"
    torch.cuda.manual_seed(1)
    torch.manual_seed(1)
    plain = GPT().to(device)
    model = torch.compile(plain)
    optimizer = torch.optim.AdamW(plain.parameters(), lr=3e-3, fused=True)
    scaler = torch.amp.GradScaler(device)
    losses = []
    text = torch.arange(512) % 23
    for step in range(12):
        starts = torch.randint(0, len(text) - CONTEXT - 1, (8,))
        tokens = torch.stack([text[at : at + CONTEXT] for at in starts]).pin_memory().to(device, non_blocking=True)
        targets = torch.stack([text[at + 1 : at + CONTEXT + 1] for at in starts]).to(device)
        with torch.autocast(device_type=device, dtype=torch.bfloat16):
            loss = model(tokens, targets)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        torch.cuda.synchronize()
        print(f"step {step}: loss {loss.item():.3f}, {torch.cuda.max_memory_allocated() / 1e6:.0f} MB")
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0], losses


if __name__ == "__main__":
    main()
