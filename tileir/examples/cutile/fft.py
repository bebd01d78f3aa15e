"""Fourier transforms of length N = N1 * N2 as matrix products: columns, twiddle factors, rows."""

import cuda.tile as ct
import numpy as np


def times(a_re, a_im, b_re, b_im):
    """Return the product of complex matrices given as real and imaginary parts."""
    return a_re @ b_re - a_im @ b_im, a_re @ b_im + a_im @ b_re


@ct.kernel
def fft_kernel(x_re, x_im, first, twiddles, second, y_re, y_im, n1: ct.Constant[int], n2: ct.Constant[int]):
    batch = ct.bid(0)
    re = ct.load(x_re, (batch, 0, 0), (1, n1, n2)).reshape((n1, n2))
    im = ct.load(x_im, (batch, 0, 0), (1, n1, n2)).reshape((n1, n2))
    f_re, f_im = ct.load(first[0], (0, 0), (n1, n1)), ct.load(first[1], (0, 0), (n1, n1))
    re, im = times(f_re, f_im, re, im)
    t_re, t_im = ct.load(twiddles[0], (0, 0), (n1, n2)), ct.load(twiddles[1], (0, 0), (n1, n2))
    re, im = re * t_re - im * t_im, re * t_im + im * t_re
    s_re, s_im = ct.load(second[0], (0, 0), (n2, n2)), ct.load(second[1], (0, 0), (n2, n2))
    re, im = times(re, im, s_re, s_im)
    ct.store(y_re, (batch, 0, 0), ct.transpose(re).reshape((1, n2, n1)))
    ct.store(y_im, (batch, 0, 0), ct.transpose(im).reshape((1, n2, n1)))


def roots(n, powers):
    """Return real and imaginary part of exp(-2 pi i / n) to the `powers`."""
    angle = -2 * np.pi * (powers % n) / n
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def fft(x, n1=16, n2=32):
    """Return the transform of each row of ``x``: complex64, (batch, n1 * n2)."""
    batches = len(x)
    i, j = np.arange(n1), np.arange(n2)
    tables = roots(n1, np.outer(i, i)), roots(n1 * n2, np.outer(i, j)), roots(n2, np.outer(j, j))
    re, im = (np.ascontiguousarray(part).reshape(batches, n1, n2) for part in (x.real, x.imag))
    y_re, y_im = np.empty((2, batches, n2, n1), np.float32)
    ct.launch(None, (batches,), fft_kernel, (re, im, *tables, y_re, y_im, n1, n2))
    return (y_re + 1j * y_im).reshape(batches, n1 * n2)


def main():
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((8, 512)) + 1j * rng.standard_normal((8, 512))).astype(np.complex64)
    np.testing.assert_allclose(fft(x), np.fft.fft(x), rtol=1e-3, atol=1e-3)
    print("fft: 8 transforms of length 512 agree with NumPy")


if __name__ == "__main__":
    main()
