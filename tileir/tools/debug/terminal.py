"""The debugger in a terminal: commands, and what they show."""

from __future__ import annotations

import cmd
import re
import sys
from collections.abc import Sequence
from typing import TextIO

from tileir.ir.core import Value
from tileir.ir.diagnostics import Coordinates, Trap, did_you_mean
from tileir.ir.types import TokenType
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid, GridLike
from tileir.runtime.module import Kernel
from tileir.tools.debug.expressions import ExpressionError, shown
from tileir.tools.debug.session import Breakpoint, DebugSession, Stop
from tileir.tools.interpreted import bound_arguments

_ALIASES = {
    "b": "break",
    "c": "continue",
    "d": "delete",
    "h": "help",
    "l": "list",
    "m": "memory",
    "n": "next",
    "nb": "block",
    "o": "out",
    "p": "print",
    "q": "quit",
    "rc": "rcontinue",
    "s": "step",
    "t": "tokens",
    "v": "values",
    "w": "where",
    "?": "help",
}
_ELSEWHERE = {
    **dict.fromkeys(("info", "locals", "display", "whatis"), "'values', 'memory', 'tokens' or 'break' alone"),
    **dict.fromkeys(("reverse-step", "reverse-stepi", "reverse-next", "rs", "rn"), "'back'"),
    **dict.fromkeys(("bt", "backtrace", "frame", "up", "down"), "'where'"),
    **dict.fromkeys(("finish", "until", "fin"), "'out'"),
    **dict.fromkeys(("run", "r", "start"), "'continue'"),
    "reverse-continue": "'rcontinue'",
    "stepi": "'step'",
    "nexti": "'next'",
    "x": "'memory EXPRESSION'",
    "tbreak": "'break', and 'delete' after it",
}
"""The commands for those of other debuggers."""
_BREAK = re.compile(r"(?P<place>\S+)(?:\s+block\s+(?P<block>\d+(?:,\d+){0,2}))?(?:\s+if\s+(?P<condition>.+))?$")
_AROUND = 5


class WrongCommand(Exception):
    """A command that cannot be followed."""


class Terminal(cmd.Cmd):
    """Reads commands from a stream, until one lets the run go on."""

    prompt = "(tileir) "
    doc_header = "commands:"

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is sys.stdin and stdin.isatty()
        if not self.use_rawinput:
            self.prompt = ""
        self._session: DebugSession | None = None
        self.has_ended = False
        self.kept: list[Breakpoint] = []
        """Breakpoints of the launch before, which hold in the next one of the same script."""

    # ------------------------------------------------------------ the run

    def stopped(self, session: DebugSession, stop: Stop) -> None:
        """Show where the run stands, and follow commands until one lets it go on."""
        self._session = session
        self._show_stop(stop)
        self.cmdloop()
        if self.has_ended:
            session.quit()

    @property
    def session(self) -> DebugSession:
        assert self._session is not None, "commands are read where a run stands"
        return self._session

    @property
    def here(self) -> Stop:
        assert self.session.stop is not None
        return self.session.stop

    def say(self, text: str) -> None:
        print(text, file=self.stdout, flush=True)

    def _show_stop(self, stop: Stop) -> None:
        session = self.session
        if stop.reason == "trap":
            self.say(str(session.trap))
            self.say("the values that led to it:")
            self._show_cause(stop)
            return
        place = session.line(stop.op)
        head = f"{stop.reason}: " if stop.reason not in ("step", "back") else ""
        self.say(f"{head}tile block {stop.block}, {f'{place.file}:{place.line}' if place else 'no line'}")
        self.say(f"  {place.line if place else ''}\t{self._text(stop)}")

    def _text(self, stop: Stop) -> str:
        place = self.session.line(stop.op)
        if place is None:
            return self.session.described(stop.op)
        return self.session.lines.sources[place.file].line(place.line).strip()

    # ------------------------------------------------------------ commands

    def precmd(self, line: str) -> str:
        word, _, rest = line.strip().partition(" ")
        return f"{_ALIASES.get(word, word)} {rest}".strip()

    def onecmd(self, line: str) -> bool:
        try:
            return bool(super().onecmd(line))
        except (WrongCommand, ExpressionError) as error:
            self.say(str(error))
            return False

    def emptyline(self) -> bool:
        return False

    def default(self, line: str) -> None:
        if line == "EOF":
            self.has_ended = True
            return True  # type: ignore[return-value]
        word = line.split()[0]
        meant = _ELSEWHERE.get(word)
        commands = [name.removeprefix("do_") for name in self.get_names() if name.startswith("do_")]
        hint = f"here it is {meant}" if meant else did_you_mean(word, commands)
        raise WrongCommand(f"no command '{word}'; {hint or 'see help'} ('help' lists all)")

    def do_continue(self, rest: str) -> bool:
        """continue: run up to the next breakpoint (c)"""
        self.session.resume()
        return True

    def do_step(self, rest: str) -> bool:
        """step [N]: run one operation, or N (s)"""
        self.session.step(_number(rest, 1))
        return True

    def do_next(self, rest: str) -> bool:
        """next: run one operation with all that stands inside of it: over a loop (n)"""
        self.session.step_over()
        return True

    def do_out(self, rest: str) -> bool:
        """out: run to the end of the loop or branch around (o)"""
        self.session.step_out()
        return True

    def do_block(self, rest: str) -> bool:
        """block: run until the next tile block begins (nb)"""
        self.session.next_block()
        return True

    def do_back(self, rest: str) -> bool:
        """back [N]: go back one operation, or N; the launch is run again up to there"""
        self.session.go_to(self.here.moment - _number(rest, 1))
        return True

    def do_rcontinue(self, rest: str) -> bool:
        """rcontinue: go back to the breakpoint before (rc)"""
        self.session.go_to(self.session.last_hit())
        return True

    def do_quit(self, rest: str) -> bool:
        """quit: end the run (q)"""
        self.has_ended = True
        return True

    def do_break(self, rest: str) -> None:
        """break LINE|FILE:LINE|OPERATION [block X,Y,Z] [if CONDITION]: stop there; alone: list all (b)"""
        if not rest:
            for one in self.session.breakpoints:
                self.say(f"{one}, hit {one.hits} times")
            return
        found = _BREAK.match(rest)
        if found is None:
            raise WrongCommand("expected break LINE|FILE:LINE|OPERATION [block X,Y,Z] [if CONDITION]")
        block = _block(found["block"]) if found["block"] else None
        made = self.session.add(**self._place(found["place"]), block=block, condition=found["condition"])
        self.say(f"breakpoint {made}")

    def _place(self, text: str) -> dict[str, object]:
        file, _, line = text.rpartition(":")
        if line.isdigit():
            return {"line": self._line(int(line), file), "file": self._file(file) if file else None}
        if not any(op.spec.name == text for op in self.session.launch.kernel.module.walk()):
            raise WrongCommand(f"no operation '{text}' in the program, and no line")
        return {"op": text}

    def _file(self, end: str) -> str:
        for name in self.session.lines.sources:
            if name == end or name.endswith("/" + end):
                return name
        raise WrongCommand(f"no file '{end}'; there are {', '.join(self.session.lines.sources)}")

    def _line(self, line: int, file: str) -> int:
        """Return the line, or the next one with an operation."""
        found = self.session.line_with_operation(line, self._file(file) if file else None)
        if found is None:
            raise WrongCommand(f"no operation at line {line} or behind it")
        return found

    def do_delete(self, rest: str) -> None:
        """delete [N]: remove breakpoint N, or all of them and all watches (d)"""
        number = _number(rest, 0)
        if number:
            self.session.breakpoints = [one for one in self.session.breakpoints if one.number != number]
        else:
            self.session.breakpoints.clear()
            self.session.watched.clear()

    def do_watch(self, rest: str) -> None:
        """watch EXPRESSION: stop when memory changes, for example watch out[3]"""
        self.session.watch(rest)
        self.say(f"watching {rest}, now {shown(self.session.evaluate(rest))}")

    # ------------------------------------------------------------ questions

    def do_print(self, rest: str) -> None:
        """print EXPRESSION: %x, %x[0, 2:4], max(%x), %i == 3, block_x, out[0:8] (p)"""
        known = self.session.values
        if rest in known:
            value, content = known[rest]
            self.say(f"{rest} = {shown(content, value.type)}")
        else:
            self.say(shown(self.session.evaluate(rest)))

    def do_values(self, rest: str) -> None:
        """values: all that is known in this tile block (v)"""
        for name, (value, content) in self.session.values.items():
            self.say(f"{name} = {shown(content, value.type).splitlines()[0]}")

    def do_memory(self, rest: str) -> None:
        """memory [EXPRESSION]: the arrays of the launch, or a part of one: memory out[0:8] (m)"""
        if rest:
            self.say(shown(self.session.evaluate(rest)))
            return
        for name, content in self.session.arrays.items():
            self.say(f"{name} = {shown(content)}")

    def do_where(self, rest: str) -> None:
        """where: the operation, and the loops and branches around it (w)"""
        stop = self.here
        self.say(
            f"tile block {stop.block} of kernel @{self.session.launch.kernel.name}, operation {stop.moment} of the run"
        )
        self.say(f"  {self.session.described(stop.op)}  ({self.session.place(stop.op)})")
        for op, iteration in self.session.around():
            self.say(f"  in {op.spec.name}, iteration {iteration}  ({self.session.place(op)})")

    def do_list(self, rest: str) -> None:
        """list: the program around (l)"""
        place = self.session.line(self.here.op)
        if place is None:
            raise WrongCommand("this operation has no line")
        source = self.session.lines.sources[place.file]
        last = source.text.count("\n") + 1
        for number in range(max(1, place.line - _AROUND), min(last, place.line + _AROUND) + 1):
            self.say(f"{'>' if number == place.line else ' '} {number:4} {source.line(number)}")

    def do_tokens(self, rest: str) -> None:
        """tokens: which operations are ordered before this one, by their tokens (t)"""
        layer = [value for value in self.here.op.operands if isinstance(value.type, TokenType)]
        if not layer:
            self.say("no token orders this operation")
        seen: set[Value] = set()
        while layer:
            value = layer.pop(0)
            if value in seen or value.op is None:
                continue
            seen.add(value)
            self.say(f"  {self.session.names.get(value, '_')}: {self.session.described(value.op)}"
                     f"  ({self.session.place(value.op)})")  # fmt: skip
            layer += [other for other in value.op.operands if isinstance(other.type, TokenType)]

    def do_cause(self, rest: str) -> None:
        """cause: the values that this operation is given, and those that they were made of"""
        self._show_cause(self.here)

    def _show_cause(self, stop: Stop) -> None:
        for distance, value, content in self.session.cause(stop.op):
            indent = "  " * (distance + 1)
            origin = f"  ({self.session.place(value.op)})" if value.op is not None else ""
            text = shown(content, value.type).splitlines()[0]
            self.say(f"{indent}{self.session.names.get(value, '_')} = {text}{origin}")


def _number(text: str, otherwise: int) -> int:
    if not text:
        return otherwise
    if not text.isdigit():
        raise WrongCommand(f"expected a number, got '{text}'")
    return int(text)


def _block(text: str) -> Coordinates:
    x, y, z = (*map(int, text.split(",")), 0, 0)[:3]
    return x, y, z


def debug(
    kernel: Kernel,
    grid: GridLike,
    args: Sequence[object],
    blocks: Sequence[Coordinates] | None = None,
    commands: Sequence[str] = (),
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
) -> int:
    """Debug a launch in a terminal; gives 0, or 1 if it has trapped. `commands` are followed at the first stop.

    Raises TypeError or ValueError for arguments that do not fit, `DiagnosticError`, `UnsupportedError`.
    """
    extents, arguments = bound_arguments(kernel, grid, args)
    terminal = Terminal(stdin or sys.stdin, stdout or sys.stdout)
    terminal.cmdqueue = list(commands)
    return 0 if debug_bound(terminal, kernel, extents, arguments, blocks) is None else 1


def debug_bound(
    terminal: Terminal,
    kernel: Kernel,
    grid: Grid,
    arguments: Sequence[Argument],
    blocks: Sequence[Coordinates] | None = None,
) -> Trap | None:
    """Debug a checked launch by the commands of a terminal; gives the trap that has ended it."""
    session = DebugSession(kernel, grid, arguments, terminal.stopped, blocks)
    session.breakpoints = terminal.kept
    session.run()
    terminal.kept = session.breakpoints
    if session.trap is None and not terminal.has_ended:
        terminal.say("the launch has ended")
    return session.trap
