"""The tests of the library, which are written for a GPU."""

import pytest
import torch

import fused

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.fixture(autouse=True)
def fresh():
    torch.cuda.empty_cache()
    torch.cuda.manual_seed_all(7)
    yield
    torch.cuda.synchronize()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(4, 256), (3, 300)], ids=str)
def test_swiglu_and_its_gradient(shape, dtype):
    gate, up = (torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True) for _ in range(2))
    expected = torch.nn.functional.silu(gate) * up
    tolerance = {"atol": 2e-2, "rtol": 2e-2} if dtype is torch.bfloat16 else {}
    torch.testing.assert_close(fused.swiglu(gate, up), expected, **tolerance)
    weight = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, (gate, up), weight)
    found = torch.autograd.grad(fused.swiglu(gate, up), (gate, up), weight)
    torch.testing.assert_close(found, wanted, **tolerance)


def test_the_operator_is_complete():
    x = torch.randn(300, device="cuda", requires_grad=True)
    torch.library.opcheck(fused.scale, (x, 2.0), test_utils=("test_schema", "test_faketensor"))
    fused.scale(x, 3.0).sum().backward()
    torch.testing.assert_close(x.grad, torch.full_like(x, 3.0))


def test_the_operator_compiles_whole():
    compiled = torch.compile(lambda x: fused.scale(x.sin(), 2.0) + 1, fullgraph=True)
    x = torch.randn(300, device="cuda")
    torch.testing.assert_close(compiled(x), 2 * x.sin() + 1)


def test_a_captured_graph_replays_the_library():
    x = torch.randn(4, 256, device="cuda")
    fused.swiglu(x, x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = fused.swiglu(x, x)
    x.copy_(torch.ones_like(x))
    graph.replay()
    torch.testing.assert_close(out, torch.nn.functional.silu(x) * x)


def test_tensors_of_the_cpu_are_refused():
    if torch.zeros(1).is_cuda:
        pytest.skip("every tensor says that it is on a GPU")
    with pytest.raises(ValueError, match="on a GPU"):
        fused.swiglu(torch.zeros(1, 1), torch.zeros(1, 1))
