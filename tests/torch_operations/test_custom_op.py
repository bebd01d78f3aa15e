"""Kernels as operations of torch: shapes, gradients, batches, compiled and exported modules."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs torch: pip install '.[torch]'")

import tileir  # noqa: E402
from tileir.torch import custom_op  # noqa: E402

opcheck = torch.library.opcheck

KERNELS = """\
cuda_tile.module @m {
  entry @cube(%x: tile<ptr<f64>>, %y: tile<ptr<f64>>, %n: tile<i32>) {
    BLOCKS
    %square = mulf %a, %a : tile<16xf64>
    %r = mulf %square, %a : tile<16xf64>
    STORE
  }
  entry @cube_backward(%x: tile<ptr<f64>>, %g: tile<ptr<f64>>, %y: tile<ptr<f64>>, %n: tile<i32>) {
    BLOCKS
    %gv = make_tensor_view %g, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf64, strides=[1]>
    %gp = make_partition_view %gv : VIEW
    %d, %t2 = load_view_tko weak %gp[%i] : VIEW, tile<i32> -> tile<16xf64>, token
    %three = constant <f64: 3.0> : tile<16xf64>
    %square = mulf %a, %a : tile<16xf64>
    %slope = mulf %square, %three : tile<16xf64>
    %r = mulf %slope, %d : tile<16xf64>
    STORE
  }
}
"""
PARTS = {
    "BLOCKS": """\
%i, %j, %k = get_tile_block_id : tile<i32>
    %xv = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf64, strides=[1]>
    %xp = make_partition_view %xv : VIEW
    %yv = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf64, strides=[1]>
    %yp = make_partition_view %yv : VIEW
    %a, %t = load_view_tko weak %xp[%i] : VIEW, tile<i32> -> tile<16xf64>, token""",
    "STORE": """\
%s = store_view_tko weak %r, %yp[%i] : tile<16xf64>, VIEW, tile<i32> -> token
    return""",
    "VIEW": "partition_view<tile=(16), tensor_view<?xf64, strides=[1]>>",
}


def kernels() -> tileir.Module:
    text = KERNELS
    for word, part in PARTS.items():
        text = text.replace(word, part)
    return tileir.parse(text)


def blocks(*tensors: Any) -> tuple[tuple[int], tuple[Any, ...]]:
    size = tensors[0].numel()
    return (-(-size // 16),), (*tensors, size)


@pytest.fixture(scope="module")
def cube() -> Any:
    """An operation with a kernel for its gradient."""
    module = kernels()
    slope = custom_op(module["cube_backward"], lambda x, g: torch.empty_like(x), blocks, name="tileir_tests::slope")
    return custom_op(
        module["cube"],
        lambda x: torch.empty_like(x),
        blocks,
        name="tileir_tests::cube",
        backward=lambda x, y, grad: slope(x, grad),
    )


def randn(*shape: int, grad: bool = True) -> Any:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3), requires_grad=grad)


class Network(torch.nn.Module):
    def __init__(self, op: Callable[[Any], Any]) -> None:
        super().__init__()
        self.op = op
        self.linear = torch.nn.Linear(5, 7, dtype=torch.float64)

    def forward(self, x: Any) -> Any:
        return self.op(self.linear(x)).sum(dim=0)


def test_the_result_is_the_kernels(cube: Any) -> None:
    for x in (randn(40), randn(3, 5), randn(6, 4).t(), randn(4)[::2]):
        assert torch.equal(cube(x), x.detach() * x.detach() * x.detach())


def test_torch_finds_nothing_wrong_with_the_operation(cube: Any) -> None:
    opcheck(cube, (randn(40),))
    opcheck(cube, (randn(6, 4).t(),))


def test_gradients_are_those_of_the_backward_kernel(cube: Any) -> None:
    assert torch.autograd.gradcheck(cube, (randn(20),))
    assert torch.autograd.gradcheck(lambda x: cube(x.t()), (randn(3, 5),))


@pytest.mark.thorough
def test_a_module_compiles_into_one_graph(cube: Any) -> None:
    network, x = Network(cube), randn(4, 5)
    expected = network(x)
    expected.sum().backward()
    wanted, x.grad = x.grad, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = torch.compile(network, fullgraph=True)
        found = compiled(x)
        found.sum().backward()
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(x.grad, wanted)


def test_a_module_is_exported_with_an_open_batch(cube: Any) -> None:
    network = Network(cube)
    dynamic = {"x": {0: torch.export.Dim("batch", min=2, max=64)}}
    program = torch.export.export(network, (randn(4, 5, grad=False),), dynamic_shapes=dynamic)
    assert any("tileir_tests.cube" in str(node.target) for node in program.graph.nodes)
    x = randn(9, 5, grad=False)
    torch.testing.assert_close(program.module()(x), network(x))


def test_a_batch_runs_element_by_element(cube: Any) -> None:
    x = randn(3, 20, grad=False)
    assert torch.equal(torch.vmap(cube)(x), cube(x))
    assert torch.equal(torch.vmap(cube, in_dims=1)(x), cube(x).t())
    leaf = x.clone().requires_grad_()
    torch.vmap(cube, in_dims=1)(leaf).sum().backward()
    torch.testing.assert_close(leaf.grad, 3 * x * x)


def test_a_batch_without_elements_has_outputs_without_elements(cube: Any) -> None:
    assert torch.vmap(cube)(randn(0, 20, grad=False)).shape == (0, 20)
    assert torch.vmap(cube, in_dims=1)(randn(20, 0, grad=False)).shape == (0, 20)


def test_an_input_may_be_written_in_place() -> None:
    def outputs(x: torch.Tensor, scale: float) -> None:
        return None

    def launch(x: Any, scale: float) -> Any:
        return (1,), (x, x, int(scale))

    op = custom_op(kernels()["cube"], outputs, launch, name="tileir_tests::cube_", mutates=["x"])
    x = torch.full((16,), 2.0, dtype=torch.float64)
    op(x, 16.0)
    assert x.tolist() == [8.0] * 16
    opcheck(op, (x, 16.0), test_utils=("test_schema", "test_faketensor"))


def test_several_outputs() -> None:
    def outputs(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.empty_like(x), torch.zeros_like(x)

    def launch(x: Any, y: Any, z: Any) -> Any:
        return blocks(x, y)

    op = custom_op(kernels()["cube"], outputs, launch, name="tileir_tests::two")
    y, z = torch.vmap(op)(torch.full((2, 4), 3.0, dtype=torch.float64))
    assert y.tolist() == [[27.0] * 4] * 2 and not z.any()


def _returning(result: Any) -> Any:
    return lambda x: result


def test_what_is_wrong_is_said() -> None:
    kernel = kernels()["cube"]
    with pytest.raises(TypeError, match="expected a kernel"):
        custom_op("cube", lambda x: x, blocks)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mutates: expected names of inputs, got 'y'"):
        custom_op(kernel, lambda x: torch.empty_like(x), blocks, mutates=["y"])
    with pytest.raises(TypeError, match="outputs: expected positional parameters only, got 'more'"):
        custom_op(kernel, lambda *more: torch.empty_like(more[0]), blocks)
    with pytest.raises(ValueError, match="name: expected a namespace and a name, such as 'mine::softmax', got 'mine'"):
        custom_op(kernel, lambda x: torch.empty_like(x), blocks, name="mine")
    for number, result in enumerate((None, 3, (3,))):
        op = custom_op(kernel, _returning(result), blocks, name=f"tileir_tests::none{number}")
        with pytest.raises(TypeError, match="outputs: expected to return a tensor or a tuple of tensors, got"):
            op(randn(4, grad=False))
    op = custom_op(kernel, lambda x: torch.empty_like(x), lambda x, y: 3, name="tileir_tests::odd")  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"launch: expected to return \(grid, arguments\)"):
        op(randn(4, grad=False))
    fewer = custom_op(
        kernel, lambda x: torch.empty_like(x), blocks, name="tileir_tests::fewer", backward=lambda x, y, grad: ()
    )
    with pytest.raises(TypeError, match="backward: expected a gradient, or None, for each of 1 inputs, got 0"):
        fewer(randn(4)).sum().backward()
    single = custom_op(kernel, lambda x: torch.empty_like(x), blocks, name="tileir_tests::single")
    with pytest.raises(TypeError, match="parameter 0 'x'"):
        single(torch.zeros(4))


def test_a_kernel_of_cutile_is_an_operation_too() -> None:
    ct = pytest.importorskip("cuda.tile", reason="needs cuda-tile: pip install '.[cutile]'")

    @ct.kernel
    def double(x: Any, y: Any) -> None:
        at = ct.bid(0)
        ct.store(y, index=(at,), tile=ct.load(x, index=(at,), shape=(16,)) * 2.0)

    def launch(x: Any, y: Any) -> Any:
        return (-(-x.numel() // 16),), (x.view(-1), y.view(-1))

    op = custom_op(
        double,
        lambda x: torch.empty_like(x),
        launch,
        name="tileir_tests::double",
        backward=lambda x, y, grad: op(grad),
    )
    x = randn(4, 9)
    assert torch.equal(op(x), 2 * x)
    assert torch.autograd.gradcheck(op, (x,))
    opcheck(op, (x,))
    assert torch.equal(torch.compile(op, fullgraph=True, backend="aot_eager")(x), 2 * x)
