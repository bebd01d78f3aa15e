"""Writes what follows from the code: ``operations.md``, ``diagnostics.md``, and the outputs shown in ``README.md``.

Knows: what the declarations and the explanations say, as Markdown. Does not know: any operation or code.

    python docs/generate.py            write the pages
    python docs/generate.py --check    say which pages are stale; exit status 1 if any is
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from syntax import syntax  # noqa: E402

import tileir  # noqa: E402
from tileir import ops  # noqa: E402
from tileir.cli.explain import codes, explanation  # noqa: E402
from tileir.cli.launching import given_values  # noqa: E402
from tileir.examples import FOLDER as EXAMPLES  # noqa: E402
from tileir.explore.report import ExplorationReport  # noqa: E402
from tileir.ir.attributes import TextEnum  # noqa: E402
from tileir.ir.core import Op  # noqa: E402
from tileir.ir.effects import AccessTrait  # noqa: E402
from tileir.ir.fields import REQUIRED, Attr, AttrKind, Operand, Result  # noqa: E402
from tileir.ir.spec import OpSpec, Placement  # noqa: E402
from tileir.ir.traits import Same, TypeFrom  # noqa: E402
from tileir.runtime.exploring import launch_line  # noqa: E402
from tileir.runtime.module import Kernel  # noqa: E402

_OPERATIONS_INTRODUCTION = """\
# Operations

Every operation of Tile IR, by chapter. This page is generated from the declarations in `tileir/ops`
(`make docs`).

In the syntax, `[...]` is optional, `<name>` stands for the value of the attribute of that name, and `T(x)` for the type
of `x`. The brackets around indices, permutations, shapes and strides are part of the text. An attribute dictionary
`{...}` may follow the operands of every operation but `get_tensor_shape` and `get_index_space_shape`; it is left out
here. *Since* is the language version that brought the operation; *opcode* its number in bytecode. What an operation
computes, and the rules that its declaration does not say, are in the [language reference](spec/README.md).
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
        parts += [f"## {title}\n", *(_operation(op) for op in members)]
    return "\n".join(parts)


def _contents() -> str:
    lines = ["| chapter | operations |", "|---|---|"]
    for key, (title, _) in ops.CHAPTERS.items():
        names = [name for name, op in ops.OPS.items() if op.spec.chapter == key]
        links = " ".join(f"[`{name}`](#{_anchor(name)})" for name in names)
        lines.append(f"| [{title}](#{_anchor(title)}) | {links} |")
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _operation(op: type[Op]) -> str:
    spec = op.spec
    facts = [f"since {spec.since}", _encoding(spec), *_other_names(spec), _reference(spec)]
    parts = [f"### {spec.name}\n", f"{spec.doc}\n", f"```text\n{syntax(spec)}\n```\n", f"*{'; '.join(facts)}*\n"]
    fields = [*_operands(spec.operands), *_attributes(spec.attrs), *_results(spec.results)]
    if fields:
        rows = ["| field | kind | what it is |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in fields)]
        parts.append("\n".join(rows) + "\n")
    rules = list(_rules(spec))
    if rules:
        parts.append("\n".join(f"* {rule}" for rule in rules) + "\n")
    return "\n".join(parts)


def _reference(spec: OpSpec) -> str:
    return f"[reference](spec/{spec.chapter}.md#{spec.name.replace('$', '-')})"


def _encoding(spec: OpSpec) -> str:
    if spec.opcode is None:
        return "text only"
    where = {
        Placement.FUNCTION: ", in the function section",
        Placement.GLOBAL: ", in the global section",
        Placement.MODULE: ", implied by the file",
    }
    return f"opcode 0x{spec.opcode:02X}{where.get(spec.placement, '')}"


def _other_names(spec: OpSpec) -> Iterator[str]:
    dated = {name: since for since, name in spec.spellings}
    for name, since in dated.items():
        yield f"spelled `{name}` since {since}"
    rest = [f"`{alias}`" for alias in spec.aliases if alias not in dated]
    if rest:
        yield f"also read as {', '.join(rest)}"


def _operands(operands: Iterable[Operand]) -> Iterator[tuple[str, str, str]]:
    for operand in operands:
        kind = "operands" if operand.variadic else "operand, optional" if operand.optional else "operand"
        yield f"`{operand.name}`", kind, _dated(_cell(operand.constraint.text), operand.since)


def _results(results: Iterable[Result]) -> Iterator[tuple[str, str, str]]:
    for result in results:
        kind = "results" if result.variadic else "result"
        yield f"`{result.name}`", kind, _dated(_cell(result.constraint.text), result.since)


def _attributes(attrs: Iterable[Attr]) -> Iterator[tuple[str, str, str]]:
    for attr in attrs:
        yield f"`{attr.name}`", "attribute", _dated(_cell(_value_text(attr)), attr.since)


def _value_text(attr: Attr) -> str:
    what = attr.kind.name.replace("_", " ")
    if attr.enum is not None:
        what = ", ".join(f"`{case.text}`" for case in attr.enum)
    if attr.kind is AttrKind.UNIT:
        return "flag"
    if attr.default is REQUIRED:
        return what
    return f"{what}; {_default_text(attr.default)}"


def _default_text(default: object) -> str:
    if default is None or default == ():
        return "optional"
    if isinstance(default, TextEnum):
        return f"default `{default.text}`"
    return f"default `{default}`"


def _dated(text: str, since: str | None) -> str:
    return f"{text} (since {since})" if since else text


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _rules(spec: OpSpec) -> Iterator[str]:
    """The traits, in words; those that a reader of programs has no use for are left out."""
    for trait in spec.traits:
        if isinstance(trait, Same):
            yield f"{', '.join(f'`{name}`' for name in trait.fields)} have the same {trait.relation.value}"
        elif isinstance(trait, TypeFrom):
            yield f"the type of `{trait.field}` is {trait.text}"
        elif trait.name == "parent":
            parents = getattr(trait, "parents", ())
            yield f"stands directly in {', '.join(f'`{name}`' for name in parents)}"
        elif trait.name == "region terminator":
            yield _terminators(trait)
        elif isinstance(trait, AccessTrait):
            yield _access(trait)
        elif trait.name in _TRAIT_WORDS:
            yield _TRAIT_WORDS[trait.name]


_TRAIT_WORDS = {
    "pure": "pure: may be removed, repeated or moved",
    "no memory effect": "no memory effect, but undefined for some operands: not moved to where it would not run",
    "terminator": "ends its block",
    "recursive effects": "has the effects of the operations inside",
    "isolated from above": "uses no value from outside",
    "effects of the callee": "has the effects of the function that it calls",
    "allocates": "takes memory, until the region around is left",
    "fences": "orders accesses to memory, and makes none",
    "waits": "waits for another kernel, and makes visible what that has stored",
    "signals": "lets another kernel start",
    "prints": "writes to the output",
    "calls the host": "runs code of the host, which may do anything unless it is `pure`",
    "may stop": "may end the launch",
    "promises": "tells the compiler what is so: undefined where it is not",
    "hides": "hides from the compiler what the value is",
}


def _access(trait: AccessTrait) -> str:
    verb = {"reads": "reads", "writes": "writes", "updates": "reads and writes, each element as one step,"}[trait.name]
    where = f", where `{trait.mask}` is 1" if trait.mask else ""
    return f"{verb} the memory that `{trait.through}` leads to{where}"


def _terminators(trait: object) -> str:
    names = (getattr(trait, "terminator", ""), *getattr(trait, "also", ()))
    return f"its blocks end with {' or '.join(f'`{name}`' for name in names)}"


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


def explore_page() -> str:
    """docs/explore.md with what the explorer says of the litmus tests and the algorithms now."""
    text = (FOLDER / "explore.md").read_text(encoding="utf-8")
    litmus = sorted((EXAMPLES / "litmus").glob("*.mlir"), key=_reference_order)
    tests = ["| test | asked | verdict | executions |", "|---|---|---|---|", *map(_litmus_row, litmus)]
    algorithms = ["| program | kernel | found | executions | weakest mend |", "|---|---|---|---|---|"]
    algorithms += [row for path in sorted((EXAMPLES / "concurrent").glob("*.mlir")) for row in _algorithm_rows(path)]
    return _filled(_filled(text, "litmus tests", tests), "algorithms", algorithms)


def _filled(text: str, name: str, table: list[str]) -> str:
    """A page with the lines of a table between its marks."""
    begin, end = f"<!-- {name} -->\n\n", "\n\n<!-- end -->"
    before, _, rest = text.partition(begin)
    return before + begin + "\n".join(table) + end + rest.partition(end)[2]


def _explored(kernel: Kernel) -> ExplorationReport:
    _, grid, *words = launch_line(kernel) or []
    values = [one.value for one in given_values(kernel, words, 0)]
    report = tileir.explore(kernel, tuple(map(int, grid.split(","))), *values)
    assert report.ok and report.complete, kernel.name
    return report


def _algorithm_rows(path: Path) -> Iterator[str]:
    for kernel in tileir.load(path).kernels.values():
        report = _explored(kernel)
        kinds = ", ".join(dict.fromkeys(fault.kind for fault in report.faults)) or "nothing wrong"
        steps = "; ".join(_shortened(step) for step in report.mends[0].steps) if report.mends else ""
        link = f"[{path.stem}](../tileir/examples/concurrent/{path.name})"
        yield f"| {link} | `{kernel.name}` | {kinds} | {report.executions} | {steps} |"


def _shortened(step: str) -> str:
    """A step of a mend with lines in place of files."""
    return re.sub(r"[^ ]*\.mlir:(\d+):\d+: '([^']*)'", r"line \1", step).replace("'", "`")


def _reference_order(path: Path) -> tuple[int, str]:
    """Where a test stands in the language reference; those with a suffix follow."""
    reference = (FOLDER / "spec" / "litmus.md").read_text(encoding="utf-8")
    found = [reference.find(f"| {path.stem[:end]} ") for end in range(len(path.stem), 0, -1)]
    return next(at for at in found if at >= 0), path.stem


def _litmus_row(path: Path) -> str:
    (kernel,) = tileir.load(path).kernels.values()
    report = _explored(kernel)
    line = report.verdicts[0].line
    racy = any(fault.kind == "race" for fault in report.faults)
    verdict = "undefined: a race" if racy else "allowed" if line.kind == "exists" else "forbidden"
    asked = "" if racy else f"`{line.condition.text}`"
    return f"| [{path.stem}](../tileir/examples/litmus/{path.name}) | {asked} | {verdict} | {report.executions} |"


PAGES = {
    "docs/operations.md": operations_page,
    "docs/diagnostics.md": diagnostics_page,
    "docs/explore.md": explore_page,
    "README.md": readme_page,
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
