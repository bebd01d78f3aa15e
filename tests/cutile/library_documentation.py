"""Runs the examples in the documentation of the installed cuTile on a target and compares what they print.

    python tests/cutile/library_documentation.py cpu        all of them
    python tests/cutile/library_documentation.py interp 5   every fifth

The examples ask for CUDA, so it is mapped to the CPU. Nothing of them is kept here: they are read from the package.
"""

import contextlib
import io
import itertools
import linecache
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DIRECTIVE = re.compile(r"^(\s*)\.\. (testcode|testoutput)::")
OPTION = re.compile(r"^\s*:(\w+):\s*(.*)")
PREAMBLE = (
    "import math\nimport numpy as np\nimport torch\nimport cuda.tile as ct\nstream = torch.cuda.current_stream()\n"
)


@dataclass
class Block:
    """The code or the output of an example."""

    kind: str
    place: str
    text: str
    options: dict[str, str]


@dataclass
class Example:
    place: str
    code: str
    output: str


def blocks(path: Path) -> Iterator[Block]:
    lines = path.read_text(encoding="utf-8").split("\n")
    for start, line in enumerate(lines):
        found = DIRECTIVE.match(line)
        if found:
            yield block(path, lines, start, found)


def block(path: Path, lines: list[str], start: int, found: re.Match) -> Block:
    """The directive at `start` and what is indented below it."""
    body: list[str] = []
    options: dict[str, str] = {}
    for line in lines[start + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= len(found[1]):
            break
        option = OPTION.match(line)
        if option and not any(body):
            options[option[1]] = option[2]
        else:
            body.append(line if line.strip() else "")
    text = textwrap.dedent("\n".join(body)).strip("\n").replace("\\\\", "\\")
    return Block(found[2], f"{path.name}:{start + 1}", text, options)


def examples(folder: Path) -> Iterator[Example]:
    """Those that are whole: some documentation is put together from pieces, and JAX is not for this machine."""
    for path in sorted(folder.rglob("*.py")):
        found = [*blocks(path), Block("end", "", "", {})]
        for code, after in itertools.pairwise(found):
            if code.kind != "testcode" or "jax" in path.name or re.search(r"\{op_name\}", code.text):
                continue
            output = after.text if after.kind == "testoutput" else ""
            yield Example(code.place, program(code), output)


def program(code: Block) -> str:
    if "kernel_wrapper" not in code.options.get("template", ""):
        return PREAMBLE + code.text
    body = textwrap.indent(code.text, "    ")
    return f"{PREAMBLE}@ct.kernel\ndef example():\n{body}\nct.launch(stream, (1,), example, ())\n"


def agrees(example: Example) -> bool:
    file = f"<{example.place}>"
    linecache.cache[file] = (len(example.code), None, example.code.splitlines(keepends=True), file)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(example.code, file, "exec"), {"__name__": "__main__"})
    except Exception as error:
        return "Traceback" in example.output or report(example, repr(error))
    wanted = re.escape(" ".join(example.output.split())).replace(r"\.\.\.", ".*")
    got = " ".join(printed.getvalue().split())
    return re.fullmatch(wanted, got) is not None or report(example, got)


def report(example: Example, got: str) -> bool:
    print(f"{example.place}: expected {example.output!r}, got {got!r}")
    return False


def differing(step: int) -> int:
    """Run every so many-th example on the target that is chosen, and return how many print something else."""
    import cuda.tile

    from tileir.cuda_as_cpu import cuda_as_cpu

    cuda_as_cpu()
    chosen = list(examples(Path(cuda.tile.__file__).parent))[::step]
    wrong = [example.place for example in chosen if not agrees(example)]
    print(f"{len(chosen)} examples, {len(wrong)} differ")
    return len(wrong)


def main(target: str, step: int = 1) -> int:
    from tileir import cutile

    with cutile.on(target):
        return differing(step)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], *map(int, sys.argv[2:])) else 0)
