"""Machine code as text, by the tools that come with Triton."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9][\w.]*)(.*?);")
_LABEL = re.compile(r"(\.L_\w+):")


@dataclass(frozen=True)
class Loop:
    """The instructions of a loop, by name with modifiers."""

    names: tuple[str, ...]

    def count(self, start: str) -> int:
        """Number of instructions whose name begins so."""
        return sum(name.startswith(start) for name in self.names)


@dataclass(frozen=True)
class MachineCode:
    """`loops` are the innermost ones, `nests` all; `stack` is the bytes that a thread has on it."""

    names: tuple[str, ...]
    loops: tuple[Loop, ...]
    nests: tuple[Loop, ...]
    stack: int

    def vectors(self, start: str) -> Counter[str]:
        """Occurrences of each name that begins so."""
        return Counter(name for name in self.names if name.startswith(start))

    def loops_with(self, *starts: str) -> list[Loop]:
        """The innermost loops that have all of the instructions."""
        return [loop for loop in self.loops if all(loop.count(start) for start in starts)]


def machine_code(cubin: bytes) -> MachineCode:
    import triton

    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        code = _said(tools / "nvdisasm", "-c", file.name)
        usage = _said(tools / "cuobjdump", "-res-usage", file.name)
    found = re.search(r"STACK:(\d+)", usage)
    assert found is not None, usage
    names, spans = _parsed(code)
    inner = [(a, b) for a, b in spans if not any((c, d) != (a, b) and a <= c and d <= b for c, d in spans)]
    loops, nests = (tuple(Loop(tuple(names[a : b + 1])) for a, b in some) for some in (inner, spans))
    return MachineCode(tuple(names), loops, nests, int(found[1]))


def _said(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


def _parsed(code: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The instructions, and from where to where loops go. A jump back without a condition ends a wait, not a loop."""
    names: list[str] = []
    labels: dict[str, int] = {}
    jumps: list[tuple[int, str]] = []
    for label, instruction in _lines(code):
        if label:
            labels[label] = len(names)
        elif instruction:
            name, operands, conditional = instruction
            target = re.search(r"\.L_\w+", operands)
            if name.startswith("BRA") and conditional and target:
                jumps.append((len(names), target[0]))
            names.append(name)
    return names, [(labels[target], place) for place, target in jumps if labels.get(target, place) < place]


def _lines(code: str) -> Iterator[tuple[str, tuple[str, str, bool] | None]]:
    for line in code.splitlines():
        if label := _LABEL.match(line):
            yield label[1], None
        elif found := _LINE.search(line):
            yield "", (found[1], found[2], "@" in found[0])
