"""Arguments of a launch by the names of their parameters, and tensors with gradients."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

import tileir
from tileir.runtime import module
from tileir.runtime.options import LaunchOptions

TEXT = """entry @k(%out: tile<ptr<i32>>, %a: tile<i32>, %seed: tile<i32>) {
  %b = addi %a, %seed : tile<i32>
  %t = store_ptr_tko weak %out, %b : tile<ptr<i32>>, tile<i32> -> token
  return
}"""

FLOATS = """entry @k(%out: tile<ptr<f32>>, %a: tile<f32>) {
  %t = store_ptr_tko weak %out, %a : tile<ptr<f32>>, tile<f32> -> token
  return
}"""


@pytest.fixture
def kernel() -> tileir.Kernel:
    return tileir.parse(TEXT.replace("seed", "c"))["k"]


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_arguments_may_have_names(kernel: tileir.Kernel, target: str) -> None:
    for given, named in (((), "out a c"), (("out",), "a c"), (("out", "a"), "c"), (("out", "a", "c"), "")):
        values = {"out": np.zeros(1, np.int32), "a": 3, "c": 4}
        kernel.launch(1, *(values[name] for name in given), target=target, **{n: values[n] for n in named.split()})
        assert values["out"][0] == 7
    out = np.zeros(1, np.int32)
    kernel.launch(1, c=4, target=target, timeout=20.0, out=out, a=3)
    tileir.launch(kernel.module, "k", 1, {"a": 30, "out": out, "c": 4}, target=target)
    assert out[0] == 34


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        (
            0,
            {"out": 0, "a": 1, "d": 2},
            r"expected a parameter \(out, a, c\) or an option \(check, .*threads.*\), got 'd'$",
        ),
        (3, {"chekc": 1}, r"expected .* got 'chekc' \(did you mean 'check'\?\)$"),
        (1, {"out": 0, "a": 1, "c": 2}, "expected one argument for 'out', got one by position and one by name"),
        (1, {"a": 1}, "expected an argument for 'c', got none"),
    ],
)
def test_names_that_do_not_fit_are_refused(kernel: tileir.Kernel, given: int, named: dict, message: str) -> None:
    out = np.zeros(1, np.int32)
    with pytest.raises(TypeError, match=f"^kernel @k: {message}"):
        kernel.launch(1, *[out][:given], **{name: out if name == "out" else value for name, value in named.items()})
    assert out[0] == 0


def test_a_parameter_called_like_an_option_is_given_by_position() -> None:
    kernel, out = tileir.parse(TEXT)["k"], np.zeros(1, np.int32)
    kernel.launch(1, out, 3, 4, target="interp", seed=1)
    assert out[0] == 7


def test_the_options_in_the_signature_are_those_of_a_launch() -> None:
    tree = ast.parse(inspect.getsource(module))
    (kernel,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Kernel"]
    launch, _ = [node for node in ast.walk(kernel) if isinstance(node, ast.FunctionDef) and node.name == "launch"]
    assert {one.arg for one in launch.args.kwonlyargs} == {"target", "check", *LaunchOptions.__annotations__}


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_tensor_that_requires_grad_is_refused_with_the_reason(target: str) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    x = torch.zeros(1, requires_grad=True)
    kernel = tileir.parse(FLOATS)["k"]
    with pytest.raises(ValueError, match=r"parameter 0 'out' .* does not require grad, .*graph.*pass x.detach\(\)"):
        kernel.launch(1, x, 3.0, target=target)
    kernel.launch(1, x.detach(), 3.0, target=target)
    assert x.item() == 3


def test_calls_of_one_form_are_told_from_those_of_another(kernel: tileir.Kernel) -> None:
    out = np.zeros(1, np.int32)
    for a, c in ((1, 2), (30, 4)):
        kernel.launch(1, out, a, c=c)
        assert out[0] == a + c
        kernel.launch(1, out, c=c, a=10 * a, threads=1)
        assert out[0] == 10 * a + c
        kernel.launch(1, threads=1, c=10 * c, out=out, a=a)
        assert out[0] == a + 10 * c
        with pytest.raises(TypeError, match="one argument for 'a', got one by position and one by name"):
            kernel.launch(1, out, a, c, a=a)
        with pytest.raises(TypeError, match="an argument for 'c', got none"):
            kernel.launch(1, out=out, a=a)
