"""Small models in the manner of PyTorch users, with inputs of three sizes; what `torch.compile` is tried on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

Inputs = tuple[torch.Tensor, ...]


class Block(nn.Module):
    """A transformer block: causal attention written out, RMS norm, SwiGLU."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.norm = nn.LayerNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.gate, self.up, self.down = (
            nn.Linear(a, b) for a, b in ((width, 4 * width), (width, 4 * width), (4 * width, width))
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        three = self.qkv(self.attention_norm(x)).chunk(3, -1)
        q, k, v = (one.view(batch, length, self.heads, -1).transpose(1, 2) for one in three)
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        seen = scores.masked_fill(later, float("-inf")).softmax(-1) @ v
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        normal = self.norm(x)
        return x + self.down(functional.silu(self.gate(normal)) * self.up(normal))


class Convolutions(nn.Module):
    """Two convolutions with batch norm, group norm and pooling, and a linear layer."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(3, channels, 3, padding=1), nn.BatchNorm2d(channels)
        self.second, self.second_norm = nn.Conv2d(channels, 2 * channels, 3, stride=2), nn.GroupNorm(4, 2 * channels)
        self.out = nn.Linear(2 * channels, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(functional.relu(self.first_norm(self.first(x))), 2)
        x = functional.gelu(self.second_norm(self.second(x)))
        return self.out(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Language(nn.Module):
    """An embedding, which is also the last layer, around a block; cross entropy."""

    def __init__(self, words: int, width: int, heads: int) -> None:
        super().__init__()
        self.embedding, self.norm = nn.Embedding(words, width), nn.LayerNorm(width)
        self.block = Block(width, heads)

    def forward(self, words: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        found = self.norm(self.block(self.embedding(words))) @ self.embedding.weight.T
        return functional.cross_entropy(found.flatten(0, 1), wanted.flatten())


@dataclass(frozen=True)
class Model:
    """How to make a model and inputs for it of a size."""

    make: Callable[[], nn.Module]
    inputs: Callable[[int], Inputs]


def models(scale: int) -> dict[str, Model]:
    """The models by name; widths are multiples of `scale`."""
    width, words = 32 * scale, 128 * scale
    return {
        "MLP": Model(
            lambda: nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Softmax(-1)),
            lambda size: (torch.randn(size, width),),
        ),
        "transformer block": Model(lambda: Block(width, 4), lambda size: (torch.randn(2, size, width),)),
        "convolutions": Model(
            lambda: Convolutions(4 * scale), lambda size: (torch.randn(size, 3, 16 * scale, 16 * scale),)
        ),
        "embedding, block, cross entropy": Model(
            lambda: Language(words, width, 4), lambda size: tuple(torch.randint(words, (2, 2, size)))
        ),
    }


def results(model: nn.Module, call: Callable[..., torch.Tensor], inputs: Inputs) -> list[torch.Tensor]:
    """What `call`, `model` or its compiled form, computes, and the gradients of the weights and of inputs of floats."""
    model.zero_grad()
    own = [one.clone().requires_grad_() if one.is_floating_point() else one for one in inputs]
    found = call(*own)
    (found * torch.linspace(0.5, 1, found.numel()).view_as(found)).sum().backward()
    leaves = [*model.parameters(), *own]
    return [found.detach(), *(leaf.grad.clone() for leaf in leaves if leaf.grad is not None)]
