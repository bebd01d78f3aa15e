"""Notebooks: what objects look like there, and programs in cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from launches import RACE

import tileir

SMALL = """\
// a comment with <angles>
entry @fill(%x: tile<ptr<i32>>) {
  %v = constant <i32: 7> : tile<i32>
  %t = store_ptr_tko weak %x, %v : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""


def test_a_module_is_shown_in_colour_and_a_kernel_as_its_parameters() -> None:
    module = tileir.parse(SMALL)
    page = module._repr_html_()
    assert page.startswith("<pre>") and ">// a comment with &lt;angles&gt;</span>" in page
    assert page.count("<span") > 10 and ">entry</span>" in page and ">store_ptr_tko</span>" in page
    decoded = tileir.from_bytecode(tileir.to_bytecode(module))
    assert ">entry</span>" in decoded._repr_html_()
    assert "<td>x</td><td><code>tile&lt;ptr&lt;i32&gt;&gt;</code></td>" in module["fill"]._repr_html_()


def test_reports_are_shown_with_their_marks() -> None:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.parse("entry @k() {\n  mulf <x>\n}")
    report = tileir.verify(tileir.parse(SMALL))
    assert report._repr_html_() == "<pre>no faults</pre>"
    found = type(report)(caught.value.diagnostics, caught.value.source)._repr_html_()
    assert ">error[E0103]</b>:" in found and "mulf &lt;x&gt;" in found
    kernel = next(iter(tileir.parse(RACE, "race.mlir").kernels.values()))
    arrays = np.arange(16, dtype=np.float32), np.zeros(1, np.float32)
    assert "<b" in tileir.sanitize(kernel, 4, *arrays)._repr_html_()
    assert "<pre>" in tileir.prove(kernel)._repr_html_()


@pytest.fixture
def shell() -> Any:
    interactive = pytest.importorskip("IPython.core.interactiveshell", reason="needs IPython: pip install ipykernel")
    found = interactive.InteractiveShell()
    found.run_line_magic("load_ext", "tileir")
    return found


def test_a_cell_holds_a_program(shell: Any) -> None:
    assert isinstance(shell.run_cell_magic("tileir", "mine", SMALL), tileir.Module)
    x = np.zeros(1, np.int32)
    shell.user_ns["mine"]["fill"].launch(1, x)
    assert x[0] == 7
    shell.run_cell_magic("tileir", "", SMALL)
    assert isinstance(shell.user_ns["module"], tileir.Module)


def test_faults_of_a_cell_have_its_lines(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = shell.run_cell_magic("tileir", "", SMALL.replace("constant", "konstant"))
    assert "cell:4:8: error[E0105]" in repr(found) and "did you mean" in found._repr_html_()
    assert "module" not in shell.user_ns
    shell.run_cell_magic("tileir", "two names", SMALL)
    assert "expected a name, got 'two names'" in capsys.readouterr().out


def test_a_comparison_is_shown_as_its_command_prints_it() -> None:
    module, other = tileir.parse(SMALL), tileir.parse(SMALL.replace("i32: 7", "i32: 8"))
    report = tileir.equiv(module, other, trials=1)
    assert not report.ok and str(report).startswith("@fill: different: ")
    assert report._repr_html_().startswith("<pre") and "@fill: different: " in report._repr_html_()
    (same,) = tileir.equiv(module, module)
    assert same.ok and same.proved
