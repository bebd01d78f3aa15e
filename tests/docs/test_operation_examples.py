"""Every operation has an example on its page that is a legal program with the operation in it, and can be run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tileir
from tileir import ops

PATH = Path(__file__).parents[2] / "docs" / "operation_examples.py"


@pytest.fixture(scope="module")
def examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("operation_examples", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["operation_examples"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(ops.OPS))
def test_the_example_of_an_operation_is_legal_and_runs(examples: ModuleType, name: str) -> None:
    module = tileir.parse(examples.example(name))
    assert tileir.verify(module).ok
    assert name in {op.spec.name for op in module.walk()}
    assert [*module.kernels] == ["example"]
    printed = examples.output(name)
    assert ("print_tko" in examples.example(name)) == bool(printed)


def test_examples_leave_the_functions_of_the_host_as_they_were(examples: ModuleType) -> None:
    with pytest.raises(tileir.UnsupportedError):
        tileir.parse(examples.example("preview$call"))["example"].launch(1, target="interp")
