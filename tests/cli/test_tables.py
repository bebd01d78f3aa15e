"""Tables: plain text where there is no terminal, which is what a terminal shows without its colours."""

import io
import re
import subprocess
import sys

import pytest

from tileir.cli import show
from tileir.cli.show import Coloured

TABLES = {
    "numbers": ({"a": "left", "count": "right", "": "left"}, [["x", "12", ""], ["long name", "1", ""]]),
    "colours": ({"a": "left", "": "left"}, [["x", Coloured("written", "green")], ["y", Coloured("", "green")]]),
    "one column": ({"name": "right"}, [["x"], ["longer than that"]]),
    "no rows": ({"name": "left", "value": "right"}, []),
    "wide characters": ({"what": "left", "v": "right"}, [["日本", "é"], ["a\u0301b", "x"]]),
    "wider than a terminal": ({"what": "left", "v": "right"}, [["x" * 300, "1"], ["y", "2"]]),
    "markup": ({"[bold]": "left"}, [["[red]x[/red]"], [":smile:"]]),
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def printed(table, stream):
    show.print_table(show.table(*table), stream)
    return stream.getvalue()


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_plain_text_is_what_a_terminal_shows(table, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", printed(table, Terminal()))
    assert printed(table, io.StringIO()) == shown


def test_a_terminal_shows_colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32mwritten" in printed(TABLES["colours"], Terminal())


def test_names_of_a_program_do_not_control_the_terminal():
    assert "\x1b" not in printed(({"a": "left"}, [["\x1b[2J"]]), io.StringIO())


def test_plain_text_can_be_written_in_ascii():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    show.print_table(show.table(*TABLES["numbers"]), stream)
    stream.flush()
    assert b" ------" in stream.buffer.getvalue()


def test_a_run_into_a_file_does_not_import_what_lays_out_for_terminals():
    code = """
import sys
from tileir.cli import main
main(["run", "-", "--grid", "1", "--target", "interp", "a=f32[4]:zeros"])
sys.exit(any(name.startswith("rich") for name in sys.modules))
"""
    program = "entry @k(%a: tile<ptr<f32>>) { return }"
    ran = subprocess.run([sys.executable, "-c", code], input=program, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert "ecbb4b55" in ran.stdout
