"""Parts of the package do without packages that others need, as in a browser, where there is no LLVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = """\
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
import tileir
"""
TEXT = """
module = tileir.load("examples/saxpy.mlir")
assert tileir.verify(module).ok
data = tileir.to_bytecode(module)
assert tileir.to_text(tileir.from_bytecode(data)).count("store_view_tko")
import json
from tileir.tools.serve.worker import reply
text = open("examples/saxpy.mlir").read()
for pane in ("check", "Tile IR", "bytecode", "explain", "format"):
    answer = json.loads(reply(json.dumps({"pane": pane, "text": text})))
    assert "error" not in answer and (answer["parts"] or pane == "check"), (pane, answer)
"""
RUN = """
import numpy as np
from tileir.cli import main

tileir.optimize(module, level=2)
kernel = module["saxpy"]
arrays = np.ones((128, 256), np.float32), np.ones((128, 256), np.float32)
kernel.launch((2, 2), *arrays, 2.0, 128, 256, target="interp")
assert (arrays[1] == 3).any()
assert "saxpy" in tileir.view(kernel, (2, 2), *arrays, 2.0, 128, 256).html
assert main(["info", "examples/saxpy.mlir"]) == 0
assert main(["info"]) == 0
from importlib.util import find_spec
ttir = [["compile", "--target", "sm_90", "--emit", "ttir"]] if find_spec("triton") else []
for words in (["check"], ["opt", "-O2"], *ttir):
    assert main([words[0], "examples/saxpy.mlir", *words[1:]]) == 0
try:
    kernel.launch((2, 2), *arrays, 2.0, 128, 256)
except tileir.UnsupportedError as error:
    assert "not available" in str(error)
"""


def ran(missing: tuple[str, ...], program: str) -> None:
    code = BLOCK.format(missing=missing) + program
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_text_verifier_and_bytecode_need_python_alone() -> None:
    ran(("llvmlite", "numpy", "ml_dtypes", "rich"), TEXT)


def test_every_pane_of_the_playground_does_without_llvm_threads_and_processes() -> None:
    program = """
import threading
def start(thread):
    raise RuntimeError("can't start new thread")
threading.Thread.start = start
from tileir.tools.serve.panes import PORTABLE
text = open("examples/softmax.mlir").read()
words = "x=f32[4,100]:randn y=f32[4,100]:zeros rows=4 columns=100"
for pane in PORTABLE:
    request = {"pane": pane, "text": text, "grid": "4", "arguments": words, "target": "interp"}
    answer = json.loads(reply(json.dumps(request)))
    assert "error" not in answer and (answer["parts"] or answer.get("document")), (pane, answer)
"""
    ran(("llvmlite", "triton", "rich", "multiprocessing", "fcntl", "resource", "termios"), TEXT + program)


def test_all_but_native_code_does_without_llvm() -> None:
    ran(("llvmlite",), TEXT + RUN)


def test_proofs_and_comparisons_do_without_a_solver() -> None:
    """The extra `prove` only decides more."""
    program = """
sys.modules["z3"] = None
module = tileir.load("examples/saxpy.mlir")
report = tileir.prove(module["saxpy"])
assert report.ok, report
swapped = tileir.parse(open("examples/saxpy.mlir").read().replace("addf %scaled, %y_tile", "addf %y_tile, %scaled"))
(found,) = tileir.equiv(module, swapped, trials=1)
assert found.ok and not found.proved
"""
    ran((), program)
