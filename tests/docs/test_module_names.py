"""The modules and files that prose names in backticks exist: in docstrings, comments, the manual, and the README."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from spec_pages import ROOT

PACKAGE = ROOT / "tileir"
TOPS = ("tileir", "tests", "docs", "bench", "examples")
"""Folders by which the path of a file may begin."""
NAMED = re.compile(r"(?<!`)(`{1,2})([A-Za-z_][\w./*-]*)\1(?!`)")
NAMES_PLACE = re.compile(r"`\w+[./]")
"""Stands wherever prose names a module or a file."""
COMMENTED_NAME = re.compile("#.*`")
BLOCK = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
LIMITS = re.compile(r"[Dd]oes not know\b(.*?)(?:\n\n|\Z)", re.DOTALL)
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b")


def sources() -> list[Path]:
    folders = ("tileir", "tests", "bench", "docs")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in found if "cutile" not in path.parent.parts or "examples" not in path.parts)


def pages() -> list[Path]:
    found = [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/tools").glob("*.md"),
        *(PACKAGE / "explain").glob("*.md"),
        *ROOT.glob("*.md"),
    ]
    return sorted(found)


@cache
def prose(path: Path) -> str:
    """Docstrings and comments of a source, or a page without its blocks of code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return BLOCK.sub("", text)
    if not NAMES_PLACE.search(text):
        return ""
    comments: list[str] = []
    if COMMENTED_NAME.search(text):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    strings = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    written = [node.value for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return "\n".join((*comments, *written))


@cache
def packages() -> dict[str, list[Path]]:
    """Every folder with modules, by its name; the same name may stand in several places."""
    found: dict[str, list[Path]] = {"tileir": [PACKAGE]}
    for folder in sorted({path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE}):
        found.setdefault(folder.name, []).append(folder)
    return found


@cache
def defined(module: Path) -> frozenset[str]:
    """The names that a module has at its top, and those that its classes have."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return frozenset(names)


def leads_somewhere(place: Path, parts: list[str]) -> bool:
    """Return whether `parts` are packages, a module, and names in it, starting at the package `place`."""
    if not parts:
        return True
    head, *rest = parts
    module = place / f"{head}.py"
    if module.is_file():
        return all(name in defined(module) for name in rest)
    if (place / head).is_dir():
        return leads_somewhere(place / head, rest)
    initial = place / "__init__.py"
    return initial.is_file() and all(name in defined(initial) for name in parts)


def dotted(text: str) -> Iterator[list[str]]:
    """Paths like ``cpu.memory.gather`` whose first part is a package of the project; ``triton.testing`` is Triton's."""
    for ticks, name in NAMED.findall(text):
        parts = name.split(".")
        if (
            ticks == "`"
            and len(parts) > 1
            and all(part.isidentifier() for part in parts)
            and parts[0] in packages().keys() - {"triton"}
        ):
            yield parts


def test_dotted_paths_lead_to_modules() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {'.'.join(parts)}"
        for path in (*sources(), *pages())
        for parts in dotted(prose(path))
        if not any(leads_somewhere(place, parts[1:]) for place in packages()[parts[0]])
    ]
    assert wrong == []


def test_paths_of_files_exist() -> None:
    """A word in capitals stands for any name: ``tileir/explain/CODE.md``."""
    wrong = []
    for path in (*sources(), *pages()):
        named = (name.rstrip("/.") for _, name in NAMED.findall(prose(path)) if name.split("/")[0] in TOPS)
        patterns = (PLACEHOLDER.sub("*", name) for name in named if "/" in name)
        wrong += [f"{path.relative_to(ROOT)}: {pattern}" for pattern in patterns if not any(ROOT.glob(pattern))]
    assert wrong == []


def test_what_a_module_leaves_to_others_is_left_to_modules() -> None:
    """``Does not know: ... (`name`)`` names a module of the same part of the project, or a part."""
    parts = {path.stem for path in PACKAGE.iterdir()}
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not LIMITS.search(text):
            continue
        own = PACKAGE / path.relative_to(PACKAGE).parts[0]
        known = parts | {found.stem for found in own.rglob("*") if found.is_dir() or found.suffix == ".py"}
        docstring = ast.get_docstring(ast.parse(text)) or ""
        for limits in LIMITS.findall(docstring):
            aside = " ".join(re.findall(r"\(([^()]*)\)", limits))
            names = (name for ticks, name in NAMED.findall(aside) if len(ticks) == 1 and name.islower())
            wrong += [
                f"{path.relative_to(ROOT)}: {name}" for name in names if name.isidentifier() and name not in known
            ]
    assert wrong == []


def test_the_readme_lists_the_parts_of_the_project() -> None:
    listed = re.findall(r"(?m)^tileir/(\w+) ", (ROOT / "README.md").read_text(encoding="utf-8"))
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert sorted(listed) == sorted(folders)
