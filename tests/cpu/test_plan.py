"""The plan of a kernel: how it reads, and that kernels compute the same without each of its strategies.

``pytest tests/cpu/test_plan.py --bless`` rewrites the expected texts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.cpu.anew import planned
from tests.cpu.test_deferred_products import program
from tests.cpu.test_joint_stores import step
from tests.cpu.test_prefetch import program as rows_in_pieces
from tests.thorough import sampled
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import Host
from tileir.cpu.plan import STRATEGIES, KernelPlan, plan_of
from tileir.cpu.plan_text import text_of
from tileir.examples import FOLDER, Example
from tileir.examples.checks import EXAMPLES, largest_error

BENCH = Path(__file__).parents[2] / "bench" / "kernels"
EXPECTED = Path(__file__).parent / "plans"
SERVER = Host("x86_64-unknown-linux-gnu", "sapphirerapids", "", 512, True, True, True, True, True)
LAPTOP = Host("x86_64-unknown-linux-gnu", "haswell", "", 256, False, False, False, True, True)
PRINTED = [
    (FOLDER / "saxpy.mlir", LAPTOP),
    (FOLDER / "softmax.mlir", LAPTOP),
    (FOLDER / "mutex.mlir", LAPTOP),
    (FOLDER / "attention.mlir", SERVER),
    (FOLDER / "gemm_kloop.mlir", LAPTOP),
    (BENCH / "gemm_bf16.mlir", SERVER),
    (BENCH / "gemm_i8.mlir", LAPTOP),
    (BENCH / "moe_rows_pointers.mlir", SERVER),
]
RUN = [example for example in EXAMPLES if example.name in ("saxpy", "softmax", "attention", "gemm_kloop", "layer_norm")]


@pytest.mark.parametrize(("path", "target"), PRINTED, ids=lambda each: getattr(each, "stem", ""))
def test_a_plan_reads_as_expected(path: Path, target: Host, bless: bool) -> None:
    module = tileir.load(path)
    texts = [text_of(plan_of(kernel.entry, CheckLevel.ON, target), kernel.name) for kernel in module.kernels.values()]
    expected = EXPECTED / f"{path.stem}.txt"
    if bless:
        expected.write_text("\n".join(texts), encoding="utf-8")
    assert "\n".join(texts) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("strategy", sampled(STRATEGIES, 2))
def test_kernels_compute_the_same_without_a_strategy(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(monkeypatch, strategy)
    for example in RUN:
        assert _error(example) <= example.tolerance, example.name


def _error(example: Example) -> float:
    arguments = example.arguments(example.sizes, np.random.default_rng(1))
    answer = example.answer(arguments)
    tileir.load(example.path)[example.kernel].launch(example.grid(example.sizes), *arguments.values(), target="cpu")
    return largest_error(arguments, answer)


def text_of_example(name: str) -> str:
    return (FOLDER / f"{name}.mlir").read_text(encoding="utf-8")


USES: dict[str, tuple[str, str, Callable[[KernelPlan], object]]] = {
    "expressions": (text_of_example("softmax"), "softmax", lambda plan: plan.body.expressions),
    "joint stores": (
        step(16),
        "k",
        lambda plan: [op for op in plan.body.fusion.operations if plan.body.fusion.loop_of(op) is not op],
    ),
    "reused buffers": (text_of_example("attention"), "attention", lambda plan: plan.body.reused),
    "live extents": (program(), "k", lambda plan: plan.body.live),
    "joined tile blocks": (text_of_example("saxpy"), "saxpy", lambda plan: plan.coarsening),
    "streams": (text_of_example("vector_add"), "vector_add", lambda plan: plan.streams),
    "prefetches": (rows_in_pieces(), "k", lambda plan: plan.body.prefetches),
    "kept panels": (program(), "k", lambda plan: plan.keeps_panels),
    "deferred products": (
        program(),
        "k",
        lambda plan: any(each.panels and each.panels.is_deferred for each in plan.body.products.values()),
    ),
}


def test_cut_tiles_are_read_under_a_mask_where_vectors_have_masks() -> None:
    entry = tileir.load(FOLDER / "softmax.mlir")["softmax"].entry
    masked = {target: plan_of(entry, CheckLevel.ON, target).body.masked for target in (SERVER, LAPTOP)}
    assert masked[SERVER]
    assert not masked[LAPTOP]
    assert not plan_of(entry, CheckLevel.ON, SERVER, without=["masked loads"]).body.masked


@pytest.mark.parametrize("strategy", USES)
def test_a_plan_without_a_strategy_has_none_of_it(strategy: str) -> None:
    text, name, uses = USES[strategy]
    entry = tileir.parse(text)[name].entry
    assert uses(plan_of(entry, CheckLevel.ON, SERVER))
    assert not uses(plan_of(entry, CheckLevel.ON, SERVER, without=[strategy]))
