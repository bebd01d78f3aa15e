"""Findings of the sanitizer in child processes, handed to the process that started them.

Each child leaves its findings so far in a folder made for them.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from tileir.ir.loc import Source
from tileir.sanitize.findings import Finding
from tileir.sanitize.launch import SanitizerOptions
from tileir.sanitize.proofs.verdict import ProofReport


@dataclass
class Gathered:
    """Findings by place, proofs by kernel, how many runs, the files that are quoted, and how many launches of each
    kernel there were, and with each note."""

    found: dict[tuple[object, ...], Finding] = field(default_factory=dict)
    kernels: dict[str, ProofReport] = field(default_factory=dict)
    runs: int = 0
    sources: dict[str, Source] = field(default_factory=dict)
    launches: Counter[str] = field(default_factory=Counter)
    noted: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes, with the kernel and its launches that each is about."""
        return tuple(
            f"@{kernel}: {note} (in {count:,} of {self.launches[kernel]:,} launches)"
            for (kernel, note), count in self.noted.items()
        )

    def add(self, found: Finding) -> None:
        known = self.found.setdefault((found.kind, found.loc, found.other, found.array), found)
        if known is not found:
            known.count += found.count
            known.seen |= found.seen

    def prove(self, proof: ProofReport) -> None:
        before = self.kernels.get(proof.kernel)
        self.kernels[proof.kernel] = proof if before is None else before.beside(proof)

    def join(self, other: Gathered) -> None:
        """Take in what another process has gathered."""
        for found in other.found.values():
            self.add(replace(found, seen=set(found.seen)))
        for proof in other.kernels.values():
            self.prove(proof)
        self.runs += other.runs
        self.sources |= other.sources
        self.launches += other.launches
        self.noted += other.noted


class FindingsFolder:
    """The folder of a session and its children. It goes with the process that has made it."""

    def __init__(self, options: SanitizerOptions, folder: Path | None = None) -> None:
        self._options = options
        self._folder = folder

    @property
    def word(self) -> str:
        """The choice to sanitize, with its options, as one word of an environment variable."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="tileir-sanitize-"))
            weakref.finalize(self, _remove, self._folder, os.getpid())
        return quote(json.dumps({"folder": str(self._folder), **self._options}), safe="")

    @staticmethod
    def of(word: str) -> FindingsFolder:
        """Return the folder and options of the parent. Raises ValueError for what is no such word."""
        said: dict[str, Any] = json.loads(unquote(word))
        return FindingsFolder(_options(said), Path(said["folder"]))

    @property
    def options(self) -> SanitizerOptions:
        return self._options

    def leave(self, gathered: Gathered) -> None:
        """Leave what this process has gathered for its parent, in the place of what it has left before."""
        if self._folder is not None and self._folder.is_dir():
            file = self._folder / f"{os.getpid()}.new"
            file.write_bytes(pickle.dumps(gathered))
            file.replace(file.with_suffix(".found"))

    def left(self) -> Iterator[Gathered]:
        """Yield the findings that the children have left so far."""
        for file in sorted(self._folder.glob("*.found")) if self._folder is not None else ():
            found = pickle.loads(file.read_bytes())
            assert isinstance(found, Gathered), "only children write here"
            yield found


def _options(said: dict[str, Any]) -> SanitizerOptions:
    return SanitizerOptions(**{name: said[name] for name in SanitizerOptions.__annotations__ if name in said})  # type: ignore[typeddict-item]


def _remove(folder: Path, owner: int) -> None:
    """Remove the folder; children that are forks of the owner leave it alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
