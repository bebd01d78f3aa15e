"""Random Triton kernels whose results are fixed to the bit: pointer arithmetic, masks, loops, reductions, casts.

None has bf16, which Triton's interpreter rounds towards zero.

``python random_kernels.py FOLDER FIRST COUNT`` leaves what the kernels of these seeds compute in FOLDER, run by Triton:
by its interpreter if the environment has TRITON_INTERPRET=1.
"""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

BLOCK, PROGRAMS, COUNT, OUTPUTS = 32, 3, 80, 6
"""Elements of a block, programs, elements of an array, and how many arrays of results there are."""
FLOAT, INTEGER, TRUTH, NUMBER = "float", "integer", "truth", "number"
"""Kinds of values: blocks of f32, i32 and i1, and a scalar i32."""

HEAD = """import triton
import triton.language as tl


@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def kernel(x, y, z, scratch, counts, floats, integers, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    at = pid * BLOCK + lane
    inside = at < n
    float0 = tl.load(x + at, mask=inside, other=0.5)
    float1 = tl.load(y + (at * 5 + 3) % n)
    integer0 = tl.load(z + at, mask=inside, other=-3)
    integer1 = tl.load(z + n - 1 - tl.minimum(at, n - 1))
    truth0 = float0 < float1
    number0 = pid * 3 + 1
"""
ROWS: dict[str, list[str]] = {
    FLOAT: [
        "{float} + {float}", "{float} - {float}", "{float} * {float}", "{float} / (tl.abs({float}) + 1.0)", "-{float}",
        "tl.maximum({float}, {float})", "tl.minimum({float}, {float})", "tl.where({truth}, {float}, {float})",
        "{integer}.to(tl.float32)", "{float}.to(tl.float16).to(tl.float32)",
        "tl.floor({float})", "tl.ceil({float})", "tl.sqrt_rn(tl.abs({float}))", "tl.clamp({float}, -1.5, 2.5)",
        "tl.reduce({float}, 0, larger) + {float}", "tl.reshape(tl.trans(tl.reshape({float}, 4, BLOCK // 4)), BLOCK)",
        "tl.load(x + tl.abs({integer}) % n, mask={truth}, other={small}.0)",
        "({float}.to(tl.float64) * 3.0).to(tl.float32)",
        "tl.load(x + at + {small}, mask=inside & (at + {small} < n), other=2.0)",
    ],
    INTEGER: [
        "{integer} + {integer}", "{integer} - {integer}", "{integer} * {integer}", "{integer} & {integer}",
        "{integer} | {integer}", "{integer} ^ {integer}", "{integer} << {small}", "{integer} >> {small}",
        "{integer} // (tl.abs({integer}) % 7 + 1)", "{integer} % (tl.abs({integer}) % 5 + 2)", "tl.abs({integer} >> 1)",
        "tl.maximum({integer}, {integer})", "tl.minimum({integer}, {small})", "tl.where({truth}, {integer}, {number})",
        "tl.clamp({float}, -1000.0, 1000.0).to(tl.int32)", "{truth}.to(tl.int32) + {integer}",
        "({integer}.to(tl.int64) * {integer} >> 7).to(tl.int32)", "{integer}.to(tl.int8).to(tl.int32)",
        "({integer}.to(tl.uint32, bitcast=True) >> {small}).to(tl.int32, bitcast=True)", "tl.cumsum({integer}, 0)",
        "{integer} + {number}", "tl.load(z + tl.abs({integer}) % n)", "tl.umulhi({integer}, {integer})",
        "tl.sum(tl.reshape({integer}, 4, BLOCK // 4), 1, keep_dims=True).broadcast_to(4, BLOCK // 4).reshape(BLOCK)",
        "tl.load(z + at - {small}, mask=inside & (at >= {small}), other={number})", "tl.sort({integer})",
        "tl.gather({integer}, BLOCK - 1 - lane, 0)", "{float}.to(tl.int32, bitcast=True)",
    ],
    TRUTH: [
        "{float} < {float}", "{float} >= {float}", "{integer} == {integer}", "{integer} > {number}",
        "{truth} & {truth}", "{truth} | inside", "{truth} ^ ({integer} < {small})",
    ],
    NUMBER: [
        "tl.sum({integer} & 255, 0)", "tl.max({integer}, 0)", "tl.min({integer}, 0)", "tl.xor_sum({integer}, 0)",
        "tl.argmax({integer}, 0)", "{number} * {small} + {number}", "tl.load(z + {small})", "{number} // {small}",
        "tl.sum({truth}.to(tl.int32), 0)",
    ],
}  # fmt: skip
BLOCKS = ("{integer}", "{float}", "{truth}")


class KernelWriter:
    """Writes one kernel: a line for each value, which later ones are made of."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counts = {FLOAT: 2, INTEGER: 2, TRUTH: 1, NUMBER: 1}
        self.indent = "    "
        self.outputs = 0

    def source(self) -> str:
        for _ in range(self.random.randint(6, 14)):
            self.statement()
        while self.outputs < OUTPUTS:
            self.output()
        return HEAD + "\n".join(self.lines) + "\n"

    def statement(self) -> None:
        kinds = [FLOAT] * 5 + [INTEGER] * 5 + [TRUTH] * 2 + [NUMBER] * 2
        extra = [self.branch, self.counted, self.conditional, self.memory, self.count] if len(self.indent) == 4 else []
        choice = self.random.choice([*kinds, *extra])
        if isinstance(choice, str):
            self.value(choice)
        else:
            choice()

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def value(self, kind: str) -> None:
        self.line(f"{kind}{self.counts[kind]} = {self.expression(kind)}")
        self.counts[kind] += 1

    def expression(self, kind: str) -> str:
        parts = self.random.choice(ROWS[kind])
        for name in (FLOAT, INTEGER, TRUTH, NUMBER):
            while f"{{{name}}}" in parts:
                parts = parts.replace(f"{{{name}}}", self.some(name), 1)
        return parts.replace("{small}", str(self.random.randint(1, 6)))

    def some(self, kind: str) -> str:
        """A value of a kind, rather a late one."""
        return f"{kind}{max(self.random.randrange(self.counts[kind]) for _ in range(2))}"

    def _nested(self, head: str, updates: int = 2) -> None:
        """Statements that give values from before new contents."""
        self.line(head)
        self.indent += "    "
        for _ in range(updates):
            kind = self.random.choice([FLOAT, INTEGER])
            self.line(f"{self.some(kind)} = {self.expression(kind)}")
        self.indent = self.indent[4:]

    def branch(self) -> None:
        self._nested(f"if {self.some(NUMBER)} % 2 == 0:")
        if self.random.random() < 0.5:
            self._nested("else:")

    def counted(self) -> None:
        end = self.random.choice([str(self.random.randint(1, 4)), f"(tl.abs({self.some(NUMBER)}) % 4)"])
        self._nested(f"for _ in range({end}):")

    def conditional(self) -> None:
        """A loop that ends after some turns."""
        self.line("turn = 0")
        self._nested(f"while turn < {self.random.randint(1, 4)}:")
        self.line("    turn += 1")

    def memory(self) -> None:
        """A store, and a load of other elements of what was stored."""
        value, target = self.some(INTEGER), self.some(INTEGER)
        self.line(f"tl.store(scratch + at, {value})")
        self.line("tl.debug_barrier()")
        self.line(f"{target} = tl.load(scratch + pid * BLOCK + (lane + {self.random.randint(1, 9)}) % BLOCK)")

    def count(self) -> None:
        self.line(
            f"tl.atomic_add(counts + (tl.abs({self.some(INTEGER)}) % 8), {self.some(NUMBER)}, mask={self.some(TRUTH)})"
        )

    def output(self) -> None:
        kind = FLOAT if self.outputs % 2 else INTEGER
        pointer = "floats" if kind == FLOAT else "integers"
        latest = f"{kind}{max(self.counts[kind] - 1 - self.outputs // 2, 0)}"
        self.line(f"tl.store({pointer} + {self.outputs // 2} * n + at, {latest}, mask=inside)")
        self.outputs += 1


def written(seed: int, folder: Path) -> ModuleType:
    """The module with the kernel of a seed, which is written into a folder."""
    path = folder / f"random_kernel_{seed}.py"
    path.write_text(KernelWriter(seed).source(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(seed: int) -> list[np.ndarray]:
    """Return the arrays of a launch; the last five are written."""
    generator = np.random.default_rng(seed)
    x, y = (generator.standard_normal(COUNT).astype("f4") * 4 for _ in range(2))
    z = generator.integers(-100, 100, COUNT).astype("i4")
    z[::7] = generator.integers(-(1 << 31), 1 << 31, len(z[::7]))
    scratch, counts = np.zeros(BLOCK * PROGRAMS, "i4"), np.zeros(8, "i4")
    return [x, y, z, scratch, counts, np.zeros((3, COUNT), "f4"), np.zeros((3, COUNT), "i4")]


def main(folder: Path, first: int, count: int) -> None:
    import torch

    for seed in range(first, first + count):
        tensors = [torch.from_numpy(array) for array in arguments(seed)]
        written(seed, folder).kernel[(PROGRAMS,)](*tensors, COUNT, BLOCK=BLOCK)
        np.savez(folder / f"{seed}.npz", *(tensor.numpy() for tensor in tensors))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
