"""The manual is true: its generated pages are fresh, and the commands and programs in it work.

A comment in front of a code block says how it is tested, and every block of commands or Python has one:

* ``run``: it is run (``sh`` blocks line by line; ``python`` blocks of a page one after the other, with the names of
  those before); ``fails: N`` expects the exit status N; ``file: NAME`` writes it to a file. All happen in one folder
  per page, with ``examples`` in it.
* ``run with: MODULE``: the same where that module is installed, a ``python`` block as a script of its own; ``gpu``:
  needs a GPU, and is only compiled.
* ``make``: commands of a contributor; their targets and files must exist.
* ``install``: the command installs this package, with extras that it has.
* ``in: FILE``: a part of that file (`walk`).
* ``part of: FILE``: lines of that file.
* ``output of: COMMAND``: made and checked by `docs/generate.py`.
"""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import run_python
from tileir.cli import VERBS
from tileir.examples import FOLDER as EXAMPLES

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/tools").glob("*.md"))]
BLOCK = re.compile(r"<!-- (run|fails: \d+|file: \S+) -->\n```(\w+)\n(.*?)```\n", re.DOTALL)
NEEDY = re.compile(r"<!-- (?:run with: (\S+)|gpu) -->\n```(\w+)\n(.*?)```\n", re.DOTALL)
SLOW = re.compile(r"torch\.compile|import helion|import jax")
"""In code that imports or compiles for seconds."""
KEPT = re.compile(r"<!-- (make|install) -->\n```sh\n(.*?)```\n", re.DOTALL)
ANY = re.compile(r"(?:<!-- ([\w-]+)[^\n]* -->\n)?```(\w*)\n(.*?)```\n", re.DOTALL)
KINDS = {"run", "fails", "file", "make", "install", "in", "gpu", "output", "part"}
PART = re.compile(r"<!-- part of: (\S+) -->\n```\w+\n(.*?)```\n", re.DOTALL)
PLAIN = re.compile(r"""(?:tileir|pytest|python(?= \S+\.py)) (?:[^|<>&;$`*?'"\\]|'[^']*'|"[^"$`\\]*")+""")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_generated_pages_are_fresh() -> None:
    """If not: `make docs`."""
    ran = run_python("docs/generate.py", "--check")
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
    """A plain command of Python without a shell, any other line by one."""
    plain = line.partition("  #")[0]
    if PLAIN.fullmatch(plain):
        tool, *words = shlex.split(plain)
        return run_python(*(() if tool == "python" else ("-m", tool)), *words, cwd=folder)
    path = f"{folder / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
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


def needy_blocks() -> list[object]:
    found = []
    for page in PAGES:
        text = page.read_text()
        files = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", text, re.DOTALL))
        for number, (module, language, code) in enumerate(NEEDY.findall(text)):
            marks = pytest.mark.thorough if SLOW.search(code) else ()
            found.append(pytest.param(module, language, code, files, id=f"{page.name}-{number}", marks=marks))
    return found


@pytest.mark.parametrize(("module", "language", "code", "files"), needy_blocks())
def test_what_needs_other_packages_works_where_they_are(
    module: str, language: str, code: str, files: dict[str, str], folder: Path
) -> None:
    if language == "python":
        compile(code, "block", "exec")
    if not module:
        pytest.skip("needs a GPU; the tests marked hardware run its like on one")
    if not all(importlib.util.find_spec(module[:end]) for end in dots(module)):
        pytest.skip(f"needs the package {module}")
    for name, text in files.items():
        (folder / name).write_text(text)
    if language == "python":
        (folder / "block.py").write_text(code)
        ran = run_python("-m", "block", cwd=folder)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    else:
        run_shell(code, folder, 0)


@pytest.mark.parametrize("page", [page for page in PAGES if PART.search(page.read_text())], ids=lambda page: page.name)
def test_parts_of_files_are_in_them(page: Path) -> None:
    for file, text in PART.findall(page.read_text()):
        assert text in (ROOT / file).read_text(encoding="utf-8"), file


def dots(module: str) -> list[int]:
    """Return the offsets at which the names of a module and its packages end."""
    return [match.start() for match in re.finditer(r"\.|$", module)]


def commands(page: Path, kind: str) -> list[str]:
    blocks = [text for found, text in KEPT.findall(page.read_text()) if found == kind]
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.partition("  #")[0].strip() for line in lines]


CONTRIBUTORS = [*PAGES, ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", CONTRIBUTORS, ids=lambda page: page.name)
def test_commands_of_contributors_name_what_there_is(page: Path) -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    for line in commands(page, "make"):
        tool, *words = shlex.split(line)
        if tool == "make":
            assert {word for word in words if "=" not in word} <= targets, line
        elif tool == "tileir":
            assert words[0] in VERBS, line
        else:
            assert (tool, *words[:2]) == (".venv/bin/python", "-m", "pytest"), line
            assert all((ROOT / word).exists() for word in words[2:] if not word.startswith("-")), line


@pytest.mark.parametrize("page", CONTRIBUTORS, ids=lambda page: page.name)
def test_what_is_installed_is_this_package_with_extras_that_it_has(page: Path) -> None:
    _, _, optional = (ROOT / "pyproject.toml").read_text().partition("optional-dependencies]")
    extras = re.findall(r"(?m)^(\w+) = \[", optional)
    for line in commands(page, "install"):
        match = re.fullmatch(r"pip install (?:'?\.(?:\[([\w,]+)\])?'?|nvidia-cuda-tileiras)", line)
        assert match, line
        assert set((match[1] or "").split(",")) <= {"", *extras}, line


@pytest.mark.parametrize("page", CONTRIBUTORS, ids=lambda page: page.name)
def test_every_block_of_commands_or_python_is_tested(page: Path) -> None:
    generated = ("diagnostics.md", "operations.md")  # tested where they come from
    for kind, language, text in ANY.findall(page.read_text()):
        if page.name not in generated:
            assert kind in KINDS or language in ("text", "mlir"), text
            assert language, text


def test_the_walks_are_code_of_the_files_that_they_name() -> None:
    ran = run_python("-m", "tests.docs.walk", ROOT / "docs" / "contributing.md")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them, and the places that it names itself."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"(?m)^#+ (.*)$", text))
    headings = {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
    return headings | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s:]*\.md)?#([^)\s]+)\)", page.read_text(encoding="utf-8")):
        place = page if not target else page.parent / target
        assert anchor in anchors(place), f"{target}#{anchor}"


def test_the_command_line_page_covers_every_verb() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    assert [verb for verb in VERBS if f"tileir {verb}" not in text] == []


def test_the_examples_page_names_every_program() -> None:
    text = (ROOT / "docs" / "examples.md").read_text()
    assert [path.name for path in EXAMPLES.glob("*.mlir") if path.name not in text] == []


def test_the_makefile_has_what_the_readme_names() -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    assert set(re.findall(r"make ([a-z][a-z-]*)", (ROOT / "README.md").read_text())) <= targets
