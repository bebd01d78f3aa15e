"""Reports: graphs as text, drawings and pages, omissions, refusals."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.explore.launched import explored_file, explored_program, explored_text, only
from tests.explore.programs import program
from tileir.explore.text import surprises

EXAMPLES = Path(tileir.__file__).parent / "examples"
LITMUS = EXAMPLES / "litmus"
SVG = "{http://www.w3.org/2000/svg}"
HEAD = "cuda_tile.module @m {\n  entry @k("


def test_a_surprising_outcome_is_told_with_its_execution() -> None:
    text = str(explored_file(LITMUS / "MP13.mlir"))
    expected = """\
NO INTERLEAVING gives 1:%f = 1, 1:%d = 0; this execution does:
  tile block 0
    a  store relaxed device x = 1         line 17
    b  store relaxed device y = 1         line 18  after a
  tile block 1
    c  load relaxed device y is 1         line 22  reads b
    d  load relaxed device x is 0         line 23  after c; reads the initial value
  an interleaving would have to take a before b (program order), b before c (reads from it), c before d (program \
order), d before a (overwrites what it read)
"""
    assert expected in text
    assert text.endswith("SUMMARY: tileir explore: 4 outcomes, 1 of no interleaving, no fault (all executions)")


def test_a_race_is_told_at_both_places() -> None:
    text = str(explored_file(LITMUS / "MP5.mlir"))
    assert "ERROR: tileir explore: race: store and load of x have no order" in text
    assert "MP5.mlir:16:13: 'store_ptr_tko' by tile block (0, 0, 0)" in text
    assert "MP5.mlir:24:19: 'load_ptr_tko' by tile block (1, 0, 0)" in text
    assert "the weakest mend:" in text


@pytest.mark.parametrize("path", sorted(LITMUS.glob("*.mlir")), ids=lambda path: path.stem)
def test_every_execution_can_be_drawn(path: Path) -> None:
    report = explored_file(path, mends=False)
    for found in (*report.outcomes, *report.faults):
        drawn = ElementTree.fromstring(report.to_svg(found.witness))
        boxes, words = drawn.findall(f"{SVG}g"), [text.text or "" for text in drawn.iter(f"{SVG}text")]
        assert len(boxes) == len(found.witness.graph.events)
        assert all(any(name in word for word in words) for name in ("tile block 0", "a  "))
        assert report.to_text(found.witness).count(" line ") == len(boxes)


class Tags(HTMLParser):
    """The tags of a page, which must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def test_a_page_has_a_drawing_for_each_fault_and_each_surprise() -> None:
    report = explored_file(EXAMPLES / "concurrent" / "mutex.mlir", "mutex_relaxed_unlock")
    page = report.to_html()
    assert Tags(page).seen.count("svg") == len(report.faults) + len(surprises(report)) > len(report.faults) + 1
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "&#x27;release device&#x27; instead of" in page


def test_names_of_a_program_are_escaped() -> None:
    source = '// launch: --grid 1 x=i32[1]:zeros\n// exists: x = 0 and x != "<script>"\n'
    with pytest.raises(ValueError, match="cannot read"):
        explored_text(source + HEAD + "%x: tile<ptr<i32>>) {\n  }\n}\n")
    page = explored_program(program("W x=1", "R x:r")).to_html()
    assert "tile&lt;ptr&lt;i32&gt;&gt;" in page and "tile<ptr" not in page


# ---------------------------------------------------------------- what is said and what is left out


def test_a_line_that_does_not_hold_shows_an_execution() -> None:
    source = "// launch: --grid 1 x=i32[1]:zeros\n// forbidden: x = 1\n"
    body = "%x: tile<ptr<i32>>) {\n    %one = constant <i32: 1> : tile<i32>\n"
    body += "    %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token\n  }\n}\n"
    report = explored_text(source + HEAD + body)
    assert not report.ok and report.mends == []
    assert "this execution ends as line 2 says:" in str(report)


def test_a_loop_without_end_is_cut_and_the_report_says_so() -> None:
    source = """\
// launch: --grid 1 x=i32[1]:zeros
// never: race
cuda_tile.module @m {
  entry @k(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %fresh = make_token : token
    loop iter_values(%t = %fresh) : token {
      %old, %next = atomic_rmw_tko relaxed device %x, add, %one token=%t
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      continue %next : token
    }
  }
}
"""
    report = explored_text(source, iterations=3)
    assert (report.cut, report.complete, report.ok) == (1, False, False)
    assert "not all: 1 execution left where a loop had 3 iterations" in str(report)
    assert report.outcomes == []


def test_a_limit_ends_the_search() -> None:
    report = explored_file(LITMUS / "IRIW1.mlir", limit=5)
    assert (report.executions, report.complete) == (5, False)
    assert "stopped after 5 executions" in str(report)


ASSERTING = """\
// launch: --grid 2 x=i32[1]:zeros
// {line}
cuda_tile.module @m {{
  entry @k(%x: tile<ptr<i32>>) {{
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %old, %t = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %small = cmpi less_than %old, %{bound}, signed : tile<i32> -> tile<i1>
    assert %small, "too many" : tile<i1>
    %never = cmpi equal %old, %two, signed : tile<i32> -> tile<i1>
    if %never {{
      assert %small, "not here" : tile<i1>
    }}
  }}
}}
"""


def test_assertions_fail_hold_or_are_never_reached() -> None:
    right = explored_text(ASSERTING.format(line="never: assert", bound="two"))
    assert right.ok
    assert ":11:5: this assertion cannot fail: reached in 2 executions" in str(right)
    assert ":14:7: this assertion is never reached" in str(right)
    wrong = explored_text(ASSERTING.format(line="exists: assert", bound="one"))
    assert wrong.ok
    (fault,) = wrong.faults
    assert fault.kind == "assert" and "too many" in fault.message


def test_a_wait_that_nobody_ends_is_a_deadlock() -> None:
    report = explored_file(EXAMPLES / "concurrent" / "split_k.mlir", "split_k_off_by_one")
    (fault,) = report.faults
    assert fault.kind == "deadlock" and report.outcomes == []
    assert "the loop of tile block (0, 0, 0)" in str(report)


def test_a_load_beside_the_wait_races_in_an_iteration_that_finds_nothing() -> None:
    """The data is read in every iteration, and used only in the last: the flag orders only that one."""
    source = """\
// launch: --grid 2 data=i32[1]:zeros flag=i32[1]:zeros
// exists: race
cuda_tile.module @m {
  entry @k(%data: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t0 = store_ptr_tko weak %data, %one : tile<ptr<i32>>, tile<i32> -> token
      %t1 = store_ptr_tko release device %flag, %one token=%t0 : tile<ptr<i32>>, tile<i32> -> token
    } else {
      loop {
        %set, %t0 = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %found, %t1 = load_ptr_tko weak %data token=%t0 : tile<ptr<i32>> -> tile<i32>, token
        %ready = cmpi equal %set, %one, signed : tile<i32> -> tile<i1>
        if %ready {
          break
        }
      }
    }
  }
}
"""
    report = explored_text(source)
    assert report.ok and [fault.kind for fault in report.faults] == ["race"]


# ---------------------------------------------------------------- what is refused


def test_ordered_accesses_of_two_sizes_are_refused_and_others_a_race() -> None:
    source = """\
// launch: --grid 1 x=i32[2]:zeros
cuda_tile.module @m {{
  entry @k(%x: tile<ptr<i32>>) {{
    %wide = ptr_to_ptr %x : tile<ptr<i32>> -> tile<ptr<i64>>
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
    %both, %u = load_ptr_tko weak %wide{token} : tile<ptr<i64>> -> tile<i64>, token
  }}
}}
"""
    with pytest.raises(tileir.UnsupportedError, match="accesses of 4 and 8 bytes to the same memory"):
        explored_text(source.format(token=" token=%t"))
    report = explored_text(source.format(token=""))
    assert [(fault.kind, fault.why) for fault in report.faults] == [("race", "sizes")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("exists: y = 1", "'y': expected one of x"),
        ("exists: x[4] = 1", r"'x\[4\]': the array has no such element"),
        ("exists: 7:%r = 1", "'7:%r': the grid has no tile block 7"),
        ("exists: 0:%nothing = 1", "no access gives a value %nothing"),
        ("exists: x", "expected = or != after 'x', got 'the end'"),
        ("exists: x = y", "expected a number after 'x =', got 'y'"),
        ("exists: (x = 1", r"expected '\)'"),
        ("never: x = 1 x = 2", "expected 'and', 'or' or the end, got 'x'"),
        ("never: ", "expected a value or one of race, deadlock, assert, trap, got 'the end'"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(line: str, message: str) -> None:
    source = f"// launch: --grid 1 x=i32[1]:zeros\n// {line}\n"
    with pytest.raises(ValueError, match=message):
        explored_text(source + HEAD + "%x: tile<ptr<i32>>) {\n  }\n}\n")


def test_arrays_stay_as_they_are() -> None:
    x = np.zeros(1, np.int32)
    kernel = only(tileir.load(LITMUS / "CoWW1.mlir"))
    assert tileir.explore(kernel, 1, x).outcomes[0].values["x"] == 2
    assert x[0] == 0
