"""The kinds of jobs ``fuzz`` and ``differential``: a program of a seed, or a given one, on all engines.

    {"seed": 7, "source": "valid", "statements": 14, "engines": ["cpu", "bytecode"]}      kind fuzz
    {"engines": ["cpu-O2"]}, with the program as content                                  kind differential
    {}, with a faulty program behind the line of its launch                               kind differential

The answer is ``{"findings": [{"engine": ..., "kind": ..., "text": ...}]}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import cast

from tileir.farm.job import FarmJob, Json, WorkResult
from tileir.fuzz.builder import KINDS, ProgramBuilder
from tileir.fuzz.comparing import is_defined
from tileir.fuzz.draft import STORED
from tileir.fuzz.engines import EngineFinding, findings_of
from tileir.fuzz.faulty.draft import FaultyProgram
from tileir.fuzz.faulty.programs import MARK, with_launch_read
from tileir.fuzz.faulty.programs import program as faulty_program
from tileir.ir import types as t
from tileir.ir.core import Module
from tileir.runtime.loading import from_content
from tileir.runtime.module import Module as LoadedModule

SOURCES = ("valid", "faulty")
"""Programs without faults on all engines, and programs that access memory wrongly on the interpreter and natively."""
_OTHERS = tuple(element for element in STORED if element not in (t.I32, t.I1))
SWARM = 3
"""One in this many programs has all kinds of statements; the others lack about half of them."""


@dataclass(frozen=True)
class ProgramGrammar:
    """The shape of valid programs: the number of statements, weights of their kinds that differ from the usual ones,
    and one program in `swarm` having all kinds."""

    statements: int
    weights: tuple[tuple[str, int], ...] = ()
    swarm: int = SWARM

    def to_json(self) -> dict[str, Json]:
        """Return the part of a spec; usual values are left out."""
        found: dict[str, Json] = {"statements": self.statements}
        if self.weights:
            found["weights"] = dict(sorted(self.weights))
        return found if self.swarm == SWARM else {**found, "swarm": self.swarm}

    @classmethod
    def of_json(cls, spec: Mapping[str, Json]) -> ProgramGrammar:
        weights = cast("dict[str, int]", spec.get("weights", {}))
        return cls(cast(int, spec["statements"]), tuple(weights.items()), cast(int, spec.get("swarm", SWARM)))


def seed_job(seed: int, source: str, grammar: ProgramGrammar, engines: Iterable[str]) -> FarmJob:
    """Return the job of one seed."""
    spec: dict[str, Json] = {"seed": seed, "source": source}
    if source == "valid":
        spec |= {**grammar.to_json(), "engines": list(engines)}
    return FarmJob("fuzz", spec)


def program_job(text: str, engines: Iterable[str]) -> FarmJob:
    """Return the job of a given program. A faulty one, with the line of its launch, has no engines to choose."""
    spec: dict[str, Json] = {} if text.startswith(MARK) else {"engines": list(engines)}
    return FarmJob("differential", spec, text.encode("utf-8", "surrogateescape"))


def program_of(seed: int, grammar: ProgramGrammar) -> Module:
    """Return the valid program of a seed: a few element types, and all kinds of statements or, in a swarm, some of
    them."""
    random = Random(seed)
    elements = tuple(dict.fromkeys((t.I32, t.I1, random.choice(_OTHERS), random.choice(_OTHERS))))
    without = () if seed % grammar.swarm == 0 else [kind for kind in KINDS if random.random() < 0.5]
    return ProgramBuilder(random.choice, elements, without, dict(grammar.weights)).program(grammar.statements)


def of_seed(spec: dict[str, Json], content: bytes) -> WorkResult:
    """Try the program of a seed."""
    seed = cast(int, spec["seed"])
    if spec["source"] == "faulty":
        return _of_faulty(faulty_program(seed))
    module = program_of(seed, ProgramGrammar.of_json(spec))
    return _answer(findings_of(module, cast("list[str]", spec["engines"])))


def of_program(spec: dict[str, Json], content: bytes) -> WorkResult:
    """Try a given program, a faulty one as its first line says; one with undefined behaviour on our engines says
    nothing."""
    faulty = with_launch_read(content.decode("utf-8", "surrogateescape"))
    if faulty is not None:
        return _of_faulty(faulty)
    module = from_content(content, "<program>")
    answer = _answer(findings_of(module, cast("list[str]", spec["engines"])))
    # A sanitized run takes longer than all engines: only where there is something to judge.
    answer.answer["defined"] = not answer.answer["findings"] or _is_defined(module)
    return answer


def _of_faulty(faulty: FaultyProgram) -> WorkResult:
    """Compare the interpreter and native code; nobody asks whether a faulty program is defined."""
    from tileir.fuzz.faulty.outcomes import difference

    print("engine cpu", flush=True)
    found = difference(faulty)
    answer = _answer([] if found is None else [EngineFinding("cpu", "difference", found)])
    answer.answer["defined"] = False
    return answer


def _is_defined(module: LoadedModule) -> bool:
    from tileir.fuzz.engines import trial_of

    (kernel,) = module.kernels.values()
    return is_defined(kernel, trial_of(module))


def _answer(findings: Iterable[EngineFinding]) -> WorkResult:
    return WorkResult({"findings": [dict(vars(finding)) for finding in findings]})
