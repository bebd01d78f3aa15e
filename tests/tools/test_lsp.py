"""The language server answers a client of the protocol, over standard input and output."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from framed import FramedProcess

from tests.processes import ROOT
from tests.thorough import sampled

pytest.importorskip("pygls", reason="the language server needs pygls")

URI = "file:///work/kernel.mlir"
PROGRAM = """\
cuda_tile.module @m {
  // a comment
  entry @scale(%x: tile<ptr<f32>>, %n: tile<i32>) {
    %m = assume div_by<16>, %n : tile<i32>
    %id, %idy, %idz = get_tile_block_id : tile<i32>
    %two = constant <i32: 128> : tile<i32>
    %first = muli %id, %two : tile<i32>
    %lanes = iota : tile<128xi32>
    %zero = constant <i32: 0> : tile<i32>
    %sum = for %i in (%zero to %m, step %two) : tile<i32> iter_values(%acc = %zero) -> (tile<i32>) {
      %next = addi %acc, %i : tile<i32>
      continue %next : tile<i32>
    }
    return
  }
}
"""


class Editor:
    """An editor with one document."""

    def __init__(self) -> None:
        self.process = FramedProcess(["lsp"])
        self._ids = itertools.count(1)
        self.version = 0
        self.text = ""
        answer = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.capabilities = answer["capabilities"]
        self.tell("initialized", {})

    def ask(self, method: str, params: dict[str, Any] | None) -> Any:
        answer = self.answer(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def answer(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        number = next(self._ids)
        self.process.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.process.wait_for(lambda message: message.get("id") == number and "method" not in message)

    def tell(self, method: str, params: dict[str, Any]) -> None:
        self.process.send({"jsonrpc": "2.0", "method": method, "params": params})

    def open(self, text: str, uri: str = URI) -> list[dict[str, Any]]:
        """Open the document; what is wrong with it."""
        self.text, self.version = text, self.version + 1
        document = {"uri": uri, "languageId": "tileir", "version": self.version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.found()

    def change(self, old: str, new: str) -> list[dict[str, Any]]:
        """Replace the first `old` in the document, as an edit of a range; what is wrong then."""
        self.version += 1
        edit = {"range": {"start": self.at(old), "end": self.at(old, len(old))}, "text": new}
        self.text = self.text.replace(old, new, 1)
        document = {"uri": URI, "version": self.version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [edit]})
        return self.found()

    def found(self) -> list[dict[str, Any]]:
        def wanted(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            return message.get("method") == "textDocument/publishDiagnostics" and params.get("version") == self.version

        return self.process.wait_for(wanted)["params"]["diagnostics"]

    def at(self, what: str, ahead: int = 0, times: int = 1) -> dict[str, int]:
        """The position `ahead` of the beginning of `what`, where it stands for the n-th time."""
        offset = -1
        for _ in range(times):
            offset = self.text.index(what, offset + 1)
        before = self.text[: offset + ahead]
        line = before.count("\n")
        column = before[before.rfind("\n") + 1 :]
        return {"line": line, "character": len(column.encode("utf-16-le")) // 2}

    def about(self, method: str, position: dict[str, int] | None = None, **more: Any) -> Any:
        """Ask about the document, or a position in it."""
        params: dict[str, Any] = {"textDocument": {"uri": URI}, **more}
        if position is not None:
            params["position"] = position
        return self.ask(f"textDocument/{method}", params)

    def applied(self, edits: list[dict[str, Any]]) -> str:
        """The text with edits in it."""
        lines = self.text.split("\n")

        def offset(position: dict[str, int]) -> int:
            return sum(len(line) + 1 for line in lines[: position["line"]]) + position["character"]

        text = self.text
        for edit in sorted(edits, key=lambda edit: -offset(edit["range"]["start"])):
            begin, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
            text = text[:begin] + edit["newText"] + text[end:]
        return text

    def close(self) -> str:
        self.ask("shutdown", None)
        self.tell("exit", {})
        return self.process.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Editor]:
    editor = Editor()
    yield editor
    said = editor.close()
    assert "Traceback" not in said, said


@pytest.fixture
def editor(shared: Editor) -> Iterator[Editor]:
    yield shared
    shared.tell("textDocument/didClose", {"textDocument": {"uri": URI}})


def test_a_sound_program_has_no_diagnostics(editor: Editor) -> None:
    assert editor.open(PROGRAM) == []


def test_diagnostics_follow_what_is_typed(editor: Editor) -> None:
    editor.open(PROGRAM)
    (fault,) = editor.change("muli %id", "mulf %id")
    assert fault["code"] == "E0203" and "hint: 'muli' takes integers" in fault["message"]
    assert fault["range"]["start"] == editor.at("mulf")
    assert editor.change("mulf", "muli") == []


def test_a_fault_of_the_text_does_not_hide_names(editor: Editor) -> None:
    editor.open(PROGRAM)
    (fault,) = editor.change("iota :", "iotta :")
    assert "did you mean 'iota'" in fault["message"]
    assert "%first : tile<i32>" in editor.about("hover", editor.at("%first"))["contents"]["value"]


@pytest.mark.parametrize(("right", "wrong"), [("iota", "iotta"), ("muli", "mulf"), ("%acc, %i :", "%ac, %i :")])
def test_a_hint_can_be_applied(editor: Editor, right: str, wrong: str) -> None:
    editor.open(PROGRAM.replace(right, wrong, 1))
    begin = editor.at(wrong)
    actions = editor.about("codeAction", range={"start": begin, "end": begin}, context={"diagnostics": []})
    assert actions, "a fix-it is offered"
    assert editor.applied(actions[0]["edit"]["changes"][URI]) == PROGRAM


def test_hover_tells_type_bounds_and_divisor(editor: Editor) -> None:
    editor.open(PROGRAM)
    first = editor.about("hover", editor.at("%first"))["contents"]["value"]
    assert "%first : tile<i32>" in first and "`128*block_x`" in first and "a multiple of 128" in first
    promised = editor.about("hover", editor.at("%m ="))["contents"]["value"]
    assert "`n`" in promised.replace("%", "") and "a multiple of 16" in promised
    lanes = editor.about("hover", editor.at("%lanes"))["contents"]["value"]
    assert "from 0 to 127" in lanes and "| 0 | 128 |" in lanes


def test_hover_shows_the_manual_of_an_operation(editor: Editor) -> None:
    editor.open(PROGRAM)
    text = editor.about("hover", editor.at("addi"))["contents"]["value"]
    assert "# addi" in text and "%lhs, %rhs" in text and "opcode" in text


def test_definition_and_references_know_scopes(editor: Editor) -> None:
    editor.open(PROGRAM)
    (place,) = editor.about("definition", editor.at("%two : tile<i32>\n"))
    assert place["range"]["start"] == editor.at("%two =")
    places = editor.about("references", editor.at("%zero ="), context={"includeDeclaration": True})
    assert len(places) == 3
    loop = editor.about("references", editor.at("%acc"), context={"includeDeclaration": False})
    assert [place["range"]["start"] for place in loop] == [editor.at("%acc, %i")]


def test_rename_changes_all_places_and_refuses_a_name_that_is_taken(editor: Editor) -> None:
    editor.open(PROGRAM)
    edit = editor.about("rename", editor.at("%two ="), newName="width")
    assert editor.applied(edit["changes"][URI]) == PROGRAM.replace("%two", "%width")
    edit = editor.about("rename", editor.at("@scale"), newName="@other")
    assert editor.applied(edit["changes"][URI]) == PROGRAM.replace("@scale", "@other")
    params = {"textDocument": {"uri": URI}, "position": editor.at("%two ="), "newName": "%lanes"}
    assert "which line 8 defines" in editor.answer("textDocument/rename", params)["error"]["message"]


def test_completion_offers_operations_values_types_and_words(editor: Editor) -> None:
    editor.open(PROGRAM)

    def labels(what: str, ahead: int) -> list[str]:
        return [item["label"] for item in editor.about("completion", editor.at(what, ahead))["items"]]

    assert {"addi", "addf", "load_view_tko"} <= set(labels("addi %acc", 2))
    visible = labels("%acc, %i", 1)
    assert visible[0] in ("%acc", "%i") and "%zero" in visible and "%next" not in visible and "%sum" not in visible
    assert {"tile", "token", "f32"} <= set(labels(": tile<128xi32>", 2))
    assert "overflow" in labels("addi %acc, %i :", len("addi %acc, %i "))


def test_signature_marks_the_operand_being_written(editor: Editor) -> None:
    editor.open(PROGRAM)
    shown = editor.about("signatureHelp", editor.at("addi %acc, %i", len("addi %acc, ")))
    (signature,) = shown["signatures"]
    assert signature["label"].startswith("%result = addi %lhs, %rhs") and shown["activeParameter"] == 1
    begin, end = signature["parameters"][1]["label"]
    assert signature["label"][begin:end] == "%rhs"


def test_types_stand_beside_names_that_have_none(editor: Editor) -> None:
    editor.open(PROGRAM)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    hints = editor.about("inlayHint", range=whole)
    shown = {(hint["position"]["line"], hint["label"]) for hint in hints}
    assert (9, ": tile<i32>") in shown
    assert not any(line == 6 for line, _ in shown), "its type is on the line"


def test_the_outline_has_entries_and_loops(editor: Editor) -> None:
    editor.open(PROGRAM)
    (module,) = editor.about("documentSymbol")
    (entry,) = module["children"]
    assert (module["name"], entry["name"]) == ("@m", "@scale")
    assert [inner["name"] for inner in entry["children"]] == ["for"]
    assert entry["range"]["end"]["line"] == 14
    assert {"startLine": 9, "endLine": 12} in [{key: fold[key] for key in ("startLine", "endLine")} for fold in
                                               editor.about("foldingRange")]  # fmt: skip


def test_semantic_tokens_are_in_order_and_cover_the_words(editor: Editor) -> None:
    editor.open(PROGRAM)
    data = editor.about("semanticTokens/full")["data"]
    legend = editor.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    lines, line, column, found = editor.text.split("\n"), 0, 0, {}
    for step, ahead, length, kind, _ in itertools.batched(data, 5) if hasattr(itertools, "batched") else _fives(data):
        line, column = line + step, ahead if step else column + ahead
        found.setdefault(legend[kind], set()).add(lines[line][column : column + length])
    assert {"addi", "entry", "for"} <= found["keyword"]
    assert found["comment"] == {"// a comment"}
    assert {"%x", "%n"} <= found["parameter"] and "%acc" in found["variable"]
    assert "tile<128xi32>" in found["type"] and {"@m", "@scale"} == found["function"]


def _fives(data: list[int]) -> Iterator[tuple[int, ...]]:
    return zip(*[iter(data)] * 5)


def test_a_question_about_a_closed_document_is_refused(editor: Editor) -> None:
    editor.open(PROGRAM)
    editor.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
    params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
    error = editor.answer("textDocument/hover", params)["error"]
    assert error["message"] == f"expected an open document, got '{URI}'" and "data" not in error


def test_formatting_changes_blanks_only(editor: Editor) -> None:
    ragged = PROGRAM.replace("    %", "  %").replace(", ", " ,").replace("(%x", "( %x")
    editor.open(ragged)
    edits = editor.about("formatting", options={"tabSize": 2, "insertSpaces": True})
    assert editor.applied(edits) == PROGRAM
    editor.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
    editor.open(PROGRAM)
    assert editor.about("formatting", options={"tabSize": 2, "insertSpaces": True}) == []


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.mlir")), ids=lambda path: path.stem)
def test_the_examples_have_no_diagnostics_and_keep_their_form(editor: Editor, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert editor.open(text) == []
    edits = editor.about("formatting", options={"tabSize": 2, "insertSpaces": True})
    assert editor.applied(edits) == text


def test_lenses_run_and_show_an_entry(editor: Editor) -> None:
    editor.open(PROGRAM)
    commands = [lens["command"] for lens in editor.about("codeLens")]
    assert [command["title"] for command in commands] == ["run this entry", "show LLVM IR", "show PTX"]
    arguments = {"command": "tileir.stage", "arguments": [URI, "llvm", 4]}
    assert "define" in editor.ask("workspace/executeCommand", arguments)["text"]
    arguments = {"command": "tileir.stage", "arguments": [URI, "nothing", 4]}
    assert "no stage" in editor.ask("workspace/executeCommand", arguments)["error"]


def test_a_command_line_runs_an_entry(editor: Editor) -> None:
    editor.open(PROGRAM)
    words = editor.ask("workspace/executeCommand", {"command": "tileir.launch", "arguments": [URI, "scale"]})["words"]
    assert words == ["run", "/work/kernel.mlir", "--kernel", "scale", "--grid", "1", "x=f32[1024]:zeros", "n=i32:1"]


def test_a_file_of_launches_names_the_command_line(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "kernels" / "kernel.mlir"
    file.parent.mkdir()
    launches = tmp_path / "tileir_launches.json"
    request = {"command": "tileir.launch", "arguments": [file.as_uri(), "scale"]}
    editor.open(PROGRAM, file.as_uri())
    made, known = ["1", "x=f32[1024]:zeros", "n=i32:1"], ["4", "x=f32[64]:arange", "n=64"]
    for content, words in (({"scale": ["--grid", *known]}, known), ({"scale": "--grid 4"}, made), ([], made)):
        launches.write_text(json.dumps({"kernels/kernel.mlir": content}))
        found = editor.ask("workspace/executeCommand", request)["words"]
        assert found == ["run", str(file), "--kernel", "scale", "--grid", *words]


def test_columns_are_counted_in_utf_16(editor: Editor) -> None:
    text = PROGRAM.replace("// a comment", "/" * 2 + " \U0001f642").replace(
        "    return", "    /" + "/ é\U0001f642\n    return"
    )
    text = text.replace("entry @scale(", 'entry @"\U0001f642"(')
    assert editor.open(text) == []
    (place,) = editor.about("definition", editor.at("%n : tile"))
    assert place["range"]["start"] == editor.at("%n: tile")


@pytest.mark.parametrize(
    "text", ["", "\x00\x01", "entry @k(", "%", "}" * 500, "{" * 5000, '"' * 99, "@" * 50 + "\n%a = "]
)
def test_any_text_is_answered(editor: Editor, text: str) -> None:
    editor.open(text)
    start = {"line": 0, "character": 0}
    whole = {"start": start, "end": {"line": 9, "character": 9}}
    for method in ("hover", "completion", "signatureHelp", "definition", "documentHighlight"):
        editor.about(method, {"line": 0, "character": 1})
    for method in ("documentSymbol", "foldingRange", "codeLens", "semanticTokens/full"):
        editor.about(method)
    editor.about("inlayHint", range=whole)
    editor.about("codeAction", range=whole, context={"diagnostics": []})
    editor.about("formatting", options={"tabSize": 2, "insertSpaces": True})


def _conversation(*frames: bytes) -> FramedProcess:
    process = FramedProcess(["lsp"])
    process.write(b"".join(frames))
    return process


INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
)


def _frame(content: bytes, header: bytes = b"Content-Length: %d\r\n\r\n") -> bytes:
    return header % len(content) + content


@pytest.mark.parametrize("header", sampled([b"CONTENT-LENGTH:%d\n\n", b"content-length: %d\r\n\r\n"], 2))
def test_headers_may_be_in_any_case(header: bytes) -> None:
    process = _conversation(_frame(INITIALIZE, header))
    assert "capabilities" in process.wait_for(lambda message: message.get("id") == 1)["result"]
    assert process.close() == ""


@pytest.mark.parametrize("length", sampled([b"99999999999999999999", b"999999999999", b"9" * 5000, b"-1"], 4))
def test_a_message_of_an_impossible_length_ends_the_conversation(length: bytes) -> None:
    said = _conversation(b"Content-Length: " + length + b"\r\n\r\n" + INITIALIZE).close()
    assert said == "tileir: expected a header 'Content-Length: N' of at most 268435456 bytes\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{nonsense", "Expecting property name"),
        (b"[" * 100_000, "recursion"),
        (INITIALIZE.replace(b'{"processId":null,"rootUri":null,"capabilities":{}}', b"5"), "Invalid Params"),
    ],
    ids=["nonsense", "deep", "parameters"],
)
def test_a_message_that_cannot_be_read_is_reported_and_passed_over(content: bytes, reason: str) -> None:
    process = _conversation(_frame(content), _frame(INITIALIZE))
    assert (
        reason in process.wait_for(lambda message: message.get("method") == "window/showMessage")["params"]["message"]
    )
    assert "capabilities" in process.wait_for(lambda message: message.get("id") == 1)["result"]
    said = process.close()
    assert reason in said and "Traceback" not in said
