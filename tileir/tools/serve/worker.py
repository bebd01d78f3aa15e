"""The process that works for one request of the page, and then ends.

A request and its answer are JSON, on standard input and what was standard output.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tileir.cache import default_directory
from tileir.ir.diagnostics import Diagnostic, DiagnosticError, Trap, UnsupportedError
from tileir.ir.escaping import shown_lines
from tileir.ir.loc import FileLoc, SourceLoc, file_position
from tileir.ir.usage import UsageError
from tileir.runtime.loading import from_content
from tileir.runtime.module import Kernel, Module
from tileir.tools.serve.limits import ServeLimits, bound_this_process
from tileir.tools.serve.panes import OTHERS, PANES, PROGRAM, LinkedText, StageChoice, explained, format_text
from tileir.verify import verify

MOST_DIAGNOSTICS = 200


class BadRequest(Exception):
    """A request of another form."""


def answered(request: object, limits: ServeLimits) -> dict[str, Any]:
    """Return the answer: ``parts``, ``pictures`` or the ``document`` of the pane, ``diagnostics``, the ``kernels`` of
    the program, or an ``error``."""
    try:
        return _answered(_Request(request), limits)
    except DiagnosticError as error:
        return {"parts": [], "kernels": [], "diagnostics": _diagnostics(error.diagnostics)}
    except (UsageError, BadRequest) as error:
        return {"error": str(error)}
    except UnsupportedError as error:
        return {"error": shown_lines(error.what), "line": _position(error.loc)[0] if error.loc else 0}
    except Trap as error:
        return {"error": shown_lines(str(error.message))}
    except (TypeError, ValueError) as error:
        return {"error": shown_lines(str(error))}
    except MemoryError:
        return {"error": f"more memory than the {limits.memory >> 20} MiB that a request may take"}
    except RecursionError:
        return {"error": "regions nested too deeply"}


def reply(content: str | bytes, limits: ServeLimits | None = None) -> str:
    """Return the answer to a request, both as JSON."""
    try:
        request = json.loads(content)
    except (ValueError, RecursionError):
        request = None
    return json.dumps(answered(request, limits or ServeLimits()))


class _Request:
    """The fields of a request. Raises `BadRequest`."""

    def __init__(self, data: object) -> None:
        if not isinstance(data, dict):
            raise BadRequest("request: expected an object")
        self.pane = _text(data, "pane", "check")
        self.text = _text(data, "text")
        self.kernel = _text(data, "kernel") or None
        self.passes = _text(data, "passes")
        self.arch = _text(data, "arch", "sm_90")
        self.grid = _text(data, "grid", "1")
        self.target = _text(data, "target", "cpu")
        self.words = _text(data, "arguments").split()
        self.level, self.line = _number(data, "level", 2), _number(data, "line", 0)
        known = ("check", "format", *PANES, *OTHERS)
        if self.pane not in known:
            raise BadRequest(f"pane: expected one of {', '.join(known)}")


def _text(data: dict[str, object], name: str, otherwise: str = "") -> str:
    found = data.get(name, otherwise)
    if not isinstance(found, str):
        raise BadRequest(f"{name}: expected text")
    return found


def _number(data: dict[str, object], name: str, otherwise: int) -> int:
    found = data.get(name, otherwise)
    if not isinstance(found, int) or isinstance(found, bool):
        raise BadRequest(f"{name}: expected a number")
    return found


def _answered(request: _Request, limits: ServeLimits) -> dict[str, Any]:
    module, found = _read(request.text)
    valid = module is not None and not any(one.severity == "error" for one in found)
    answer: dict[str, Any] = {
        "parts": [],
        "kernels": [] if module is None else [_signature(kernel, valid) for kernel in module.kernels.values()],
        "diagnostics": _diagnostics(found),
    }
    if request.pane == "format":
        answer["parts"] = [part.to_json() for part in format_text(request.text)]
    elif request.pane == "explain":
        answer["parts"] = [part.to_json() for part in explained(module, found, request.line)]
    elif module is not None and valid and request.pane in PANES:
        kernel = _kernel(module, request.kernel) if module.kernels else None
        choice = StageChoice(kernel, request.level, request.passes, request.arch)
        answer["parts"] = [part.to_json() for part in PANES[request.pane](module, choice)]
    elif module is not None and valid and request.pane != "check":
        _launch(_kernel(module, request.kernel), request, limits, answer)
    return answer


def _read(text: str) -> tuple[Module | None, list[Diagnostic]]:
    """Return the program, None if it cannot be read, and its diagnostics."""
    try:
        module = from_content(text.encode("utf-8", "surrogateescape"), PROGRAM)
    except DiagnosticError as error:
        return None, list(error.diagnostics)
    return module, list(verify(module))


def _kernel(module: Module, name: str | None) -> Kernel:
    """Return the kernel of this name; the first one if the page has named none yet."""
    if not module.kernels:
        raise UsageError("the program has no kernel")
    found = next(iter(module.kernels.values())) if name is None else module.kernels.get(name)
    if found is None:
        raise UsageError(f"no kernel '{name}'; the program has {', '.join(module.kernels)}")
    return found


def _launch(kernel: Kernel, request: _Request, limits: ServeLimits, answer: dict[str, Any]) -> None:
    """Add what a launch gives to the answer."""
    from tileir.tools.serve.launches import ran, sanitized, viewed

    parts: Sequence[LinkedText] = ()
    if request.pane == "run":
        parts, found, answer["pictures"] = ran(kernel, request.grid, request.words, request.target, limits)
    elif request.pane == "view":
        answer["document"], found = viewed(kernel, request.grid, request.words, limits)
    else:
        parts, found = sanitized(kernel, request.grid, request.words, limits)
    answer["parts"] = [part.to_json() for part in parts]
    answer["diagnostics"] += _diagnostics(found)


def _signature(kernel: Kernel, valid: bool) -> dict[str, Any]:
    """Return the name of a kernel, its parameters, and arguments for one tile block."""
    body = kernel.entry.body
    named = zip(body.arg_names, body.args)
    parameters = [{"name": name.removeprefix("%"), "type": str(one.type)} for name, one in named]
    return {"name": kernel.name, "parameters": parameters, "arguments": _suggested(kernel) if valid else ""}


def _suggested(kernel: Kernel) -> str:
    try:
        from tileir.command_line.signature import Signature
    except ImportError:  # a browser that has no NumPy yet
        return ""
    return " ".join(Signature(kernel).words)


def _diagnostics(found: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    return [_diagnostic(one) for one in found[:MOST_DIAGNOSTICS]]


def _diagnostic(one: Diagnostic) -> dict[str, Any]:
    line, column = _position(one.loc)
    return {
        "line": line,
        "column": column,
        "severity": one.severity,
        "code": one.code,
        "message": shown_lines(one.message),
        "hint": shown_lines(one.hint) if one.hint else "",
    }


def _position(loc: object) -> tuple[int, int]:
    """Return line and column in the program; 0 for a place elsewhere."""
    place = file_position(loc)  # type: ignore[arg-type]
    if isinstance(place, SourceLoc):
        return place.source.position(place.offset)
    if isinstance(place, FileLoc) and place.file == PROGRAM:
        return place.line, place.column
    return 0, 0


# ---------------------------------------------------------------- the process


def refuse_files() -> None:
    """Allow Python to open no file outside of its own folders, this package's, the cache and temporary ones.

    Nothing here asks for another; this is a safeguard.
    """
    package = Path(__file__).parents[2]
    own = [str(package), sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path), tempfile.gettempdir()]
    cache = default_directory()
    roots = tuple({os.path.realpath(one) + os.sep for one in [*own, *([str(cache)] if cache else [])]})
    allowed = (*roots, "/proc/", "/sys/", "/dev/", "/lib", "/usr/lib")

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0])) + os.sep
            if not path.startswith(allowed):
                raise PermissionError("pages read no files")

    sys.addaudithook(audit)


def main() -> None:
    """Answer the request on standard input."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limits = ServeLimits(**json.loads(sys.argv[-1]))
    bound_this_process(limits.memory, limits.seconds)
    refuse_files()
    content = sys.stdin.buffer.read(limits.request + 1)
    if not content:
        return
    answers.write(reply(content, limits).encode("utf-8", "backslashreplace"))
    answers.flush()
    os._exit(0)
