"""Kernels as functions of JAX: compiled, differentiated and batched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax: Any = pytest.importorskip("jax", reason="needs jax: pip install '.[jax]'")
test_util: Any = pytest.importorskip("jax.test_util")

import tileir  # noqa: E402
from tileir.jax import custom_op  # noqa: E402

SQUARE = """\
entry @square(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %i, %j, %k = get_tile_block_id : tile<i32>
  %xv = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %yv = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %xp = make_partition_view %xv : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>
  %yp = make_partition_view %yv : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>
  %a, %t = load_view_tko weak %xp[%i]
      : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token
  %r = mulf %a, %a : tile<16xf32>
  %s = store_view_tko weak %r, %yp[%i]
      : tile<16xf32>, partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
  return
}
"""


def launch(x: Any, y: Any) -> Any:
    return (-(-x.size // 16),), (x, y, x.size)


@pytest.fixture(scope="module")
def square() -> Any:
    kernel = tileir.parse(SQUARE)["square"]
    return custom_op(kernel, lambda x: x, launch, backward=lambda x, y, grad: 2 * x * grad)


def numbers(*shape: int) -> Any:
    return jax.random.normal(jax.random.key(5), shape)


def test_it_runs_under_jit(square: Any) -> None:
    x = numbers(5, 9)
    assert (square(x) == x * x).all()
    assert (jax.jit(lambda x: square(x + 1).sum())(x) == ((x + 1) * (x + 1)).sum()).all()


def test_gradients_are_those_of_backward(square: Any) -> None:
    x = numbers(20)
    np.testing.assert_allclose(jax.jit(jax.grad(lambda x: square(x).sum()))(x), 2 * x, rtol=1e-6)
    test_util.check_grads(square, (x,), order=1, modes=["rev"], rtol=0.05)


def test_a_batch_runs_element_by_element(square: Any) -> None:
    x = numbers(3, 20)
    assert (jax.vmap(square)(x) == x * x).all()
    assert (jax.vmap(square, in_axes=1, out_axes=1)(x) == x * x).all()
    np.testing.assert_allclose(jax.vmap(jax.grad(lambda row: square(row).sum()))(x), 2 * x, rtol=1e-6)


def test_several_outputs_and_a_traced_shape() -> None:
    kernel = tileir.parse(SQUARE)["square"]
    two = custom_op(kernel, lambda x: (x, jax.ShapeDtypeStruct((3,), "int32")), lambda x, y, z: launch(x, y))
    y, z = jax.jit(two)(numbers(4))
    assert (y == numbers(4) ** 2).all() and z.tolist() == [0, 0, 0]


def test_what_is_wrong_is_said() -> None:
    kernel = tileir.parse(SQUARE)["square"]
    with pytest.raises(TypeError, match="expected a kernel"):
        custom_op("square", lambda x: x, launch)  # type: ignore[arg-type]
    fewer = custom_op(kernel, lambda x: x, launch, backward=lambda x, y, grad: ())
    with pytest.raises(TypeError, match="for each of 1 inputs, got 0"):
        jax.grad(lambda x: fewer(x).sum())(numbers(4))
    with pytest.raises(Exception, match="parameter 0 'x'"):
        jax.block_until_ready(custom_op(kernel, lambda x: x, launch)(numbers(4).astype("float16")))
