"""``tileir compile``: code of a kernel for this processor or for a GPU, to look at or to keep."""

from __future__ import annotations

import argparse
import sys

from tileir.cli import FINE, UsageError, files, programs
from tileir.cli.launching import add_kernel
from tileir.cli.options import add_gpu_options, add_level, add_optimize, add_output, gpu_options_of
from tileir.command_line.argument_words import chosen_kernel
from tileir.gpu.arch import GPUS, WAVES
from tileir.gpu.compiler import RequestedOptions
from tileir.runtime.exact import exact_kernel, exact_module
from tileir.runtime.serialisation import to_bytecode
from tileir.text.printer import to_text

CPU = "cpu"
AMD = "AMD"
FORMS = {
    CPU: ("asm", "llvm", "obj", "plan"),
    "open": ("ptx", "ttir", "ttgir", "llir", "cubin"),
    AMD: ("amdgcn", "ttir", "ttgir", "llir", "hsaco"),
    "tileiras": ("cubin",),
}
"""The forms that each route can make, the default first."""
ANY = ("tileir", "bytecode")
"""The program itself, whatever it is compiled for."""
BINARY = {"obj": "an object file", "bytecode": "bytecode", "cubin": "a cubin", "hsaco": "a hsaco"}


def configure(parser: argparse.ArgumentParser) -> None:
    add_kernel(parser)
    targets = (CPU, *GPUS)
    known = f"this machine's processor ({CPU}, the default) or a GPU: {', '.join(GPUS)}"
    parser.add_argument(
        "--target", choices=targets, default=CPU, metavar="TARGET", help=f"what the code is for: {known}"
    )
    forms = tuple(dict.fromkeys(form for route in (*FORMS.values(), ANY) for form in route))
    routes = {CPU: CPU, "NVIDIA": "open", AMD: AMD}
    text = "; ".join(f"{name}: {', '.join(FORMS[route])}" for name, route in routes.items())
    text += f" (default: the first); any: {', '.join(ANY)}"
    parser.add_argument("--emit", choices=forms, metavar="FORM", help=text)
    parser.add_argument("--explain", action="store_true", help="say what the compiler made of the kernel")
    parser.add_argument("--aligned", action="store_true", help="GPU: take pointers and integers for multiples of 16")
    parser.add_argument(
        "--route", choices=("open", "tileiras"), help="GPU: Triton's compiler (default) or the vendor's assembler"
    )
    add_gpu_options(parser)
    add_optimize(parser)
    add_output(parser, "the code")
    add_level(parser)
    parser.epilog = """\
No GPU is needed to compile for one.

examples:
  tileir compile --explain examples/saxpy.mlir
  tileir compile examples/saxpy.mlir -o saxpy.s
  tileir compile examples/reduction.mlir --kernel total --emit obj -o total.o
  tileir compile examples/saxpy.mlir --target sm_90 --aligned
  tileir compile examples/saxpy.mlir --target sm_100 --emit cubin -o saxpy.cubin
  tileir compile examples/saxpy.mlir --target gfx942 --aligned
  tileir compile script.py::add --signature '*fp32,*fp32,*fp32,i32' --constexpr BLOCK=128 --emit tileir
"""


def run(options: argparse.Namespace) -> int:
    form = _form(options)
    module = programs.verified(options.file, options)
    kernel = chosen_kernel(module, options.kernel)
    if form in ANY:
        files.write(options.output, to_text(module) if form == "tileir" else to_bytecode(module))
        return FINE
    if options.optimize:
        is_native = options.target == CPU
        kernel = exact_kernel(kernel, native=True) if is_native else exact_module(module)[kernel.name]
    if options.target == CPU:
        from tileir.cli import compile_cpu

        code = compile_cpu.compiled(kernel, form, options.explain)
    else:
        from tileir.cli import compile_gpu

        route = options.route or "open"
        chosen = gpu_options_of(options)
        requested = RequestedOptions(chosen.get("warps"), chosen.get("stages"))
        request = compile_gpu.Request(options.target, route, form, options.aligned, options.explain, requested)
        code = compile_gpu.compiled(kernel, request)
    if code is not None:
        files.write(options.output, code)
    return FINE


def _form(options: argparse.Namespace) -> str | None:
    """Return the form of the code that is wanted; None if it is only to be explained."""
    named = {f"--{name}": getattr(options, name) for name in ("aligned", "route", "warps", "stages")}
    wrong = next((name for name, given in named.items() if given not in (None, False)), None)
    if options.target == CPU and wrong is not None:
        raise UsageError(f"{wrong} is for GPUs: say which with --target, for example --target sm_90")
    if options.route == "tileiras" and (options.warps is not None or options.stages is not None):
        raise UsageError("--warps and --stages are for --route open")
    if options.route == "tileiras" and options.target in WAVES:
        raise UsageError(f"--route tileiras is for GPUs of NVIDIA, got --target {options.target}")
    forms = FORMS[_route(options)]
    if options.emit is None:
        return _require_place(options, None if options.explain else forms[0])
    if options.emit not in (*forms, *ANY):
        raise UsageError(f"--emit {options.emit}: {_whose(options)} has {', '.join((*forms, *ANY))}")
    return _require_place(options, options.emit)


def _route(options: argparse.Namespace) -> str:
    """Return the key of the forms."""
    if options.target == CPU:
        return CPU
    return AMD if options.target in WAVES else options.route or "open"


def _whose(options: argparse.Namespace) -> str:
    return f"target {options.target}" + (f" with --route {options.route}" if options.route else "")


def _require_place(options: argparse.Namespace, form: str | None) -> str | None:
    """Refuse to write a form that is no text to a terminal."""
    if form in BINARY and options.output is None and (form == "obj" or sys.stdout.isatty()):
        raise UsageError(f"{BINARY[form]} is not text: say where it goes with -o FILE")
    return form
