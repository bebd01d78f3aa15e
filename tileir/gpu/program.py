"""An entry as GPU code: lowered, compiled, tried with fewer resources where it does not fit, and cached."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Generic, TypeVar

from tileir.analysis.effects import accesses_of
from tileir.cache import Cache, key_of
from tileir.gpu.arch import Arch, Vendor
from tileir.gpu.compiler import (
    AS_THE_KERNEL_HAS_IT,
    Artifacts,
    BlockMemoryError,
    CompileOptions,
    RegisterError,
    RequestedOptions,
    binary_stage,
    compile_ttir,
)
from tileir.gpu.descriptors import CopyLayout
from tileir.gpu.executable import Executable, Scratch
from tileir.gpu.object_files import cubin_kernels, spills_of, vendor_of
from tileir.gpu.ttir.analysis.hints import options_for
from tileir.gpu.ttir.entry import LoweredEntry, lower_entry
from tileir.gpu.ttir.lowering import ParameterFacts
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.escaping import shown
from tileir.ops.calls import Func
from tileir.ops.control import Loop
from tileir.ops.module import Entry

T = TypeVar("T")
MOST_WAVES = 16
"""The most waves of a block that are tried against spills."""


@dataclass(frozen=True)
class Rejected:
    """Options with which a kernel does not fit, and why."""

    options: CompileOptions
    why: str


@dataclass(frozen=True)
class Fitted(Generic[T]):
    """A result with the options that fit, and the rejected options tried before."""

    options: CompileOptions
    made: T
    rejected: tuple[Rejected, ...]


def fitted(make: Callable[[CompileOptions], T], first: CompileOptions, requested: RequestedOptions) -> Fitted[T]:
    """Return the result of `make` with `first`, or with smaller options if it raises `RegisterError` or
    `BlockMemoryError`.

    Raises the last of these if nothing fits.
    """
    options = first
    rejected: list[Rejected] = []
    while True:
        try:
            return Fitted(options, make(options), tuple(rejected))
        except (RegisterError, BlockMemoryError) as error:
            smaller = _smaller(options, requested, isinstance(error, RegisterError))
            if smaller is None:
                raise
            rejected.append(Rejected(options, error.what))
            options = smaller


def sparing(
    make: Callable[[CompileOptions], T], found: Fitted[T], requested: RequestedOptions, spilled: Callable[[T], int]
) -> Fitted[T]:
    """Return the program with fewer spilled registers, if possible; `spilled` counts them for a thread."""
    best = found
    while count := spilled(best.made):
        waves = best.options.num_warps
        tried = (_tried(make, options) for options in _roomier(best.options, requested))
        better = next((one for one in tried if one and spilled(one.made) * one.options.num_warps < count * waves), None)
        if better is None:
            break
        why = f"{count} registers of a thread are spilled"
        best = replace(better, rejected=(*best.rejected, Rejected(best.options, why)))
    return best


def _tried(make: Callable[[CompileOptions], T], options: CompileOptions) -> Fitted[T] | None:
    try:
        return Fitted(options, make(options), ())
    except (RegisterError, BlockMemoryError):
        return None


def _roomier(options: CompileOptions, requested: RequestedOptions) -> Iterator[CompileOptions]:
    """Yield the options with which a thread may spill less."""
    if options.num_warps < MOST_WAVES and requested.warps is None:
        yield replace(options, num_warps=2 * options.num_warps)
    if options.num_stages > 1 and requested.stages is None:
        yield replace(options, num_stages=options.num_stages - 1)


def _smaller(options: CompileOptions, requested: RequestedOptions, by_registers: bool) -> CompileOptions | None:
    """Return the options to try next; None if there are none."""
    if by_registers and options.maxnreg is not None:
        return replace(options, maxnreg=None)
    if not by_registers and options.num_stages > 1 and requested.stages is None:
        return replace(options, num_stages=options.num_stages - 1)
    if options.num_warps > 1 and requested.warps is None:
        return replace(options, num_warps=options.num_warps // 2)
    return None


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
        """Return the operations that code can come from, in program order."""
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
    """Return whether code depends on facts about a parameter of this type: an address or a count."""
    return isinstance(ty, t.TileType) and (isinstance(ty.element, t.PointerType) or ty.element in _COUNTED)


def aligned_facts(entry: Entry) -> list[ParameterFacts]:
    """Return the facts of parameters that are multiples of 16 wherever that matters."""
    return [ALIGNED if has_facts(argument.type) else UNKNOWN for argument in entry.body.args]


def executable(
    source: KernelSource,
    arch: Arch,
    facts: Sequence[ParameterFacts],
    cache: Cache,
    requested: RequestedOptions = AS_THE_KERNEL_HAS_IT,
    by_address: bool = False,
) -> Executable:
    """Return the cubin of an entry: from the cache if it is there, however often options had to be tried to make it.
    Raises UnsupportedError for what has no GPU code."""
    options = options_for(source.entry, arch, requested)
    how = repr(options), repr(requested), repr(list(facts)), repr(by_address)
    key = key_of("open route", toolchain(), arch.name, *how, source.digest)
    found = cache.get(key)
    if found is not None:
        return Executable.from_parts(found)
    made = _executable(compiled(source, arch, facts, [binary_stage(arch)], requested, by_address), source, arch)
    cache.put(key, made.to_parts())
    return made


def compiled(
    source: KernelSource,
    arch: Arch,
    facts: Sequence[ParameterFacts],
    stages: Sequence[str],
    requested: RequestedOptions = AS_THE_KERNEL_HAS_IT,
    by_address: bool = False,
) -> Compiled:
    """Lower and compile an entry; `stages` are of `worker.STAGES`.

    A kernel that takes more of a resource than the GPU has, or spills registers, is compiled again with
    other options, as long as they were not requested. Raises UnsupportedError.
    """
    if "amdgcn" in stages and "hsaco" not in stages:
        stages = [*stages, "hsaco"]  # which tells what is spilled
    if "cubin" in stages and "ptx" not in stages:
        stages = [*stages, "ptx"]  # which tells what is not
    program = lower_entry(source.entry, source.functions, arch, facts, by_address)

    def make(options: CompileOptions) -> Artifacts:
        artifacts = compile_ttir(program.text, arch, options, stages)
        if excess := _excess(artifacts, arch):
            what = (
                f"kernel @{shown(source.entry.sym_name)} needs {excess}: smaller tiles or shorter pipelines need less"
            )
            raise BlockMemoryError(what, arch.name, source.entry.loc)
        return artifacts

    found = fitted(make, options_for(source.entry, arch, requested), requested)
    found = sparing(make, found, requested, _spilled)
    return Compiled(program, found.options, found.made, found.rejected)


def _spilled(artifacts: Artifacts) -> int:
    """Return the vector registers of a thread that are spilled on one of AMD's GPUs, and the bytes on one of NVIDIA's:
    its stack without the memory that the program has there. 0 if that is not known yet."""
    binary = artifacts.binary
    vendor = None if binary is None else vendor_of(binary)
    if binary is None or vendor is None:
        return 0
    if vendor is Vendor.AMD:
        return spills_of(binary)
    own = sum(map(int, re.findall(r"\.local .*\[(\d+)\]", artifacts.texts["ptx"])))
    stack = max((info.stack for info in cubin_kernels(binary).values()), default=0)
    return max(0, stack - own)


def _excess(artifacts: Artifacts, arch: Arch) -> str | None:
    """Return the memory of which a block would need too much; None if all suffices, or is not known yet."""
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
        layouts=tuple(map(CopyLayout.of, facts["tensordesc_meta"] or ())),
        scratch=Scratch(facts["global_scratch_size"], facts["global_scratch_align"]),
        sites=tuple(number[op] for op in program.sites),
        narrow=program.narrow,
        polls=any(map(_polls, source.operations())),
    )
    made.require_parameters(len(source.entry.body.args))
    return made


def _polls(op: Op) -> bool:
    """Return whether an operation is a `loop` that does nothing but look until another tile block has written: unlike
    one that takes a lock, which a tile block that runs will free, it may wait for one that has not begun."""
    strong = [access for access in accesses_of(op) if access.is_strong] if isinstance(op, Loop) else []
    return bool(strong) and not any(access.writes for access in strong)


@cache
def toolchain() -> str:
    """Return the versions that a cubin depends on beside the program: of this package and of Triton."""
    try:
        triton = version("triton")
    except PackageNotFoundError:
        triton = "none"
    return f"tileir {_digest(Path(__file__).parent.rglob('*.py'))}, triton {triton}"


def _digest(paths: Iterable[Path]) -> str:
    """Return a digest of the code that makes code."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()
