"""Every cuTile example checks itself against NumPy or torch, on every target; the notebook runs without a GPU."""

import json
import runpy
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

from tileir import cutile

FOLDER = Path(__file__).parents[2] / "examples" / "cutile"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOK = FOLDER / "cutile_on_a_laptop.ipynb"


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_example_agrees_with_its_reference(script: Path, target: str, capsys):
    if "import torch" in script.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="the example compares with torch")
    with cutile.on(target):
        runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.startswith(f"{script.stem}: ")


def test_all_kinds_of_example_are_there():
    wanted = {"vector_add", "matmul", "batched_matmul", "transpose", "softmax", "layer_norm", "rms_norm", "attention"}
    wanted |= {"fft", "grouped_gemm", "gather_scatter", "histogram", "dropout"}
    assert {script.stem for script in SCRIPTS} == wanted


def test_the_examples_know_nothing_of_tileir():
    assert not [script.name for script in SCRIPTS if "tileir" in script.read_text(encoding="utf-8")]


@pytest.mark.thorough
def test_the_notebook_runs_in_jupyter():
    nbformat = pytest.importorskip("nbformat", reason="needs a notebook's parts: pip install '.[notebook]'")
    nbclient = pytest.importorskip("nbclient", reason="needs a notebook's parts: pip install '.[notebook]'")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    done = nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    assert all(cell.execution_count for cell in done.cells if cell.cell_type == "code")


def test_the_notebook_runs_without_a_gpu(monkeypatch):
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for number, source in enumerate(sources):
            # cuTile reads the source of a kernel, which Python finds for a cell as it does for a file.
            file = f"<cell {number}>"
            remembered = (len(source), None, source.splitlines(keepends=True), file)
            monkeypatch.setitem(__import__("linecache").cache, file, remembered)
            exec(compile(source, file, "exec"), names)
    finally:
        cutile.disable()
    assert len(sources) >= 4
