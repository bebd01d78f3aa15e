"""Jobs as values: what is to be done, the name that follows from it, and how one attempt ended."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module

from tileir.cache import key_of

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


canonical: Callable[[Mapping[str, Json]], str] = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False
).encode
"""Return the one spelling of a JSON object: keys in order, no spaces. Raises ValueError for NaN and infinities."""


@dataclass(frozen=True)
class FarmJob:
    """Work of one `kind`: `spec` says what, `content` is the program that it is about (bytecode or text), if any."""

    kind: str
    spec: Mapping[str, Json]
    content: bytes = field(default=b"", repr=False)

    @cached_property
    def text(self) -> str:
        """The spec as it is kept."""
        return canonical(self.spec)

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of the content; empty without content."""
        return hashlib.sha256(self.content).hexdigest() if self.content else ""

    @cached_property
    def key(self) -> str:
        """The name: it follows from kind, spec and content, and from nothing else."""
        return key_of(self.kind, self.text, self.content_hash)


@dataclass(frozen=True)
class JobLimits:
    """Limits of each attempt, and how often a job that ends without an answer is tried.

    Parameters
    ----------
    seconds : float
        Time that an attempt may take.
    memory : int or None
        Bytes of address space that an attempt may take beyond what its process has at the start; None for no limit.
    tries : int
        Attempts that may crash, hang or run out of memory.
    losses : int
        Attempts that may end because a worker was lost, which is seldom the fault of the job.
    """

    seconds: float = 60.0
    memory: int | None = 4 << 30
    tries: int = 2
    losses: int = 20


class Ending(enum.Enum):
    """The ways an attempt can end."""

    DONE = "done"
    FAILED = "failed"
    CRASHED = "crashed"
    HUNG = "hung"
    MEMORY = "memory"
    LOST = "lost"


SETTLED = (Ending.DONE, Ending.FAILED)
"""Endings after which another attempt would say the same: an answer, or an error that names its reason."""


@dataclass(frozen=True)
class WorkResult:
    """The answer of a job, figures that may differ from run to run (seconds), and files by name.

    `reusable`: the process is as good for a next job as it was for this one.
    """

    answer: dict[str, Json]
    figures: dict[str, Json] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    reusable: bool = False


@dataclass(frozen=True)
class Attempt:
    """The end of one attempt. `log` is its output, or the last part if that is long; `peak` is in bytes."""

    ending: Ending
    reason: str = ""
    result: WorkResult | None = None
    seconds: float = 0.0
    peak: int = 0
    log: str = ""
    worker: str = ""

    @property
    def answer(self) -> str:
        """The answer as it is kept and compared, with the digests of the files; empty without one."""
        if self.result is None:
            return ""
        files: dict[str, Json] = {name: hashlib.sha256(data).hexdigest() for name, data in self.result.files.items()}
        return canonical({**self.result.answer, "files": files} if files else self.result.answer)


# ---------------------------------------------------------------- kinds of jobs


Work = Callable[[dict[str, Json], bytes], WorkResult]

KINDS = {
    "launch": ("tileir.farm.launching", "launched"),
    "fuzz": ("tileir.fuzz.jobs", "of_seed"),
    "tune-space": ("tileir.tune.jobs", "spaced"),
    "tune-check": ("tileir.tune.jobs", "checked"),
    "tune-race": ("tileir.tune.jobs", "raced"),
    "differential": ("tileir.fuzz.jobs", "of_program"),
}
"""Kind -> (module, function of the spec and the content)."""


def work_of(kind: str) -> Work:
    """Return the function of a kind. Raises ValueError with the kinds there are."""
    if kind not in KINDS:
        raise ValueError(f"no kind of job '{kind}'; there are {', '.join(KINDS)}")
    module, name = KINDS[kind]
    work: Work = getattr(import_module(module), name)
    return work
