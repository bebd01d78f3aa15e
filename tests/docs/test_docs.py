"""The manual is true: its generated pages are fresh, and the commands and programs in it work.

A comment in front of a code block says what is done with it: ``<!-- run -->`` runs it (``sh`` blocks line by line;
``python`` blocks of a page one after the other, with the names of those before), ``<!-- fails: N -->`` expects the exit
status N, ``<!-- file: NAME -->`` writes it to a file. All happen in one folder per page, with ``examples`` in it.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import run_module
from tileir.cli import VERBS
from tileir.examples import FOLDER as EXAMPLES

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/tools").glob("*.md"))]
BLOCK = re.compile(r"<!-- (run|fails: \d+|file: \S+) -->\n```(\w+)\n(.*?)```\n", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_generated_pages_are_fresh() -> None:
    """If not: `make docs`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "docs/generate.py", "--check"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the examples and a `tileir` command that runs this code."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "tileir"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tileir "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run_shell(script: str, folder: Path, status: int) -> None:
    for line in script.replace("\\\n", " ").splitlines():
        ran = run_line(line, folder)
        assert ran.returncode == status, f"{line}\n{ran.stdout}{ran.stderr}"
        assert "Traceback" not in ran.stderr


def run_line(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A plain command of ours without a shell, any other line by one."""
    if re.fullmatch(r"tileir [^|<>&;$`*?'\"]+", line):
        return run_module(*shlex.split(line), cwd=folder)
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name)
def test_what_a_page_says_works(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for what, language, text in BLOCK.findall(page.read_text()):
        if what.startswith("file: "):
            (folder / what.removeprefix("file: ")).write_text(text)
        elif language == "python":
            exec(compile(text, str(page), "exec"), names)
        else:
            run_shell(text, folder, int(what.partition(":")[2] or 0))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_command_line_page_covers_every_verb() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    assert [verb for verb in VERBS if f"tileir {verb}" not in text] == []


def test_the_examples_page_names_every_program() -> None:
    text = (ROOT / "docs" / "examples.md").read_text()
    assert [path.name for path in EXAMPLES.glob("*.mlir") if path.name not in text] == []


def test_the_makefile_has_what_the_readme_names() -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    assert set(re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text())) <= targets
