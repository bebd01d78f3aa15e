"""Writes the generated pages: operations, diagnostics and rewrites, outputs in ``README.md``, and the grammar of the
editor's extension.

    python docs/generate.py            write the pages
    python docs/generate.py --check    say which pages are stale; exit status 1 if any is
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

from exploration import page as exploration_page
from limits import page as limits_page
from operation_examples import example, output
from optimisation import page as optimise_page
from pictures import PICTURES, drawn

from tileir import ops
from tileir.cli.explain import codes, explanation
from tileir.text.highlight import grammar
from tileir.text.reference import operation_page

FOLDER = Path(__file__).parent
LINE = 160
"""Characters of a printed line that are shown."""

_OPERATIONS_INTRODUCTION = """\
# Operations

Every operation of Tile IR, by chapter. This page is generated from the declarations in `tileir/ops`
(`make docs`).

In the syntax, `[...]` is optional, `<name>` stands for the value of the attribute of that name, and `T(x)` for the type
of `x`. The brackets around indices, permutations, shapes and strides are part of the text. An attribute dictionary
`{...}` may follow the operands of every operation but `get_tensor_shape` and `get_index_space_shape`; it is left out
here. *Since* is the language version that brought the operation; *opcode* its number in bytecode. What an operation
computes, and the rules that its declaration does not say, are in the [language reference](spec/README.md).

Each operation comes with a program that can be run as it is, with `tileir run FILE --grid 1`, and with
what that prints. Two of them call functions that the host has to register, `experimental$extern_elementwise` and
`preview$call`.
"""

_DIAGNOSTICS_INTRODUCTION = """\
# Diagnostics

Every fault that `tileir` finds in a program has a code that does not change, so that tools can rely on it. Below, each
code of a fault in text comes with a program that is wrong and, where there is an obvious one, the mended program;
faults of files, of bytecode, and of programs that are built in memory are described.
`tileir explain CODE` prints the same in a terminal. This page is generated from `tileir/explain` (`make docs`).

| codes | what they are about |
|---|---|
| E00xx | input and its limits |
| E01xx | reading text |
| E02xx | the declared structure of operations: operands, results, attributes |
| E03xx | types |
| E04xx | core operations, conversions, matrix products, miscellaneous and extensions |
| E05xx | control flow, and the bodies of `reduce` and `scan` |
| E06xx | memory, atomics and views |
| E07xx | floating-point and integer operations |
| E08xx | symbols, modules and debug information |
| W08xx | warnings about hints |
| E09xx | bytecode |
"""


def operations_page() -> str:
    parts = [_OPERATIONS_INTRODUCTION, _contents()]
    for key, (title, _) in ops.CHAPTERS.items():
        members = [op for op in ops.OPS.values() if op.spec.chapter == key]
        parts += [f"## {title}\n", *(f"##{operation_page(op)}\n{_example(op.spec.name)}" for op in members)]
    return "\n".join(parts)


def examples_page() -> str:
    """The examples of all operations, which `tileir explain` shows."""
    return "\n".join(f"# {name}\n\n{_example(name).rstrip()}\n" for name in ops.OPS)


def _example(name: str) -> str:
    """A program with the operation, and what it prints."""
    lines = [f"{line[:LINE]} ..." if len(line) > LINE else line for line in output(name).splitlines()]
    printed = "\n".join(["", "prints", "", "```text", *lines, "```", ""]) if lines else ""
    return f"```mlir\n{example(name)}```\n{printed}"


def _contents() -> str:
    lines = ["| chapter | operations |", "|---|---|"]
    for key, (title, _) in ops.CHAPTERS.items():
        names = [name for name, op in ops.OPS.items() if op.spec.chapter == key]
        links = " ".join(f"[`{name}`](#{_anchor(name)})" for name in names)
        lines.append(f"| [{title}](#{_anchor(title)}) | {links} |")
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def diagnostics_page() -> str:
    # A code's title becomes a heading of this page.
    return "\n".join([_DIAGNOSTICS_INTRODUCTION, *(f"#{explanation(code).rstrip()}\n" for code in codes())])


def readme_page() -> str:
    """README.md with the outputs of the commands that it names as they are now."""
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    return re.sub(r"(<!-- output of: (.*?) -->\n```text\n).*?(?=```\n)", _with_output, text, flags=re.DOTALL)


def _with_output(match: re.Match[str]) -> str:
    _, *arguments = shlex.split(match[2])
    command = [sys.executable, "-m", "tileir", *arguments]
    return match[1] + subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent).stdout


def grammar_page() -> str:
    """The grammar that editors read."""
    return json.dumps(grammar(), indent=2) + "\n"


PAGES = {
    "docs/operations.md": operations_page,
    "tileir/explain/operation_examples.md": examples_page,
    "docs/diagnostics.md": diagnostics_page,
    "docs/explore.md": exploration_page,
    "docs/limits.md": limits_page,
    "docs/optimise.md": optimise_page,
    "README.md": readme_page,
    "editors/vscode/syntaxes/tileir.tmLanguage.json": grammar_page,
    **{f"docs/pictures/{name}.svg": partial(drawn, picture) for name, picture in PICTURES.items()},
}


def main() -> int:
    parser = argparse.ArgumentParser(description="write the generated pages of the manual")
    parser.add_argument("--check", action="store_true", help="write nothing; say which pages are stale")
    check = parser.parse_args().check
    stale = 0
    for name, page in PAGES.items():
        path, text = FOLDER.parent / name, page()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{'stale' if check else 'wrote'}: {name}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
