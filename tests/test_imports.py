"""Imports go one way, lazy ones included: each layer below imports only from the layers before it."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tileir

PACKAGE = Path(tileir.__file__).parent
LAYERS = {
    name: layer
    for layer, names in enumerate(
        (
            ("cache", "explain", "ir"),
            ("ops",),
            ("numerics", "analysis"),
            ("host",),
            ("text", "bytecode", "verify", "passes", "interp", "cpu", "gpu"),
            ("triton.importer",),
            ("runtime",),
            ("command_line",),
            ("sanitize", "explore"),
            ("cuda_as_cpu",),
            ("frontend",),
            ("cutile", "triton", "farm", "tools"),
            ("distributed", "fuzz", "jax", "torch", "tune"),
            ("cli",),
        )
    )
    for name in names
}
ROOT = "(root)"
"""The package itself: the public names, which stand above everything but the command line."""
LEAVES = {"examples"}
"""Import nothing of the project but themselves, and only the command line imports them."""


def part_of(module: str) -> str:
    """``tileir.text.parser`` belongs to ``text``, ``tileir.triton.importer.reader`` to ``triton.importer``."""
    parts = module.split(".")
    known = LAYERS.keys() | LEAVES
    return next((part for part in (".".join(parts[1:3]), parts[1] if len(parts) > 1 else "") if part in known), ROOT)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, wherever they stand, without their expressions, which are most of a tree."""
    work: list[ast.AST] = [tree]
    while work:
        node = work.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, ())
            work += inner if isinstance(inner, list) else ()


def imported(tree: ast.AST, package: str, has_calls: bool = True) -> Iterator[tuple[int, str]]:
    """Line and module of every import of the project in `tree`, wherever it stands; also calls if it has any."""
    for node in ast.walk(tree) if has_calls else statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, [base, node.module]))
            names = [f"{source}.{alias.name}" if source == "tileir" else source for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            argument = node.args[0] if node.args else None
            names = [argument.value] if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else []
        else:
            continue
        yield from ((node.lineno, name) for name in names if name == "tileir" or name.startswith("tileir."))


def allowed(importer: str, target: str) -> bool:
    if importer == target:
        return True
    if importer in LEAVES:
        return False
    if target in LEAVES or target == ROOT:
        return importer == "cli" or (importer == ROOT and target == ROOT)
    if importer == ROOT:
        return target != "cli"
    return LAYERS[importer] > LAYERS[target]


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path, package: str) -> Iterator[tuple[int, str]]:
    return imported(tree(path), package, "import_module" in path.read_text(encoding="utf-8"))


def test_a_module_imports_only_what_lies_below_it() -> None:
    faults = []
    for path in modules():
        relative = path.relative_to(PACKAGE.parent).with_suffix("")
        package = ".".join(relative.parts[:-1])
        importer = "cli" if path.name == "__main__.py" else part_of(".".join(relative.parts))
        faults += [
            f"{relative}.py:{line} ({importer}) imports {module} ({part_of(module)})"
            for line, module in imports_of(path, package)
            if not allowed(importer, part_of(module))
        ]
    assert not faults


RUNTIME = [path for path in modules() if path.parent == PACKAGE / "runtime"]
ENGINES = {"interp", "cpu", "gpu"}


def test_a_target_borrows_nothing_from_another() -> None:
    found = {path.name: {part_of(module) for _, module in imports_of(path, "tileir.runtime")} for path in RUNTIME}
    assert [name for name, parts in found.items() if len(parts & ENGINES) > 1] == []


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def imported_files(path: Path, known: set[str]) -> Iterator[str]:
    """The modules of the project that a file imports, also those taken out of a package."""
    for node in statements(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & known
            yield from inner or {node.module} & known
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known


def test_files_import_each_other_in_no_circle() -> None:
    """Raises CycleError with the files of a circle."""
    known = {module_name(path): path for path in modules()}
    graph = {name: set(imported_files(path, set(known))) - {name} for name, path in known.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(known)


@pytest.mark.parametrize("has_calls", [True, False])
def test_the_rule_itself_is_understood(has_calls: bool) -> None:
    lines = ("from tileir.interp import machine", "from tileir import cpu", "import tileir.ir.types")
    inner = f"{lines[0]}\n  if 1:\n    {lines[1]}\n  try:\n    f()\n  except OSError:\n    {lines[2]}"
    found = {name for _, name in imported(ast.parse(f"def f():\n  {inner}"), "tileir.cpu", has_calls)}
    assert found == {"tileir.interp", "tileir.cpu", "tileir.ir.types"}
    assert not allowed("text", "interp")
    assert not allowed("ir", "ops")
    assert not allowed("interp", "runtime")
    assert allowed("cli", "runtime")
    assert allowed("runtime", "interp")
