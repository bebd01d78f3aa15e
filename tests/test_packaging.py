"""The files around the package agree with it and with each other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

import tileir
from tileir.cli import VERBS

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli", reason="needs tomllib, of Python 3.11")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = ROOT / ".github" / "workflows"
PYTHONS = re.findall(r":: (3\.\d+)\b", "\n".join(PROJECT["classifiers"]))


def test_the_version_is_the_same_everywhere() -> None:
    version = tileir.__version__
    assert PROJECT["version"] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    headings = re.findall(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text())
    assert headings[0] == version


def test_the_oldest_python_is_the_same_everywhere() -> None:
    oldest = PYTHONS[0]
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"sys.version_info < {tuple(map(int, oldest.split('.')))}" in (ROOT / "Makefile").read_text()
    assert f"Python {oldest}" in (ROOT / "README.md").read_text()
    stability = (ROOT / "docs" / "stability.md").read_text()
    assert f"Python {oldest} to {PYTHONS[-1]}" in stability


def test_an_older_python_is_told_so_first() -> None:
    code = (ROOT / "setup.py").read_text()
    too_old = f"import sys\nsys.version_info = (3, 9, 18)\n{code.partition('import sys')[2]}"
    ran = subprocess.run([sys.executable, "-c", too_old], capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 1
    assert ran.stderr == "tileir needs Python 3.10 or newer, and this is Python 3.9\n"


def test_the_tests_run_on_every_python_and_system_that_is_claimed() -> None:
    text = (WORKFLOWS / "ci.yml").read_text()
    assert json.loads(re.search(r"python: (\[.*\])", text)[1]) == PYTHONS
    systems = re.search(r"os: \[(.*)\]", text)[1]
    assert all(name in systems for name in ("ubuntu-24.04,", "ubuntu-24.04-arm", "macos", "windows"))


def test_commands_of_the_workflows_name_what_there_is() -> None:
    for path in WORKFLOWS.glob("*.yml"):
        text = path.read_text()
        for extra in re.findall(r"\.\[([\w,]+)\]", text):
            assert set(extra.split(",")) <= PROJECT["optional-dependencies"].keys()
        for file in re.findall(r"\b((?:tests|docs|requirements)/[\w./]*)", text):
            assert (ROOT / file).exists(), file


def test_every_file_of_the_project_is_in_the_source_distribution() -> None:
    lines = (ROOT / "MANIFEST.in").read_text().splitlines()
    included = [word for line in lines if line.startswith(("include ", "graft ")) for word in line.split()[1:]]
    built = ("build", "dist", "*.egg-info", "__pycache__")
    top = [
        path.name for path in ROOT.iterdir() if path.name[0] != "." and not any(fnmatch(path.name, p) for p in built)
    ]
    assert sorted({*top} - {*included}) == ["MANIFEST.in", "pyproject.toml", "setup.py", "tileir"]
    assert [word for word in included if not (ROOT / word).exists()] == []


def test_pinned_packages_have_hashes_and_are_those_of_the_tests() -> None:
    text = (ROOT / "requirements" / "ci.txt").read_text()
    pins = re.findall(r"(?m)^([\w.-]+)==\S+[^\n]*((?:\n    --hash=sha256:[0-9a-f]{64}[^\n]*)+)", text)
    assert len(pins) == len(re.findall(r"(?m)^\S", text))
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
    names = {re.match(r"[\w-]+", one)[0].lower().replace("_", "-") for one in wanted}
    assert names <= {name for name, _ in pins}, "make lock"
    assert "://" not in text


def test_the_notebook_installs_what_is_missing_first() -> None:
    notebook = json.loads((ROOT / "examples" / "cutile" / "cutile_on_a_laptop.ipynb").read_text())
    first = next("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert "find_spec" in first and "[cutile]" in first
    assert "colab" in notebook["metadata"]


def test_hooks_and_settings_of_editors_call_what_there_is() -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"].split() == ["tileir", "check"] and re.search(hook["files"], "a/k.mlir")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite" and "--format sarif" in action["runs"]["steps"][-1]["run"]
    helix = tomllib.loads((ROOT / "editors" / "helix" / "languages.toml").read_text())
    server, debugger = helix["language-server"]["tileir"], helix["language"][0]["debugger"]
    for command in ([server["command"], *server["args"]], [debugger["command"], *debugger["args"]]):
        assert command[0] == "tileir" and command[1] in VERBS
    for file in ("neovim/tileir.lua", "emacs/tileir-mode.el"):
        text = (ROOT / "editors" / file).read_text()
        assert re.search(r'"tileir"[, ]+"lsp"', text) and text.count("(") == text.count(")")
