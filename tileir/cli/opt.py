"""``tileir opt``: the program after passes, and what each pass changed, with operations in a few words.

addi(muli(%n, 4), 1)
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from tileir.cli import FAULT, FINE, UsageError, files, show
from tileir.cli.options import add_level, add_output
from tileir.ir import core
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import place_text
from tileir.ops.core import Constant
from tileir.passes.facts import content_array
from tileir.passes.rebuilding import Change
from tileir.passes.running import Step
from tileir.runtime.module import Module
from tileir.text.printer import to_text
from tileir.verify import verify

Rows = list[list[str]]


class Watching:
    """Called after every pass; prints what `options` select to `stream`."""

    def __init__(
        self, options: argparse.Namespace, stream: TextIO, check: Callable[[Step], None] | None = None
    ) -> None:
        self.options = options
        self.stream = stream
        self.check = check
        self.steps: list[Step] = []

    def __call__(self, step: Step) -> None:
        self.steps.append(step)
        if self.options.print_ir_after_all or step.name in (self.options.print_ir_after or ()):
            print(f"// -----// IR Dump After {step.name} //----- //", file=self.stream)
            print(to_text(step.after, debug=self.options.debug, level=self.options.level), file=self.stream)
        if self.options.verify_each and step.changes:
            verify(step.after, self.options.level).raise_if_errors()
        if self.check is not None and step.changes:
            self.check(step)

    def summary(self, before: core.Module, after: core.Module) -> None:
        """Show the tables, when all passes have run."""
        if self.options.explain:
            self._explain()
        if self.options.stats:
            self._count(before, after)
        if self.options.time_passes:
            self._time()

    def _explain(self) -> None:
        rows: Rows = [[*_change(change)] for step in self.steps for change in step.changes]
        columns = ("pass", "row", "place", "before", "after")
        show.print_table(show.table(dict.fromkeys(columns, "left"), rows), self.stream)

    def _count(self, before: core.Module, after: core.Module) -> None:
        counts = Counter((c.row.pass_name, c.row.name) for step in self.steps for c in step.changes)
        rows: Rows = [[name, row, str(count)] for (name, row), count in sorted(counts.items())]
        show.print_table(show.table({"pass": "left", "row": "left", "times": "right"}, rows), self.stream)
        sizes = [sum(1 for _ in module.walk()) for module in (before, after)]
        show.line(f"operations: {sizes[0]} before, {sizes[1]} after", self.stream)

    def _time(self) -> None:
        seconds: dict[str, float] = {}
        for step in self.steps:
            seconds[step.name] = seconds.get(step.name, 0.0) + step.seconds
        total = sum(seconds.values()) or 1.0
        longest = sorted(seconds.items(), key=lambda entry: -entry[1])
        rows: Rows = [[name, f"{time * 1e3:.3f}", f"{100 * time / total:.0f} %"] for name, time in longest]
        show.print_table(show.table({"pass": "left", "ms": "right", "share": "right"}, rows), self.stream)


def _change(change: Change) -> tuple[str, str, str, str, str]:
    place = place_text(change.before.loc)
    after = values_text(change.after) if change.after else "-"
    return change.row.pass_name, change.row.name, place, op_text(change.before), after


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="text or bytecode; - is standard input")
    add_output(parser, "the program")
    parser.add_argument("-O", dest="optimise", type=int, choices=range(4), metavar="N", help="optimise, level 0 to 3")
    parser.add_argument("--passes", metavar="A,B,...", help="run these passes, once each, instead of those of a level")
    parser.add_argument(
        "--arg", action="append", metavar="NAME=N", help="make the program for this scalar argument alone; repeatable"
    )
    parser.add_argument("--target", metavar="NAME", help="optimise for this target; cpu: -O2 has the pass raise too")
    parser.add_argument("--generic", action="store_true", help='print every operation in the generic form, "op"(...)')
    parser.add_argument("--debug", action="store_true", help="print locations too")
    parser.add_argument("--no-verify", action="store_true", help="print also a program that breaks a rule")
    parser.add_argument(
        "--emit-bytecode",
        action="store_true",
        help=f"write bytecode, as is done for {', '.join(files.BYTECODE_SUFFIXES)}",
    )
    shown = parser.add_argument_group("on standard error")
    shown.add_argument(
        "--explain", action="store_true", help="a table of every rewrite: pass, row, place, before, after"
    )
    shown.add_argument(
        "--stats", action="store_true", help="how often each row was applied, and operations before and after"
    )
    shown.add_argument("--time-passes", action="store_true", help="the time of each pass")
    shown.add_argument("--print-ir-after-all", action="store_true", help="the program after every pass")
    shown.add_argument("--print-ir-after", action="append", metavar="PASS", help="the program after every run of PASS")
    shown.add_argument("--verify-each", action="store_true", help="verify the program after every pass that changed it")
    shown.add_argument(
        "--check-each", action="store_true", help="compare the program before and after every pass on generated inputs"
    )
    add_level(parser)
    parser.epilog = """\
Comments are not part of the program and are not printed. Without -O and --passes the program stays as it is.
docs/optimise.md lists the passes and their rows.

examples:
  tileir opt kernel.mlir
  tileir opt kernel.mlir -o kernel.mlir         # format in place
  tileir opt -O2 kernel.tileirbc -o faster.tileirbc
  tileir opt --passes canonicalise,dce --explain kernel.mlir
  tileir opt -O2 --arg n=1000 --check-each kernel.mlir
"""


def run(options: argparse.Namespace) -> int:
    module = files.program(options.file) if options.no_verify else files.verified(options.file, options.level)
    if options.optimise or options.passes is not None:
        from tileir.fuzz.check_passes import WrongRewrite

        try:
            module = _optimised(module, options)
        except WrongRewrite as error:
            show.diagnostics(f"error: {error}", sys.stderr)
            return FAULT
    else:
        _require_no_passes(options)
    files.write(options.output, _content(module, options))
    return FINE


def _require_no_passes(options: argparse.Namespace) -> None:
    """Raise UsageError for an option that is about passes: without them it would do nothing."""
    asked = next((name for name in _ABOUT_PASSES if getattr(options, name)), None)
    if asked is not None:
        raise UsageError(
            f"--{asked.replace('_', '-')}: expected passes that it is for, -O1 to -O3 or --passes, got none"
        )


_ABOUT_PASSES = (
    "arg", "explain", "stats", "time_passes", "print_ir_after_all", "print_ir_after", "verify_each", "check_each",
)  # fmt: skip


def _optimised(module: Module, options: argparse.Namespace) -> Module:
    from tileir.cli.opt import Watching
    from tileir.fuzz.check_passes import Checking
    from tileir.passes.pipeline import PASSES
    from tileir.tools.optimise import watched

    unknown = set(options.print_ir_after or ()) - PASSES.keys()
    if unknown:
        raise UsageError(f"--print-ir-after: expected one of {', '.join(PASSES)}, got {', '.join(sorted(unknown))}")
    arguments = dict(map(_argument, options.arg or ()))
    checking = Checking(arguments) if options.check_each else None
    watching = Watching(options, sys.stderr, checking)
    level = options.optimise if options.optimise is not None else 0
    try:
        made = watched(module, level, passes=options.passes, arguments=arguments, target=options.target, watch=watching)
    except ValueError as error:
        raise UsageError(str(error)) from None
    watching.summary(module, made)
    if checking is not None:
        show.line(f"compared: {show.counted(checking.compared, 'launch', 'launches')}", sys.stderr)
    return made


def _argument(word: str) -> tuple[str, int | float]:
    """Parse an argument such as ``n=1000``."""
    name, _, number = word.partition("=")
    for kind in (int, float):
        try:
            return name.removeprefix("%"), kind(number)
        except ValueError:
            continue
    raise UsageError(f"--arg: expected a parameter and a number such as n=1000, got '{word}'")


def _content(module: Module, options: argparse.Namespace) -> str | bytes:
    if options.emit_bytecode or Path(options.output or "").suffix in files.BYTECODE_SUFFIXES:
        from tileir.bytecode import encode

        return encode(module, options.level)
    form = "generic" if options.generic else "module"
    return to_text(module, form=form, debug=options.debug, level=options.level)


# ---------------------------------------------------------------- operations and values in a few words


DEPTH = 2
"""Operations that are looked through."""
_WIDEST = 60


def op_text(op: Op, depth: int = DEPTH) -> str:
    """Return an operation with its operands."""
    if isinstance(op, Constant):
        return constant_text(op.value)
    operands = ", ".join(value_text(value, depth - 1) for value in op.operands)
    return shortened(f"{op.spec.name}({operands})")


def value_text(value: Value, depth: int = DEPTH) -> str:
    """Return a value by what defines it."""
    owner = value.owner
    if isinstance(owner, Block):
        names = owner.arg_names
        return names[value.index] if value.index < len(names) else f"%arg{value.index}"
    if isinstance(owner, Constant):
        return constant_text(owner.value)
    text = op_text(owner, depth) if depth > 0 else owner.spec.name
    return f"{text}#{value.index}" if len(owner.results) > 1 else text


def values_text(values: Sequence[Value]) -> str:
    """Return values that stand for the results of an operation."""
    return shortened(", ".join(map(value_text, values)))


def constant_text(content: DenseElements) -> str:
    return str(content_array(content).item()) if content.is_splat else f"constant {content.type.text}"


def shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
