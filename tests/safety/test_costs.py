"""Programs of unusual sizes take time and memory in proportion to their length.

Memory is what Python counts, time that of the processor, both with bounds some times above what is needed: what these
tests are there for took fifty times as much.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tileir
from tests.thorough import sampled
from tileir.cli import main

SECONDS = 10


@contextmanager
def processor_seconds(limit: float) -> Iterator[None]:
    begin = time.process_time()
    yield
    assert time.process_time() - begin < limit


def peak_bytes(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def held_bytes(action: Callable[[], object]) -> int:
    """Return the memory left while the result is held."""
    tracemalloc.start()
    try:
        result = action()
        assert result is not None
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def failure(text: str) -> tileir.DiagnosticError:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.verify(tileir.parse(text)).raise_if_errors()
    return caught.value


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "text",
    [
        "!t = !t",
        "!t = tile<!t>",
        "!t = (!t) -> i32",
        "#a = #a",
        "#a = [#a]",
        "!t = ptr<!t>\nentry @k(%x: !t) { return }",
    ],
)
def test_an_alias_that_names_itself_is_not_defined(text: str) -> None:
    assert failure(text).codes == ["E0121"]


LONG = "z" * 1_000_000
LONG_NAMES = {
    "operation": f"entry @k() {{ {LONG} }}",
    "generic operation": f'entry @k() {{ "{LONG}"() : () -> () }}',
    "value": f"entry @k() {{ %x = absi %{LONG} : tile<i32>\n return }}",
    "value twice": f"entry @k(%{LONG}: tile<i32>, %{LONG}: tile<i32>) {{ return }}",
    "value of another type": f"entry @k(%{LONG}: tile<i32>) {{ %x = absi %{LONG} : tile<i64>\n return }}",
    "result of a pack": f"entry @k(%{LONG}: tile<i32>) {{ %x = absi %{LONG}#{LONG.replace('z', '9')} : tile<i32> }}",
    "type": f"entry @k(%x: tile<4x{LONG}>) {{ return }}",
    "type alias": f"entry @k(%x: !{LONG}) {{ return }}",
    "type alias twice": f"!{LONG} = i32\n!{LONG} = i32",
    "alias": f"entry @k() {{ return }} {{a = #{LONG}}}",
    "key": f"entry @k() {{ return }} {{{LONG}, {LONG}}}",
    "keyword": f"entry @k(%x: tile<f32>) {{ %y = addf %x, %x rounding<{LONG}> : tile<f32> }}",
    "property": f'entry @k() {{ "make_token"() <{{{LONG} = 1}}> : () -> token }}',
    "label": f"entry @k() {{ return\n ^{LONG}: }}",
    "kernel": f"entry @{LONG}() {{ return }} entry @{LONG}() {{ return }}",
    "global": f"entry @k() {{ %x = get_global @{LONG} : tile<ptr<i32>> }}",
    "function": f"entry @k() {{ experimental$call @{LONG}() : () -> () }}",
}


@pytest.mark.parametrize("kind", LONG_NAMES)
def test_names_are_cut_in_messages(kind: str) -> None:
    error = failure(LONG_NAMES[kind])
    assert all(len(found.message) < 500 for found in error.diagnostics)
    assert len(str(error)) < 2000
    assert len(json.dumps([found.to_json() for found in error.diagnostics])) < 2000


# ---------------------------------------------------------------- operations


def test_an_operation_takes_little_memory() -> None:
    count = 5_000
    body = "".join(f"%x{index} = addi %a, %a : tile<i32>\n" for index in range(count))
    text = f"entry @k(%a: tile<i32>) {{\n{body}return }}"
    data = tileir.to_bytecode(tileir.parse(text))
    for read in (lambda: tileir.parse(text), lambda: tileir.from_bytecode(data)):
        read()  # what is made once for all programs
        assert held_bytes(read) < 300 * count


def test_the_smallest_operations_take_a_hundred_times_their_file_at_most() -> None:
    """One has two bytes."""
    count = 20_000
    text = "entry @k() {\n" + "".join(f"%{index} = make_token : token\n" for index in range(count)) + "return }"
    data = tileir.to_bytecode(tileir.parse(text))
    assert len(data) < 2 * count + 200
    tileir.from_bytecode(data)
    assert peak_bytes(lambda: tileir.from_bytecode(data)) < 100 * len(data)


# ---------------------------------------------------------------- constants and formats


@pytest.mark.thorough
@pytest.mark.parametrize(("element", "size"), [("i1", 1), ("i8", 1), ("tf32", 3)])
def test_a_long_constant_takes_a_few_times_its_text(element: str, size: int) -> None:
    count = 1 << 20
    data = "00" * (count * size - 1) + "01"
    text = f'global @g <{element}: "0x{data}"> : tile<{count}x{element}>\nentry @k() {{ return }}'

    def there_and_back() -> None:
        module = tileir.from_bytecode(tileir.to_bytecode(tileir.parse(text)))
        assert data in tileir.to_text(module)

    assert peak_bytes(there_and_back) < 8 * len(text)


FORMATS = {
    "conversions": "%d" * 1_000_000,
    "percent signs": "%%" * 500_000 + "%d",
    "a field of zeros": "%" + "0" * 1_000_000 + "d",
    "a width": "%" + "9" * 1_000_000 + "d",
    "a precision": "%." + "9" * 1_000_000 + "d",
    "a precision of zeros": "%." + "0" * 1_000_000 + "d",
    "no letter": "%" + "0" * 1_000_000 + "~",
    "blanks": "% " * 500_000,
}


@pytest.mark.parametrize("kind", sampled(FORMATS, 3))
@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_long_format_is_read_once(kind: str, target: str) -> None:
    text = f"""entry @k(%n: tile<i32>) {{
      %t = print_tko "{FORMATS[kind]}", %n : tile<i32> -> token
      return
    }}"""
    printed: list[str] = []
    with processor_seconds(SECONDS):
        module = tileir.parse(text)
        if tileir.verify(module).ok:
            module["k"].launch(1, 7, target=target, output=printed.append)
            assert "7" in "".join(printed)
        else:
            assert kind in ("conversions", "no letter", "blanks")


# ---------------------------------------------------------------- many operations

MANY = 2500


def operations(count: int) -> str:
    body = "\n".join(f"  %x{index + 1} = addi %x{index}, %x{index} : tile<i32>" for index in range(count))
    return f"entry @k(%x0: tile<i32>) {{\n{body}\n  return\n}}"


def entries(count: int) -> str:
    return "\n".join(f"entry @k{index}() {{ return }}" for index in range(count))


@pytest.mark.parametrize(("text", "limit"), [(operations(MANY), 1000), (entries(MANY), 2000)])
def test_each_operation_takes_so_much_memory(text: str, limit: int) -> None:
    """In bytes, with all that is known of it while it is read; afterwards it is two thirds."""
    assert peak_bytes(lambda: tileir.verify(tileir.parse(text)).raise_if_errors()) < limit * MANY
    data = tileir.to_bytecode(tileir.parse(text))
    assert peak_bytes(lambda: tileir.from_bytecode(data)) < limit * MANY


@pytest.mark.parametrize("program", [operations, entries])
def test_many_operations_take_time_in_proportion(program: Callable[[int], str]) -> None:
    def seconds(count: int) -> float:
        begin = time.process_time()
        module = tileir.parse(program(count))
        tileir.verify(module).raise_if_errors()
        tileir.from_bytecode(tileir.to_bytecode(module))
        tileir.to_text(module)
        return time.process_time() - begin

    seconds(10)
    few, many = (min(seconds(count) for _ in range(3)) for count in (250, 4000))
    assert many < 4 * 16 * few


@pytest.mark.parametrize("chunk", ["", "entry @k() { return }\n", "\n" * 100])
def test_many_chunks_of_a_file_are_checked_one_by_one(
    chunk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = 1000
    path = tmp_path / "chunks.mlir"
    path.write_text(f"{chunk}// -----\n" * count + "wrong")
    assert main(["check", str(path)]) == 1  # imports what it needs
    capsys.readouterr()
    peak = peak_bytes(lambda: main(["check", "--split-input-file", str(path)]))
    shown = capsys.readouterr().out
    assert shown.count(": ok") == count
    lines = count * (1 + chunk.count("\n")) + 1
    assert f"chunks.mlir:{lines}:1: error" in shown and f"\n {lines} | wrong" in shown
    assert peak < 50_000_000
