"""``tileir compile --target sm_90``: code of a kernel for a GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tileir.cli import show
from tileir.gpu import vendor
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, RequestedOptions, binary_stage, require_triton
from tileir.gpu.descriptors import CopyLayout, DescriptorParameter
from tileir.gpu.executable import BlockMemory, ConstantMemory, GlobalMemory, Hidden, kernels_of
from tileir.gpu.expressions import text
from tileir.gpu.object_files import KernelInfo
from tileir.gpu.program import Compiled, aligned_facts
from tileir.gpu.program import compiled as compiled_program
from tileir.ir.diagnostics import UnsupportedError, place_text
from tileir.runtime.gpu_routes import source_of, vendor_cubin
from tileir.runtime.module import Kernel

_ACCESSES = {
    "tt.descriptor_load": "load through the tensor memory accelerator",
    "tt.descriptor_store": "store through the tensor memory accelerator",
    "tt.descriptor_reduce": "reduction through the tensor memory accelerator",
    "tt.load": "load through pointers",
    "tt.store": "store through pointers",
    "tt.atomic_rmw": "atomic operation",
    "tt.atomic_cas": "atomic compare and swap",
    "tt.dot": "product on matrix units where the hardware has one",
    "tt.dot_scaled": "scaled product",
}
"""Instructions of TTIR that say what became of an operation."""


@dataclass(frozen=True)
class Request:
    """The form asked for; `form` None is nothing but the explanation."""

    target: str
    route: str
    form: str | None
    aligned: bool
    explained: bool
    requested: RequestedOptions


def compiled(kernel: Kernel, request: Request) -> str | bytes | None:
    """Return the code of a kernel; on request, first print how it was compiled. Raises UnsupportedError."""
    try:
        return _by_tileiras(kernel, request) if request.route == "tileiras" else _by_triton(kernel, request)
    except ImportError as error:
        raise UnsupportedError(f"not available: {error}", request.target) from error


def _by_triton(kernel: Kernel, request: Request) -> str | bytes | None:
    require_triton()
    facts = aligned_facts(kernel.entry) if request.aligned else []
    stages = [request.form] if request.form else []
    arch = arch_named(request.target)
    code = binary_stage(arch)
    stages += [code] if request.explained and request.form != code else []
    made = compiled_program(source_of(kernel), arch, facts, stages, request.requested)
    if request.explained:
        _explain_triton(kernel.name, request.target, made)
    if request.form is None:
        return None
    return made.artifacts.binary if request.form == code else made.artifacts.texts[request.form]


def _by_tileiras(kernel: Kernel, request: Request) -> bytes | None:
    vendor.require_program()
    cubin = vendor_cubin(kernel.module, arch_named(request.target))
    made = vendor.executable(cubin, kernel.name, len(kernel.parameters))
    if request.explained:
        show.line(f"@{kernel.name}, for {request.target}, by the vendor's assembler")
        info = kernels_of(cubin)[made.kernel]
        print(f"tile block: {info.threads} threads")
        _explain_code(info)
    return None if request.form is None else cubin


# ---------------------------------------------------------------- in words


def _explain_triton(name: str, target: str, made: Compiled) -> None:
    options, facts = made.options, made.artifacts.metadata
    assert made.artifacts.binary is not None
    show.line(f"@{name}, for {target}, by Triton's compiler")
    cluster = f", in each of {facts['num_ctas']} blocks of a cluster" if facts["num_ctas"] > 1 else ""
    print(f"tile block: {_spread(options, cluster)}")
    for rejected in made.rejected:
        show.line(f"with {_spread(rejected.options)} it does not fit: {rejected.why}")
    print(f"shared memory: {facts['shared']} bytes")
    _explain_code(kernels_of(made.artifacts.binary)[facts["name"]])
    hidden = [_hidden(one) for one in made.program.hidden if not isinstance(one, DescriptorParameter)]
    if facts["global_scratch_size"]:
        hidden.append(f"{facts['global_scratch_size']} bytes for each tile block for descriptors")
    show.line(f"memory beside the arguments: {', '.join(hidden) or 'none'}")
    _explain_descriptors(made)
    rows: list[list[str]] = [[place, what, str(count)] for (place, what), count in _accesses(made)]
    if rows:
        show.print_table(show.table({"place": "left", "became": "left", "times": "right"}, rows))


def _spread(options: CompileOptions, cluster: str = "") -> str:
    warps, stages = show.counted(options.num_warps, "warp"), show.counted(options.num_stages, "stage")
    limit = "" if options.maxnreg is None else f", at most {options.maxnreg} registers"
    return f"{warps}{cluster}, pipelines of {stages}{limit}"


def _explain_code(info: KernelInfo) -> None:
    print(f"thread: {info.registers} registers, {info.stack} bytes of stack")


_TYPES = ["UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16"]
"""The element types of ``CUtensorMapDataType``, by number."""
_SWIZZLING = ("none", "32 bytes", "64 bytes", "128 bytes")


def _explain_descriptors(made: Compiled) -> None:
    """Print the parameters that are descriptors; p0, p1, ... are the parameters of the entry."""
    layouts = map(CopyLayout.of, made.artifacts.metadata["tensordesc_meta"] or ())
    arguments = made.program.function.body.arguments
    rows = []
    for number, hidden in enumerate(made.program.hidden, len(arguments) - len(made.program.hidden)):
        if isinstance(hidden, DescriptorParameter):
            layout = next(layouts)
            extents, strides = (_numbers(map(text, several)) for several in (hidden.extents, hidden.strides))
            box, outside = _numbers(map(str, layout.box)), "NaN" if hidden.pads_with_nan else "zero"
            how = _TYPES[layout.element], box, _SWIZZLING[layout.swizzle], outside
            rows.append([f"p{number}", text(hidden.address), extents, strides, *how])
    if rows:
        print("descriptors of tensors, made by the launch:")
        columns = "parameter", "address", "extents", "strides", "type", "box", "swizzling", "outside"
        show.print_table(show.table(dict.fromkeys(columns, "left"), rows))


def _numbers(numbers: Iterable[str]) -> str:
    return " x ".join(numbers)


def _hidden(hidden: Hidden) -> str:
    if isinstance(hidden, GlobalMemory):
        return f"global @{hidden.name}"
    if isinstance(hidden, ConstantMemory):
        return f"{len(hidden.content)} bytes of constants"
    if isinstance(hidden, BlockMemory):
        return f"{hidden.size} bytes for each tile block"
    return "the mailbox of print and assert"


def _accesses(made: Compiled) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the instructions that the operations at a place in the program became, and how often."""
    found = Counter(
        (place_text(instruction.loc), _ACCESSES[instruction.name])
        for instruction in made.program.function.body.walk()
        if instruction.name in _ACCESSES
    )
    yield from found.items()
