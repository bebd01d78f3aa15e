"""Small kernels, each for one way of giving arguments."""

import triton
import triton.language as tl

LOAD_SHIFT = 0 if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 8) else len("tl.load")
"""By how many columns Triton places a call of `tl.load` behind its beginning."""


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def copy_from(x_ptr, out_ptr, shift, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets + shift))


@triton.jit
def scalars(out_ptr, whole, real, truth, wide, narrow: tl.float16, missing, word: tl.constexpr):
    tl.store(out_ptr, whole)
    tl.store(out_ptr + 1, real)
    tl.store(out_ptr + 2, wide, mask=truth)
    tl.store(out_ptr + 3, narrow)
    if missing is None:
        tl.store(out_ptr + 4, 4)
    if word == "yes":
        tl.store(out_ptr + 5, 5)


@triton.jit
def of_tuples(pointers, sizes, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(pointers[0] + offsets, mask=offsets < sizes[1])
    tl.store(pointers[1][0] + offsets, x * sizes[0])


@triton.jit
def doubled(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def fill(x_ptr, value, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)


@triton.jit
def multiply_and_add(x_ptr, y_ptr, z_ptr, out_ptr, BLOCK: tl.constexpr, ONCE: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x, y, z = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets), tl.load(z_ptr + offsets)
    tl.store(out_ptr + offsets, tl.fma(x, y, z) if ONCE else x * y + z)
