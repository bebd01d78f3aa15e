"""The panes of the page: every stage of a program, with the lines that belong together.

Compilers are imported by the panes that need them: a browser has none.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tileir.bytecode import encode
from tileir.bytecode.dump import dump
from tileir.explain import explain, operation_example
from tileir.gpu.arch import CAPABILITIES
from tileir.ir import core
from tileir.ir.core import Op
from tileir.ir.diagnostics import Diagnostic, UnsupportedError
from tileir.ir.loc import Source, SourceLoc, file_position
from tileir.runtime.module import Kernel, Module
from tileir.text.highlight import sorts
from tileir.text.parser import parse
from tileir.text.printer import to_text
from tileir.text.reference import operation_page
from tileir.tools.documents import document
from tileir.tools.lsp.blanks import formatted
from tileir.tools.lsp.reading import read

if TYPE_CHECKING:
    from tileir.gpu.compiler import Artifacts
    from tileir.passes.running import Step

PROGRAM = "program.mlir"
"""The name that the program has in all stages."""
_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_PLACE = re.compile(rf'"{re.escape(PROGRAM)}":(\d+)')
_TRAILING = re.compile(r" loc\((#loc\d*|[^()]*(?:\([^()]*\)[^()]*)*)\)")
_DEBUG = re.compile(r", !dbg (!\d+)")
_LOCATION = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)")
_DIRECTIVE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"')
_SASS_LINE = re.compile(r'//## File "[^"]*", line (\d+)')
_OWN = re.compile(r'"kernel\.ttir":(\d+):(\d+)')
_NOISE = re.compile(r"^\s*\.(cfi_|size|type|globl|p2align|ident|addrsig|file|text$)|^\.Ltmp\d+:|^\s*#APP|^\s*#NO_APP")


@dataclass(frozen=True)
class LinkedText:
    """A text; `lines` has, for each of its lines, that of the program that it comes from, 0 for none. `marks` has a
    character for each: ``+`` for a line that is new, ``-`` for one that is not there any more.
    """

    text: str
    lines: Sequence[int]
    title: str = ""
    marks: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "text": self.text, "lines": list(self.lines), "marks": self.marks}


def joined(rows: Iterable[tuple[str, int]], title: str = "") -> LinkedText:
    found = list(rows)
    return LinkedText("\n".join(text for text, _ in found), [line for _, line in found], title)


def of_mlir(text: str) -> LinkedText:
    """Return TTIR or TTGIR, without its locations."""
    rows = text.rstrip().split("\n")
    known = {match[1]: _line(match[2]) for match in map(_ALIAS.match, rows) if match}
    return joined((_bare(row), _mlir_line(row, known)) for row in rows if not _ALIAS.match(row))


def _line(location: str) -> int:
    found = _PLACE.search(location)
    return int(found[1]) if found else 0


def _mlir_line(row: str, known: dict[str, int]) -> int:
    for location in _TRAILING.findall(row)[::-1]:
        line = known.get(location) if location.startswith("#") else _line(location)
        if line:
            return line
    return 0


def _bare(row: str) -> str:
    return _TRAILING.sub("", row)


def of_llvm(text: str) -> LinkedText:
    """Return LLVM's language, without its metadata."""
    rows = text.rstrip().split("\n")
    known = {match[1]: int(match[2]) for match in map(_LOCATION.match, rows) if match}
    return joined(_trimmed((_DEBUG.sub("", row), _llvm_line(row, known)) for row in rows if not row.startswith("!")))


def _llvm_line(row: str, known: dict[str, int]) -> int:
    found = _DEBUG.search(row)
    return known.get(found[1], 0) if found else 0


Places = frozenset[tuple[int, int]]
"""Lines and columns of the program."""


def of_assembly(text: str) -> LinkedText:
    """Return assembly of a processor, without directives of debug information."""
    files = {match[1]: match[2] for match in map(_FILE.match, text.split("\n")) if match}
    return joined(_trimmed(_assembly_rows(text, lambda file, line, _: line if _is_program(files, file) else 0)))


def _is_program(files: dict[str, str], number: str) -> bool:
    return files.get(number, "").endswith(PROGRAM)


def of_ptx(text: str, places: Places) -> LinkedText:
    """Return PTX with its lines linked. LLVM attributes all lines to one file; those in `places` are the program's."""
    return joined(_trimmed(_assembly_rows(text, lambda _, line, column: line if (line, column) in places else 0)))


def _assembly_rows(text: str, line_of: Callable[[str, int, int], int]) -> Iterator[tuple[str, int]]:
    line = 0
    for row in text.rstrip().split("\n"):
        place = _DIRECTIVE.match(row)
        if place:
            line = line_of(place[1], int(place[2]), int(place[3] or 0))
        elif ".debug_" in row and ".section" in row:
            return
        elif not _NOISE.match(row):
            yield row.expandtabs(8), line if row[:1].isspace() and not row.lstrip().startswith(".") else 0


def of_sass(text: str, lines: frozenset[int]) -> LinkedText:
    """Return the output of ``nvdisasm -g``, which states lines in front of the instructions; those in `lines` are the
    program's.
    """
    rows, line = [], 0
    for row in text.rstrip().split("\n"):
        place = _SASS_LINE.search(row)
        if place:
            line = int(place[1]) if int(place[1]) in lines else 0
        elif not row.lstrip().startswith(".") or row.startswith(".text"):
            rows.append((row.expandtabs(8).rstrip(), line if "/*" in row else 0))
    return joined(_trimmed(rows))


def own_places(text: str) -> Places:
    """Return the places in TTIR that are those of its own text, not of the program."""
    return frozenset((int(line), int(column)) for line, column in _OWN.findall(text))


def _trimmed(rows: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield lines without empty ones at both ends and behind each other."""
    empty = True
    for text, line in rows:
        if text.strip() or not empty:
            yield text, line
        empty = not text.strip()


MOST_DIFFED = 20_000
"""Lines of a program whose passes are compared line by line."""
_NAME = re.compile(r"%\w+")
_OPERATION = re.compile(r"^ *-- op \d+ '([^']*)'$")


@dataclass(frozen=True)
class StageChoice:
    """The choices of a request besides the program: a kernel, the optimiser's level or passes, a GPU."""

    kernel: Kernel | None
    level: int
    passes: str
    arch: str

    @property
    def chosen(self) -> Kernel:
        if self.kernel is None:
            raise UnsupportedError("a program without kernels", "pane")
        return self.kernel


def line_of(op: Op) -> int:
    """Return the line of the program that an operation comes from; 0 if there is none."""
    place = file_position(op.loc)
    if isinstance(place, SourceLoc) and place.source.name == PROGRAM:
        return place.source.position(place.offset)[0]
    return 0


# ---------------------------------------------------------------- Tile IR


def tile_ir(module: core.Module, title: str = "") -> LinkedText:
    """Return the program as it is printed, with the names of its own text."""
    text = to_text(module, written=True).rstrip()
    lines = [0] * (text.count("\n") + 1)
    for op, same in zip(module.walk(), parse(text, PROGRAM).walk()):
        printed = line_of(same)
        if printed:
            lines[printed - 1] = lines[printed - 1] or line_of(op)
    return LinkedText(text, lines, title)


def _shown(module: Module, choice: StageChoice) -> list[LinkedText]:
    return [tile_ir(module)]


def _bytecode(module: Module, choice: StageChoice) -> list[LinkedText]:
    """Return each byte with its meaning. Operations come in the order of the program."""
    operations = iter([op for item in module.items for op in item.walk() if op is not item])
    rows, line = [], 0
    for row in dump(encode(module)).rstrip().split("\n"):
        heading = _OPERATION.match(row)
        if heading:
            line = next((line_of(op) for op in operations if op.spec.name == heading[1]), 0)
        elif " -- " in row and " -- value" not in row:
            line = 0
        rows.append((row, line))
    return [joined(rows)]


def _passes(module: Module, choice: StageChoice) -> list[LinkedText]:
    """Return the changes made by each pass."""
    from tileir.tools.optimise import watched

    steps: list[Step] = []
    watched(module, choice.level, passes=choice.passes or None, watch=steps.append)
    found = [_difference(step) for step in steps if step.changes]
    return found or [LinkedText("nothing changes", [0])]


def _difference(step: Step) -> LinkedText:
    before, after = tile_ir(step.before), tile_ir(step.after)
    changes = f"{len(step.changes)} change{'' if len(step.changes) == 1 else 's'}"
    title = f"{step.name}: {changes}, {step.seconds * 1e3:.3g} ms"
    if len(before.lines) + len(after.lines) > MOST_DIFFED:
        return LinkedText(after.text, after.lines, title)
    rows = list(_compared(before, after))
    text = "\n".join(row for _, row, _ in rows)
    return LinkedText(text, [line for _, _, line in rows], title, "".join(mark for mark, _, _ in rows))


def _compared(before: LinkedText, after: LinkedText) -> Iterator[tuple[str, str, int]]:
    """Yield the lines of both, those that are only in one with a mark. Names of values are no difference: printing
    makes them."""
    old, new = (list(zip(one.text.split("\n"), one.lines)) for one in (before, after))
    first_keys, then_keys = ([(_NAME.sub("%", text), line) for text, line in rows] for rows in (old, new))
    matcher = difflib.SequenceMatcher(None, first_keys, then_keys, autojunk=False)
    for what, begin, end, first, last in matcher.get_opcodes():
        if what != "equal":
            yield from (("-", *row) for row in old[begin:end])
        mark = " " if what == "equal" else "+"
        yield from ((mark, *row) for row in new[first:last])


# ---------------------------------------------------------------- this processor


def _native(kernel: Kernel) -> str:
    """Return LLVM code that says which lines it comes from."""
    from tileir.cpu.emit.record import CheckLevel
    from tileir.cpu.llvm.metadata import CodePlace
    from tileir.cpu.lowering.functions import Instruments
    from tileir.cpu.run.program import lowered

    def place(op: Op) -> CodePlace | None:
        line = line_of(op)
        return CodePlace(PROGRAM, line) if line else None

    globals = tuple(kernel.module.globals.addresses)
    return str(lowered(kernel.entry, globals, CheckLevel.ON, Instruments(place, PROGRAM)).module)


def _llvm(module: Module, choice: StageChoice) -> list[LinkedText]:
    from tileir.cpu.llvm.engine import host, optimized_text

    return [of_llvm(optimized_text(_native(choice.chosen), host()))]


def _assembly(module: Module, choice: StageChoice) -> list[LinkedText]:
    from tileir.cpu.llvm.engine import assembly, host

    return [of_assembly(assembly(_native(choice.chosen), host()))]


# ---------------------------------------------------------------- GPUs


def _ttir(module: Module, choice: StageChoice) -> list[LinkedText]:
    """Return TTIR as Triton's compiler is given it."""
    from tileir.gpu.arch import arch_named
    from tileir.gpu.program import aligned_facts
    from tileir.gpu.ttir.entry import lower_entry
    from tileir.runtime.gpu_routes import source_of

    source = source_of(choice.chosen)
    facts = aligned_facts(source.entry)
    return [of_mlir(lower_entry(source.entry, source.functions, arch_named(choice.arch), facts).text)]


def _ttgir(module: Module, choice: StageChoice) -> list[LinkedText]:
    return [of_mlir(_compiled(choice, "ttgir").texts["ttgir"])]


def _ptx(module: Module, choice: StageChoice) -> list[LinkedText]:
    made = _compiled(choice, "ptx")
    return [of_ptx(made.texts["ptx"], _places(module) - own_places(made.texts["ttir"]))]


def _sass(module: Module, choice: StageChoice) -> list[LinkedText]:
    """Return machine code of a GPU, taken apart by ``nvdisasm``. It knows no columns: a line that TTIR has too is left
    out."""
    program = disassembler()
    if program is None:
        what = "not available: needs nvdisasm, which comes with Triton or the CUDA toolkit"
        raise UnsupportedError(what, choice.arch)
    made = _compiled(choice, "cubin")
    others = {line for line, _ in own_places(made.texts["ttir"])}
    lines = frozenset(line for line, _ in _places(module) if line not in others)
    return [of_sass(_disassembled(program, made.binary or b"", choice.arch), lines)]


def _disassembled(program: str, cubin: bytes, arch: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        ran = subprocess.run([program, "-g", "-c", str(path)], capture_output=True, text=True, errors="replace")
    if ran.returncode:
        raise UnsupportedError(f"nvdisasm: {ran.stderr.strip()}", arch)
    return ran.stdout


def _places(module: Module) -> Places:
    """Return lines and columns of all operations."""
    found = (file_position(op.loc) for op in module.walk())
    return frozenset(one.source.position(one.offset) for one in found if isinstance(one, SourceLoc))


def _compiled(choice: StageChoice, stage: str) -> Artifacts:
    """Return the compiler's output. Its imports take as long as all others together, so they wait until a pane needs
    them."""
    from tileir.gpu.arch import arch_named
    from tileir.gpu.compiler import require_triton
    from tileir.gpu.program import aligned_facts, compiled
    from tileir.runtime.gpu_routes import source_of

    try:
        require_triton()
    except ImportError as error:
        raise UnsupportedError(f"not available: {error}", choice.arch) from None
    kernel = choice.chosen
    facts = aligned_facts(kernel.entry)
    return compiled(source_of(kernel), arch_named(choice.arch), facts, ["ttir", stage]).artifacts


def disassembler() -> str | None:
    """Return the place of ``nvdisasm``: Triton's own, else that on the path."""
    spec = find_spec("triton")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = os.path.join(folder, "backends", "nvidia", "bin", "nvdisasm")
        if os.access(path, os.X_OK):
            return path
    return shutil.which("nvdisasm")


PANES: Mapping[str, Callable[[Module, StageChoice], list[LinkedText]]] = {
    "Tile IR": _shown,
    "bytecode": _bytecode,
    "passes": _passes,
    "LLVM IR": _llvm,
    "assembly": _assembly,
    "TTIR": _ttir,
    "TTGIR": _ttgir,
    "PTX": _ptx,
    "SASS": _sass,
}
"""The functions that make the panes of a stage; the panes of launches are in `tools.serve.launches`."""


def available() -> list[str]:
    """Return the panes that this machine can make."""
    lacking: tuple[str, ...] = () if find_spec("triton") else ("TTGIR", "PTX", "SASS")
    lacking += () if find_spec("llvmlite") else ("LLVM IR", "assembly")
    lacking += () if disassembler() else ("SASS",)
    return [name for name in PANES if name not in lacking]


# ---------------------------------------------------------------- words


def explained(module: Module | None, found: Sequence[Diagnostic], line: int) -> list[LinkedText]:
    """Return the pages of the codes of diagnostics; where there are none, of the operations of a line."""
    codes = dict.fromkeys(one.code for one in found)
    pages = [(code, explain(code)) for code in codes]
    ops = [] if module is None or pages else [op for item in module.items for op in item.walk() if line_of(op) == line]
    pages += [(name, f"{operation_page(op)}\n{operation_example(name)}") for name, op in _by_name(ops).items()]
    parts = [LinkedText(text.rstrip(), [0] * (text.rstrip().count("\n") + 1), name) for name, text in pages if text]
    return parts or [LinkedText("the cursor is on no operation", [0])]


def _by_name(ops: Iterable[Op]) -> dict[str, type[Op]]:
    return {op.spec.name: type(op) for op in ops}


def format_text(text: str) -> list[LinkedText]:
    """Return the text with blanks as the editors' formatter sets them; nothing if it cannot be read."""
    found = formatted(read(Source(PROGRAM, text)))
    return [] if found is None else [LinkedText(found, [0] * (found.count("\n") + 1))]


# ---------------------------------------------------------------- the page

FIRST = ("Tile IR", "LLVM IR", "assembly")
"""The panes that are open at first."""
LAUNCHES = ("run", "view", "sanitize")
OTHERS = (*LAUNCHES, "explain")
PORTABLE = ("Tile IR", "passes", "bytecode", "TTIR", *OTHERS)
"""The panes that need nothing but Python and NumPy, in the playground."""


def page(text: str, grid: str = "1", words: str = "", worker: str = "", foot: str = "") -> str:
    """Return the document, with a program in its editor.

    With `worker`, the address of a program for the browser's worker that answers requests, it is a page without a
    server; `foot` is HTML below it.
    """
    panes = PORTABLE if worker else (*available(), *OTHERS)
    targets = ["interp"] if worker else ["cpu", "interp"]
    state: dict[str, Any] = {
        "text": text,
        "kernel": "",
        "level": "2",
        "passes": "",
        "arch": "sm_90",
        "grid": grid,
        "arguments": words,
        "target": targets[0],
        "panes": ["Tile IR", "run"] if worker else [name for name in FIRST if name in panes],
    }
    data: dict[str, Any] = {
        "state": state,
        "panes": panes,
        "archs": [f"sm_{one}" for one in CAPABILITIES],
        "targets": targets,
        "sorts": [[one.scope, one.expression] for one in sorts()],
    }
    if worker:
        data |= {"worker": worker, "seconds": PLAYGROUND_SECONDS}
    title = "tileir: the playground" if worker else "tileir: every stage of a program"
    return document(__package__, data, TITLE=title, FOOT=foot, EDITOR=_editor())


PLAYGROUND_SECONDS = 60
"""Seconds after which the playground ends what works."""


def _editor() -> str:
    """Return the editor component, whose file begins with its licence."""
    return (files(__package__) / "codemirror.js").read_text("utf-8")
