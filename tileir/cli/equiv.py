"""``tileir equiv``: whether two programs do the same on generated or given inputs."""

from __future__ import annotations

import argparse

from tileir.cli import FAULT, FINE, UsageError, programs, show
from tileir.cli.launching import checked
from tileir.cli.options import add_level, chosen_target
from tileir.command_line import argument_words
from tileir.command_line.argument_words import given_values
from tileir.fuzz.equivalence import TRIALS, NotComparable, comparable, compared, paired
from tileir.fuzz.trials import Trial, trials
from tileir.runtime.module import Kernel


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="text or bytecode; - is standard input")
    parser.add_argument("second", metavar="B", help="text or bytecode")
    text = "arguments of the kernel, with --grid; see below"
    parser.add_argument("arguments", nargs="*", default=[], metavar="ARG", help=text)
    parser.add_argument("--kernel", metavar="NAME", help="compare this entry only")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="compare one launch with the given arguments")
    parser.add_argument("--trials", type=int, default=TRIALS, metavar="N", help=f"generated inputs (default {TRIALS})")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of what is generated (default 0)")
    parser.add_argument("--ulps", type=int, default=0, metavar="N", help="how far floats may be apart (default 0)")
    parser.add_argument("--algebraic", action="store_true", help="compare with integers modulo 2^32 in place of floats")
    parser.add_argument("--target", default="interp", help="where to run (default: interp)")
    add_level(parser)
    programs.add_signature(parser)
    parser.epilog = f"""\
Equal means equal bits in all arrays and equal output; any NaN equals any other. Inputs on which A has undefined
behaviour say nothing. With --algebraic sums may be taken in any order and be split in any way, and a wrong index or a
lost term still shows; arrays of floats are i32 then. Without --grid, inputs are generated for every entry of A: small
numbers, pairs of edge values, arrays that are given for several parameters, and numbers of the whole range. B must not
have faults that A has not (the sanitizer looks at some launches of both), nor other outcomes, where the programs have
atomic operations and are small enough to be explored. Straight-line programs are then compared for all inputs, where
an SMT solver is installed (pip install z3-solver): "equal: proved for all inputs" if it shows that every access
has the same operands, or if both programs are one. Floating-point operations count as equal only on equal operands.

{argument_words.GRAMMAR}
examples:
  tileir equiv kernel.mlir optimised.tileirbc
  tileir equiv --ulps 4 plain.mlir fused.mlir
  tileir equiv --algebraic gemm.mlir gemm_split_k.mlir
  tileir equiv script.py::add twin.mlir --signature '*fp32,*fp32,*fp32,i32' --constexpr BLOCK=128
  tileir equiv a.mlir b.mlir --grid 4 x=f32[1024]:randn y=f32[1024] n=1000
"""


def run(options: argparse.Namespace) -> int:
    if options.ulps < 0:
        raise UsageError(f"--ulps: expected a number of units that is not negative, got {options.ulps}")
    verified = programs.all_verified([options.first, options.second], options)
    first, second = (comparable(module, options.algebraic) for module in verified)
    target = chosen_target(options.target)
    status = FINE
    try:
        for one, other in paired(first, second, options.kernel):
            inputs = _inputs(one, options) if options.grid is None else [_given(one, options)]
            found = compared(one, other, inputs, target.name, options.ulps)
            show.line(str(found))
            status = max(status, FINE if found.ok else FAULT)
    except NotComparable as error:
        raise UsageError(str(error)) from None
    return status


def _inputs(kernel: Kernel, options: argparse.Namespace) -> list[Trial]:
    if options.trials < 1:
        raise UsageError(f"--trials: expected a positive number, got {options.trials}")
    if options.arguments:
        raise UsageError("arguments are given together with --grid")
    return list(trials(kernel, options.trials, abs(options.seed)))


def _given(kernel: Kernel, options: argparse.Namespace) -> Trial:
    values = [one.value for one in given_values(kernel, options.arguments, options.seed)]
    grid = checked(kernel, chosen_target(options.target), options.grid, values, True, {})
    return Trial(grid, tuple(values), "given arguments")
