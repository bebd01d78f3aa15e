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
    """`loops` are the innermost that end under a condition, `nests` are all; `stack` is the bytes of a thread."""

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
    names, jumps = _parsed(code)
    spans = [(first, last) for first, last, conditional in jumps if conditional]
    every = [(first, last) for first, last, _ in jumps]
    inner = [(a, b) for a, b in spans if not any((c, d) != (a, b) and a <= c and d <= b for c, d in spans)]
    loops, nests = (tuple(Loop(tuple(names[a : b + 1])) for a, b in some) for some in (inner, every))
    return MachineCode(tuple(names), loops, nests, int(found[1]))


def _said(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


def _parsed(code: str) -> tuple[list[str], list[tuple[int, int, bool]]]:
    """The instructions, and from where to where jumps back go, and whether under a condition. One without ends a wait,
    or a loop that is left in its middle."""
    names: list[str] = []
    labels: dict[str, int] = {}
    jumps: list[tuple[int, str, bool]] = []
    for label, instruction in _lines(code):
        if label:
            labels[label] = len(names)
        elif instruction:
            name, operands, conditional = instruction
            target = re.search(r"\.L_\w+", operands)
            if name.startswith("BRA") and target:
                jumps.append((len(names), target[0], conditional))
            names.append(name)
    back = ((labels.get(target, place), place, conditional) for place, target, conditional in jumps)
    return names, [(first, place, conditional) for first, place, conditional in back if first < place]


def _lines(code: str) -> Iterator[tuple[str, tuple[str, str, bool] | None]]:
    for line in code.splitlines():
        if label := _LABEL.match(line):
            yield label[1], None
        elif found := _LINE.search(line):
            yield "", (found[1], found[2], "@" in found[0])
