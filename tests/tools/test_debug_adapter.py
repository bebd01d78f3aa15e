"""The debugger answers a client of the Debug Adapter Protocol, over standard input and output."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from framed import FramedProcess
from launches import RACE

ARGUMENTS = ["x=f32[16]:arange", "total=f32[1]:zeros"]
DEEP = b"[" * 100_000


class DebugClient:
    """An editor that debugs one launch."""

    def __init__(self, program: Path, grid: int = 4, words: list[str] | None = None) -> None:
        self.path = str(program)
        given = [str(program), "--grid", str(grid), *ARGUMENTS] if words is None else words
        self.process = FramedProcess(["debug", "--dap", *given])
        self._numbers = itertools.count(1)

    def answer(self, command: str, **arguments: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self.process.send({"seq": number, "type": "request", "command": command, "arguments": arguments})
        return self.process.wait_for(lambda one: one["type"] == "response" and one["request_seq"] == number)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = self.answer(command, **arguments)
        assert answer["success"], answer
        return answer.get("body") or {}

    def event(self, name: str) -> dict[str, Any]:
        return self.process.wait_for(lambda one: one["type"] == "event" and one["event"] == name).get("body") or {}

    def begin(self, lines: dict[int, str | None] | None = None, stop_on_entry: bool = False) -> list[dict[str, Any]]:
        """The whole beginning of a conversation; the breakpoints as they were taken."""
        self.ask("initialize", adapterID="tileir", linesStartAt1=True)
        self.event("initialized")
        self.ask("launch", stopOnEntry=stop_on_entry)
        wanted = [{"line": line, **({"condition": when} if when else {})} for line, when in (lines or {}).items()]
        taken = self.ask("setBreakpoints", source={"path": self.path}, breakpoints=wanted)["breakpoints"]
        self.ask("configurationDone")
        return taken

    def stopped(self) -> tuple[str, int]:
        """Why and at which line it has stopped."""
        reason = self.event("stopped")["reason"]
        return reason, self.ask("stackTrace", threadId=1)["stackFrames"][0]["line"]

    def go(self, command: str) -> tuple[str, int]:
        self.ask(command, threadId=1)
        return self.stopped()

    def value(self, text: str) -> str:
        return self.ask("evaluate", expression=text)["result"]

    def close(self) -> None:
        self.process.send({"seq": 9999, "type": "request", "command": "disconnect"})
        said = self.process.close()
        assert "Traceback" not in said, said


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "race.mlir"
    path.write_text(RACE)
    return path


@pytest.fixture
def client(program: Path) -> Iterator[DebugClient]:
    found = DebugClient(program)
    yield found
    found.close()


def test_breakpoints_values_and_the_end(client: DebugClient) -> None:
    taken = client.begin({13: "%i == 2", 1: None, 99: None})
    assert [one["verified"] for one in taken] == [True, True, False] and taken[1]["line"] == 3
    assert client.stopped() == ("breakpoint", 3)
    client.ask("setBreakpoints", source={"path": client.path}, breakpoints=[{"line": 13, "condition": "%i == 2"}])
    assert client.go("continue") == ("breakpoint", 13)
    assert client.value("%acc") == "1.0" and client.value("x[0:2]").endswith("[0. 1.]")
    frames = client.ask("stackTrace", threadId=1)["stackFrames"]
    assert [frame["name"] for frame in frames] == ["%next = addf %acc, %value", "for, iteration 3"]
    assert frames[0]["source"]["path"] == client.path
    scopes = {scope["name"]: scope["variablesReference"] for scope in client.ask("scopes", frameId=0)["scopes"]}
    values = client.ask("variables", variablesReference=scopes["Values"])["variables"]
    assert {"name": "%i", "value": "2", "type": "tile<i32>", "variablesReference": 0, "evaluateName": "%i"} in values
    (x, total) = client.ask("variables", variablesReference=scopes["Arrays"])["variables"]
    assert (x["name"], total["name"]) == ("x", "total")
    children = client.ask("variables", variablesReference=x["variablesReference"])["variables"]
    assert [child["value"] for child in children[:3]] == ["0.0", "1.0", "2.0"]
    client.ask("setBreakpoints", source={"path": client.path}, breakpoints=[])
    client.ask("continue", threadId=1)
    assert client.event("exited")["exitCode"] == 0
    client.event("terminated")


def test_steps_forward_and_back(client: DebugClient) -> None:
    client.begin({10: None}, stop_on_entry=True)
    assert client.stopped() == ("entry", 3)
    assert client.go("continue") == ("breakpoint", 10)
    assert client.go("stepIn") == ("step", 11)
    assert client.go("next") == ("step", 12)
    assert client.go("stepBack") == ("step", 11)
    assert client.go("stepOut") == ("step", 16)
    assert client.go("reverseContinue") == ("breakpoint", 10)
    assert client.go("next") == ("step", 16)


def test_operations_and_memory_can_be_breakpoints(client: DebugClient) -> None:
    client.begin(stop_on_entry=True)
    client.stopped()
    taken = client.ask("setFunctionBreakpoints", breakpoints=[{"name": "store_ptr_tko"}, {"name": "nothing"}])
    assert [one["verified"] for one in taken["breakpoints"]] == [True, False]
    assert client.go("continue") == ("breakpoint", 18)
    client.ask("setFunctionBreakpoints", breakpoints=[])
    assert client.ask("dataBreakpointInfo", name="total[0]")["dataId"] == "total[0]"
    client.ask("setDataBreakpoints", breakpoints=[{"dataId": "total[0]"}])
    assert client.go("continue")[0] == "data breakpoint"


def test_a_trap_is_an_exception_with_the_values_that_led_to_it(program: Path) -> None:
    client = DebugClient(program, grid=5)
    client.begin()
    assert client.stopped() == ("exception", 12)
    info = client.ask("exceptionInfo", threadId=1)
    assert info["exceptionId"] == "trap" and "%begin = 16 : tile<i32>" in info["details"]["stackTrace"]
    assert client.go("stepBack")[1] == 11
    client.ask("continue", threadId=1)
    assert client.stopped()[0] == "exception"
    client.ask("continue", threadId=1)
    assert client.event("exited")["exitCode"] == 1
    client.close()


def test_what_is_wrong_is_answered(client: DebugClient) -> None:
    client.begin(stop_on_entry=True)
    client.stopped()
    assert "no value '%nothing'" in client.answer("evaluate", expression="%nothing")["message"]
    assert "not supported" in client.answer("__class__")["message"]
    assert not client.answer("variables", variablesReference=5000)["success"]
    assert not client.answer("setBreakpoints")["success"]
    assert client.value("block_x") == "0"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("launch", "stop"),
        ("setBreakpoints", {"source": 5}),
        ("setBreakpoints", {"source": {"path": "p"}, "breakpoints": ["here"]}),
        ("setBreakpoints", {"source": {"path": "p"}, "breakpoints": 7}),
        ("setDataBreakpoints", {"breakpoints": [{"dataId": 3.5e9}, {"dataId": [0]}]}),
        ("setFunctionBreakpoints", {"breakpoints": [{"name": []}]}),
        ("variables", {"variablesReference": float("inf")}),
    ],
)
def test_arguments_of_another_form_are_refused(client: DebugClient, command: str, arguments: object) -> None:
    client.begin(stop_on_entry=True)
    client.stopped()
    client.process.send({"seq": 100, "type": "request", "command": command, "arguments": arguments})
    answer = client.process.wait_for(lambda one: one.get("request_seq") == 100)
    assert not answer["success"] and answer["message"]
    assert client.value("block_x") == "0"


def test_a_condition_may_be_a_number(client: DebugClient) -> None:
    client.begin(stop_on_entry=True)
    client.stopped()
    client.ask("setBreakpoints", source={"path": client.path}, breakpoints=[{"line": 13, "condition": 1}])
    assert client.go("continue") == ("breakpoint", 13)


@pytest.mark.parametrize(
    "sent",
    [
        b"Content-Length: 100000\r\n\r\n" + DEEP,
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
        b"Content-Length: 4\r\n\r\n[{}]",
        b"no header",
    ],
    ids=["deep", "huge", "digits", "list", "cut"],
)
def test_what_is_no_message_ends_the_conversation(program: Path, sent: bytes) -> None:
    process = DebugClient(program).process
    process.write(sent)
    assert "Traceback" not in process.close()


def test_the_launch_request_names_the_program(program: Path) -> None:
    client = DebugClient(program, words=[])
    client.ask("initialize", adapterID="tileir")
    assert "nothing is launched" in client.answer("setBreakpoints", source={"path": client.path})["message"]
    assert 'expected "program"' in client.answer("launch", grid="4")["message"]
    assert "another grid" in client.answer("launch", program=client.path, grid=4)["message"]
    assert "no such file" in client.answer("launch", program=client.path + "x", grid="4")["message"]
    assert "expected a --grid" in client.answer("launch", program=client.path, arguments=ARGUMENTS)["message"]
    client.ask("launch", program=client.path, grid="4", arguments=ARGUMENTS, block="1", stopOnEntry=False)
    client.event("initialized")
    client.ask("setBreakpoints", source={"path": client.path}, breakpoints=[{"line": 13}])
    client.ask("configurationDone")
    assert client.stopped() == ("breakpoint", 13)
    assert client.value("block_x") == "1"
    client.close()
