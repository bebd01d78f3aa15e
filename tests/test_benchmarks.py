"""The measuring code of ``bench``: what counts as a difference, what a picture shows, that a point can be measured."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[1] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(BENCH))
    return BENCH


def load(bench: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, bench / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("after", "expected"), [((1.2, 1.15, 1.3), "slower"), ((0.8, 0.7, 0.85), "faster"), ((1.2, 1.0, 1.3), "")]
)
def test_a_difference_counts_if_the_quarters_do_not_overlap(bench, after, expected):
    compare = load(bench, "compare")
    before = compare.Sample(1.0, 0.95, 1.05)
    assert compare.verdict(before, compare.Sample(*after)).strip("*") == expected


def test_a_small_difference_does_not_count(bench):
    compare = load(bench, "compare")
    assert compare.verdict(compare.Sample(1.0, 0.999, 1.001), compare.Sample(1.04, 1.039, 1.041)) == ""


def test_a_picture_shows_every_point(bench):
    picture = load(bench, "picture")
    points = [("1 x <2>", 0.01), ("b", 1.0), ("c", 300.0)]
    root = ElementTree.fromstring(picture.drawn("a & b", points))
    dots = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    heights = [float(dot.get("cy")) for dot in dots]
    assert len(dots) == 3 and heights[0] > heights[1] > heights[2]
    assert all(picture.TOP <= height <= picture.HEIGHT - picture.BOTTOM for height in heights)


@pytest.mark.thorough
def test_a_point_is_measured_on_request():
    pytest.importorskip("torch", reason="the cases of the benchmarks need torch for their peers")
    environment = {**os.environ, "PYTHONPATH": str(BENCH.parent), "TILEIR_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, str(BENCH / "sweep.py"), "--serve"],
        input="add 2^10\nadd 2^10\ngemm 32 x 32 x 32\ngemm_f8 64 x 64 x 64\nattention_bf16_128_gqa 4 x 64\n",
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.split()) == 5 and all(float(word) > 0 for word in run.stdout.split())


@pytest.mark.skipif(sys.platform != "linux", reason="memory that is no file's is read from Linux's /proc")
@pytest.mark.parametrize(("size", "within", "status"), [("256", "200", 0), ("2", "1", 1)])
def test_a_launch_on_a_file_needs_less_memory_than_the_file(size, within, status):
    words = ["--file-mib", size, "--within-mib", within, "--workers", "1", "--bands", "4"]
    run = subprocess.run(
        [sys.executable, str(BENCH / "large_file.py"), *words],
        env={**os.environ, "PYTHONPATH": str(BENCH.parent)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert f"a file of {size} MiB" in run.stdout


def test_every_benchmark_is_run_by_a_target_of_make(bench):
    scripts = {path.name for path in bench.glob("*.py") if '__name__ == "__main__"' in path.read_text(encoding="utf-8")}
    started = (bench.parent / "Makefile").read_text(encoding="utf-8") + (bench / "run.py").read_text(encoding="utf-8")
    forms = ('"{0}.py"', "bench/{0}.py", "import {0}  # noqa")
    assert {name for name in scripts if not any(form.format(name[:-3]) in started for form in forms)} == set()


def test_the_page_has_a_place_for_every_table(bench):
    page = (bench.parent / "docs" / "performance.md").read_text(encoding="utf-8")
    run = (bench / "run.py").read_text(encoding="utf-8")
    marks = re.findall(r"<!-- (measured[^{]*?) -->", run)
    marks += [f"measured {name}" for name in re.findall(r'"(\w+)": \["\w+\.py"', run)]
    assert len(marks) == 11
    for mark in marks:
        assert page.index(f"<!-- {mark} -->") < page.index(f"<!-- end of {mark} -->")
