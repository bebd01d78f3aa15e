"""The open route: an entry becomes TTIR, Triton's compiler makes a cubin of it.

Knows: how an entry is compiled with what is known of its parameters, and what is kept of that on disk. Does not know:
what an operation becomes (`gpu.ttir`), which options it is compiled with (`ttir.analysis.hints`, `gpu.fitting`), how a
cubin is launched (`gpu.launch`), arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tileir.cache import Cache, key_of
from tileir.gpu.arch import Arch, Vendor
from tileir.gpu.compiler import (
    AS_THE_KERNEL_HAS_IT,
    Artifacts,
    BlockMemoryError,
    CompileOptions,
    RequestedOptions,
    binary_stage,
    compile_ttir,
)
from tileir.gpu.executable import Executable, Scratch
from tileir.gpu.fitting import Rejected, fitted, sparing
from tileir.gpu.hsaco import spills_of
from tileir.gpu.ttir.analysis.hints import options_for
from tileir.gpu.ttir.entry import LoweredEntry, lower_entry
from tileir.gpu.ttir.lowering import ParameterFacts
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.shown import shown
from tileir.ops.calls import Func
from tileir.ops.module import Entry

ALIGNED, UNKNOWN = ParameterFacts(16), ParameterFacts()
_COUNTED = (t.I32, t.I64)
TENSOR_MEMORY = 512
"""Columns of tensor memory, of the architectures that have it."""


@dataclass(frozen=True)
class KernelSource:
    """An entry and all that its code depends on: `digest` is one of the entry and the functions."""

    entry: Entry
    functions: Sequence[Func]
    digest: str

    def operations(self) -> list[Op]:
        """The operations that code can come from, in program order."""
        return [op for item in (self.entry, *self.functions) for op in item.walk()]


@dataclass(frozen=True)
class Compiled:
    """An entry made into code: the program that was lowered, the options, what the compiler made, and the options with
    which the kernel did not fit."""

    program: LoweredEntry
    options: CompileOptions
    artifacts: Artifacts
    rejected: tuple[Rejected, ...]


def has_facts(ty: t.Type) -> bool:
    """Whether code depends on what is known of a parameter of this type: it is an address or counts something."""
    return isinstance(ty, t.TileType) and (isinstance(ty.element, t.PointerType) or ty.element in _COUNTED)


def aligned_facts(entry: Entry) -> list[ParameterFacts]:
    """The facts of parameters that are multiples of 16 wherever that matters."""
    return [ALIGNED if has_facts(argument.type) else UNKNOWN for argument in entry.body.args]


def executable(
    source: KernelSource,
    arch: Arch,
    facts: Sequence[ParameterFacts],
    cache: Cache,
    requested: RequestedOptions = AS_THE_KERNEL_HAS_IT,
    wide_extents: bool = False,
) -> Executable:
    """The cubin of an entry: from the cache if it is there, however often options had to be tried to make it. Raises
    UnsupportedError for what has no GPU code."""
    options = options_for(source.entry, arch, requested)
    how = repr(options), repr(requested), repr(list(facts)), repr(wide_extents)
    key = key_of("open route", toolchain(), arch.name, *how, source.digest)
    found = cache.get(key)
    if found is not None:
        return Executable.from_parts(found)
    made = _executable(compiled(source, arch, facts, [binary_stage(arch)], requested, wide_extents), source, arch)
    cache.put(key, made.to_parts())
    return made


def compiled(
    source: KernelSource,
    arch: Arch,
    facts: Sequence[ParameterFacts],
    stages: Sequence[str],
    requested: RequestedOptions = AS_THE_KERNEL_HAS_IT,
    wide_extents: bool = False,
) -> Compiled:
    """Lower and compile an entry; `stages` are of `worker.STAGES`.

    A kernel that takes more of a resource than the GPU has, or spills registers on one of AMD's, is compiled again with
    other options (`gpu.fitting`), as long as they were not requested. Raises UnsupportedError.
    """
    if "amdgcn" in stages and "hsaco" not in stages:
        stages = [*stages, "hsaco"]  # which tells what is spilled
    program = lower_entry(source.entry, source.functions, arch, facts, wide_extents)

    def make(options: CompileOptions) -> Artifacts:
        artifacts = compile_ttir(program.text, arch, options, stages)
        if excess := _excess(artifacts, arch):
            what = (
                f"kernel @{shown(source.entry.sym_name)} needs {excess}: smaller tiles or shorter pipelines need less"
            )
            raise BlockMemoryError(what, arch.name, source.entry.loc)
        return artifacts

    found = fitted(make, options_for(source.entry, arch, requested), requested)
    if arch.vendor is Vendor.AMD:
        found = sparing(make, found, requested, _spilled)
    return Compiled(program, found.options, found.made, found.rejected)


def _spilled(artifacts: Artifacts) -> int:
    """Vector registers of a thread that are spilled, as far as is known yet."""
    return 0 if artifacts.binary is None else spills_of(artifacts.binary)


def _excess(artifacts: Artifacts, arch: Arch) -> str | None:
    """Of which memory a block would need more than there is; None if all of it suffices, or is not known yet."""
    shared, columns = (artifacts.metadata.get(name) or 0 for name in ("shared", "tmem_size"))
    if shared > arch.shared_memory:
        return f"{shared} bytes of shared memory in a block, {arch.name} has {arch.shared_memory}"
    if columns > TENSOR_MEMORY:
        return f"{columns} columns of tensor memory in a block, {arch.name} has {TENSOR_MEMORY}"
    return None


def _executable(compiled: Compiled, source: KernelSource, arch: Arch) -> Executable:
    program, facts, binary = compiled.program, compiled.artifacts.metadata, compiled.artifacts.binary
    assert binary is not None and not facts["profile_scratch_size"]
    number = {op: position for position, op in enumerate(source.operations())}
    made = Executable(
        binary=binary,
        kernel=facts["name"],
        threads=arch.warp * facts["num_warps"],
        cluster=facts["num_ctas"],
        shared=facts["shared"],
        hidden=program.hidden,
        scratch=Scratch(facts["global_scratch_size"], facts["global_scratch_align"]),
        sites=tuple(number[op] for op in program.sites),
        narrow=program.narrow,
    )
    made.require_parameters(len(source.entry.body.args))
    return made


@cache
def toolchain() -> str:
    """Versions that a cubin depends on beside the program: of this package and of Triton."""
    try:
        triton = version("triton")
    except PackageNotFoundError:
        triton = "none"
    return f"tileir {_digest(Path(__file__).parent.rglob('*.py'))}, triton {triton}"


def _digest(paths: Iterable[Path]) -> str:
    """A digest of the code that makes code."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()
