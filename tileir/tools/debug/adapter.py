"""The debugger for editors: the Debug Adapter Protocol.

Requests are answered while the run stands; one that comes while it runs is answered when it stands again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, DiagnosticError, UnsupportedError
from tileir.ir.usage import UsageError
from tileir.runtime.grid import GridLike
from tileir.runtime.module import Kernel
from tileir.tools.debug.expressions import ExpressionError, shown
from tileir.tools.debug.session import DebugSession, Stop
from tileir.tools.interpreted import bound_arguments
from tileir.tools.messages import Message, MessageStream

CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsDataBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
}
THREAD = 1
_VALUES, _ARRAYS, _CAUSE = 1, 2, 3
_FIRST_TILE = 1000
_REASONS = {"begin": "entry", "step": "step", "tile block": "step", "back": "step", "trap": "exception"}
MOST_CHILDREN = 256
_REFUSALS = (
    *(ExpressionError, LookupError, TypeError, ValueError, OverflowError),
    *(UsageError, DiagnosticError, UnsupportedError),
)
"""Errors that are the editor's or the program's."""


@dataclass(frozen=True)
class DebugLaunch:
    """A launch to step through; only `blocks` of it run, or all."""

    kernel: Kernel
    grid: GridLike
    args: Sequence[object]
    blocks: Sequence[Coordinates] | None = None


def serve(described: Callable[[Message], DebugLaunch], launch: DebugLaunch | None = None) -> None:
    """Answer on standard input and output until the editor leaves or the launch ends.

    Without `launch`, the arguments of the editor's own launch request are `described`.
    """
    with os.fdopen(os.dup(0), "rb") as reader, os.fdopen(os.dup(1), "wb") as writer:
        # What the kernel prints is no message.
        os.dup2(2, 1)
        DebugAdapter(described, launch, MessageStream(reader, writer)).run()


class DebugAdapter:
    """One conversation about one launch."""

    def __init__(
        self, described: Callable[[Message], DebugLaunch], launch: DebugLaunch | None, stream: MessageStream
    ) -> None:
        self._stream = stream
        self._described = described
        self._given = None if launch is None else self._made(launch)
        self._stop_on_entry = True
        self._tiles: list[np.ndarray] = []
        self._configured = False
        self._is_ready = False
        self._gone = False

    def _made(self, launch: DebugLaunch) -> DebugSession:
        extents, arguments = bound_arguments(launch.kernel, launch.grid, launch.args)
        return DebugSession(launch.kernel, extents, arguments, self._stopped, launch.blocks)

    @property
    def _session(self) -> DebugSession:
        if self._given is None:
            raise ValueError("nothing is launched: the request 'launch' names program, grid and arguments")
        return self._given

    def run(self) -> None:
        """Wait for the launch request, run, and say how it ended."""
        while not self._configured:
            request = self._stream.receive()
            if request is None:
                return
            self._answer(request)
            if self._gone:
                return
        self._session.run()
        self._stream.tell("exited", {"exitCode": 0 if self._session.trap is None else 1})
        self._stream.tell("terminated")
        while not self._gone and (request := self._stream.receive()) is not None:
            self._answer(request)

    # ------------------------------------------------------------ stops

    def _stopped(self, session: DebugSession, stop: Stop) -> None:
        if stop.reason == "begin" and not self._stop_on_entry:
            session.resume()
            return
        self._tiles.clear()
        reason = _REASONS.get(stop.reason, "breakpoint" if stop.reason.startswith("breakpoint") else "data breakpoint")
        text = session.trap.message if session.trap is not None else stop.reason
        body = {"reason": reason, "threadId": THREAD, "allThreadsStopped": True, "description": text, "text": text}
        self._stream.tell("stopped", body)
        while not self._gone:
            request = self._stream.receive()
            if request is None:
                break
            if self._answer(request):
                return
        session.quit()

    def _answer(self, request: Message) -> bool:
        """Answer a request; whether the run goes on."""
        name = str(request.get("command"))
        if name in _GOING:
            return self._go(request, _GOING[name])
        answer = getattr(self, f"_{name}", None) if name in _ANSWERS else None
        if answer is None:
            self._stream.respond(request, error=f"'{name}' is not supported")
            return False
        try:
            self._stream.respond(request, answer(_object(request.get("arguments") or {}, "arguments")))
        except _REFUSALS as error:
            self._stream.respond(request, error=str(error) or name)
        if self._given is not None and not self._is_ready and name in ("initialize", "launch", "attach"):
            self._is_ready = True
            self._stream.tell("initialized")
        return False

    def _go(self, request: Message, go: Callable[[DebugSession], None]) -> bool:
        self._stream.respond(request, {"allThreadsContinued": True})
        session = self._given
        if session is None or session.stop is None:
            return False
        if session.trap is not None and request["command"] not in _BACKWARD:
            return True
        go(session)
        return True

    # ------------------------------------------------------------ beginning and end

    def _initialize(self, given: Message) -> Message:
        return CAPABILITIES

    def _launch(self, given: Message) -> None:
        self._stop_on_entry = bool(given.get("stopOnEntry", True))
        if self._given is None:
            self._given = self._made(self._described(given))

    _attach = _launch

    def _configurationDone(self, given: Message) -> None:
        self._configured = bool(self._session)

    def _disconnect(self, given: Message) -> None:
        self._gone = True

    _terminate = _disconnect

    # ------------------------------------------------------------ breakpoints

    def _setBreakpoints(self, given: Message) -> Message:
        session, source = self._session, _object(given["source"], "source")
        path = str(source.get("path") or source.get("name"))
        file = next((name for name in session.lines.sources if _same_file(name, path)), None)
        session.breakpoints = [one for one in session.breakpoints if one.file != file or one.line is None]
        return {"breakpoints": [self._line_breakpoint(one, file) for one in _breakpoints(given)]}

    def _line_breakpoint(self, wanted: Message, file: str | None) -> Message:
        line = None if file is None else self._session.line_with_operation(int(wanted["line"]), file)
        if line is None:
            return {"verified": False, "message": "no operation at this line or behind it"}
        made = self._session.add(line=line, file=file, condition=_condition(wanted))
        return {"verified": True, "id": made.number, "line": line}

    def _setFunctionBreakpoints(self, given: Message) -> Message:
        session = self._session
        session.breakpoints = [one for one in session.breakpoints if one.op is None]
        known = {op.spec.name for op in session.launch.kernel.module.walk()}
        found = []
        for wanted in _breakpoints(given):
            if wanted["name"] not in known:
                found.append({"verified": False, "message": f"no operation '{wanted['name']}' in the program"})
                continue
            made = session.add(op=wanted["name"], condition=_condition(wanted))
            found.append({"verified": True, "id": made.number})
        return {"breakpoints": found}

    def _setExceptionBreakpoints(self, given: Message) -> Message:
        return {"breakpoints": []}

    def _dataBreakpointInfo(self, given: Message) -> Message:
        name = str(given["name"])
        return {"dataId": name, "description": f"when {name} changes", "accessTypes": ["write"]}

    def _setDataBreakpoints(self, given: Message) -> Message:
        self._session.watched.clear()
        wanted = _breakpoints(given)
        for one in wanted:
            self._session.watch(str(one["dataId"]))
        return {"breakpoints": [{"verified": True} for _ in wanted]}

    # ------------------------------------------------------------ where it stands

    def _threads(self, given: Message) -> Message:
        stop = self._session.stop
        return {"threads": [{"id": THREAD, "name": "tile block " + (str(stop.block) if stop else "")}]}

    def _stackTrace(self, given: Message) -> Message:
        stop = self._session.stop
        if stop is None:
            return {"stackFrames": [], "totalFrames": 0}
        ops: list[tuple[Op, str]] = [(stop.op, self._session.described(stop.op))]
        ops += [(op, f"{op.spec.name}, iteration {iteration}") for op, iteration in self._session.around()]
        frames = [self._frame(number, op, name) for number, (op, name) in enumerate(ops)]
        return {"stackFrames": frames, "totalFrames": len(frames)}

    def _frame(self, number: int, op: Op, name: str) -> Message:
        frame: Message = {"id": number, "name": name, "line": 0, "column": 0}
        place = self._session.line(op)
        if place is not None:
            source = {"name": os.path.basename(place.file), "path": os.path.abspath(place.file)}
            frame |= {"line": place.line, "column": 1, "source": source}
        return frame

    def _scopes(self, given: Message) -> Message:
        scopes = [("Values", _VALUES), ("Arrays", _ARRAYS), ("Led to this operation", _CAUSE)]
        return {"scopes": [{"name": name, "variablesReference": at, "expensive": False} for name, at in scopes]}

    def _variables(self, given: Message) -> Message:
        which, session = int(given["variablesReference"]), self._session
        if which == _VALUES:
            found = [self._variable(name, one, value.type.text) for name, (value, one) in session.values.items()]
        elif which == _ARRAYS:
            found = [self._variable(name, one, "") for name, one in session.arrays.items()]
        elif which == _CAUSE:
            cause = [] if session.stop is None else session.cause(session.stop.op)
            found = [self._variable(session.names.get(value, "_"), one, value.type.text) for _, value, one in cause]
        else:
            tile = self._tiles[which - _FIRST_TILE]
            found = [self._variable(f"[{at}]", part, "") for at, part in enumerate(tile[:MOST_CHILDREN])]
        return {"variables": found}

    def _variable(self, name: str, content: object, type: str) -> Message:
        text = " ".join(shown(content).split())
        reference = 0
        if isinstance(content, np.ndarray) and content.ndim:
            reference = _FIRST_TILE + len(self._tiles)
            self._tiles.append(content)
        return {"name": name, "value": text, "type": type, "variablesReference": reference, "evaluateName": name}

    def _evaluate(self, given: Message) -> Message:
        text = str(given["expression"])
        found = self._variable(text, self._session.evaluate(text), "")
        return {"result": found["value"], "variablesReference": found["variablesReference"]}

    def _exceptionInfo(self, given: Message) -> Message:
        trap = self._session.trap
        if trap is None:
            raise ValueError("nothing has trapped")
        stop = self._session.stop
        cause = [] if stop is None else self._session.cause(stop.op)
        lines = [f"{self._session.names.get(value, '_')} = {shown(one, value.type)}" for _, value, one in cause]
        return {
            "exceptionId": "trap",
            "description": trap.message,
            "breakMode": "always",
            "details": {"message": str(trap), "stackTrace": "\n".join(lines)},
        }


def _object(value: object, name: str) -> Message:
    if not isinstance(value, dict):
        raise TypeError(f"'{name}': expected an object, got {value!r:.60}")
    return value


def _breakpoints(given: Message) -> list[Message]:
    return [_object(one, "breakpoints") for one in given.get("breakpoints", [])]


def _condition(wanted: Message) -> str | None:
    condition = wanted.get("condition")
    return None if condition is None else str(condition)


_ANSWERS = frozenset(
    name.removeprefix("_")
    for name in (
        *("_initialize", "_launch", "_attach", "_configurationDone", "_disconnect", "_terminate", "_threads"),
        *("_setBreakpoints", "_setFunctionBreakpoints", "_setExceptionBreakpoints", "_setDataBreakpoints"),
        *("_dataBreakpointInfo", "_stackTrace", "_scopes", "_variables", "_evaluate", "_exceptionInfo"),
    )
)
_BACKWARD = ("stepBack", "reverseContinue")


def _back(session: DebugSession) -> None:
    assert session.stop is not None
    session.go_to(session.stop.moment - 1)


_GOING: dict[str, Callable[[DebugSession], None]] = {
    "continue": DebugSession.resume,
    "next": DebugSession.step_over,
    "stepIn": DebugSession.step,
    "stepOut": DebugSession.step_out,
    "stepBack": _back,
    "reverseContinue": lambda session: session.go_to(session.last_hit()),
}


def _same_file(name: str, path: str) -> bool:
    """Return whether two names are of one file; an editor's are absolute."""
    return name == path or os.path.realpath(name) == os.path.realpath(path)
