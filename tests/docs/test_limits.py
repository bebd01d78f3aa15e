"""Beyond each limit of `docs/limits.md` comes what the page says."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.targets import ttir
from tileir import bytecode
from tileir.bytecode.faults import BytecodeFault
from tileir.bytecode.wire import ByteCursor, Sink
from tileir.cpu.run import execution
from tileir.ir import attributes as a
from tileir.runtime import loading
from tileir.sanitize.proofs import races
from tileir.sanitize.proofs.verdict import Answer
from tileir.tools.messages import read_content

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import limits

ROWS = [row for rows in limits.CHAPTERS.values() for row in rows]

Patch = pytest.MonkeyPatch
Beyond = Callable[[int, Patch], object]
"""Goes beyond a limit of that number; sets it lower where going beyond it would take too long."""


def entry(body: str, parameters: str = "%c: tile<i1>, %p: tile<ptr<i32>>") -> tileir.Module:
    return tileir.parse(f"entry @k({parameters}) {{\n{body}\n}}")


def many_errors(most: int, patch: Patch) -> str:
    shown = tileir.verify(entry("".join(f"%x{i} = iota : tile<2x2xi32>\n" for i in range(most + 1)))).render()
    return "a note" if f"there are more than {most} errors; the rest is not shown" in shown else shown


def launched(body: str, grid: tuple[int, ...] = (1,)) -> None:
    entry(body, "")["k"].launch(grid, target="cpu")


def large_file(most: int, patch: Patch) -> None:
    patch.setattr(loading, "MAX_BYTES", 10)
    loading.read_stream(io.BytesIO(b"// a comment"), "file")


def doubled_alias(most: int, patch: Patch) -> None:
    tileir.parse("#a0 = [1]\n" + "".join(f"#a{i + 1} = [#a{i}, #a{i}]\n" for i in range(most.bit_length())))


def large_location(most: int, patch: Patch) -> None:
    """Build call sites, each of which stands for twice as many positions as the one before."""
    scope = """#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit>
#a0 = #cuda_tile.di_loc<loc("k.py":1:1) in #sub>
"""
    sites = "".join(f"#a{i + 1} = loc(callsite(#a{i} at #a{i}))\n" for i in range(most.bit_length()))
    text = f"entry @k() {{ %x = iota : tile<4xi32> loc(#a{most.bit_length()})\n return }} loc(#a0)"
    bytecode.decode(tileir.to_bytecode(tileir.parse(scope + sites + text)))


def nested_attribute(most: int, patch: Patch) -> None:
    nested: a.Attribute = a.BoolAttr(True)
    for _ in range(most + 1):
        nested = a.ArrayAttr((nested,))
    module = entry("return")
    module.items[0].attributes["arg_attrs"] = nested
    tileir.to_bytecode(module, version="13.5")


def large_count(most: int, patch: Patch) -> str:
    sink = Sink()
    sink.varint(most + 1)
    with pytest.raises(BytecodeFault) as caught:
        ByteCursor(bytes(sink.data), 0, len(sink.data)).count()
    return caught.value.code


def endless_loop(most: int, patch: Patch) -> None:
    launched("loop { %t = make_token : token\n continue }")


def large_storage(most: int, patch: Patch) -> None:
    launched(f"%p = alloca num_elem = {most // 4 + 1}, alignment = 4 : tile<ptr<i32>>")


def large_globals(most: int, patch: Patch) -> None:
    size = 1 << 24
    items = "".join(f"global @g{i} <i64: 7> : tile<{size}xi64>\n" for i in range(most // (8 * size) + 1))
    module = tileir.parse(items + "entry @k() { %p = get_global @g0 : tile<ptr<i64>>\n return }")
    module["k"].launch(1, target="cpu")


def waiting_blocks(most: int, patch: Patch) -> None:
    patch.setattr(execution, "MOST_BYTES", 1)
    body = """%zero = constant <i32: 0> : tile<i32>
    loop {
      %x, %t = load_ptr_tko acquire device %p : tile<ptr<i32>> -> tile<i32>, token
      %go = cmpi not_equal %x, %zero, signed : tile<i32> -> tile<i1>
      if %go { break }
      continue
    }"""
    entry(body, "%p: tile<ptr<i32>>")["k"].launch(1000, np.zeros(1, np.int32), target="cpu")


def doubled_calls(most: int, patch: Patch) -> None:
    count = most.bit_length()
    call = "experimental$call @f{}() : () -> ()\n"
    functions = (f"experimental$func @f{i}() {{ {2 * call.format(i + 1)} return }}\n" for i in range(count))
    text = "".join(functions) + f"experimental$func @f{count}() {{ return }}\nentry @k() {{ {call.format(0)} return }}"
    ttir.lowered(tileir.parse(text)["k"], "sm_90")


STORE = "%x = iota : tile<{0}xi32>\n%q = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>\n"
STORE += "%r = broadcast %q : tile<1xptr<i32>> -> tile<{0}xptr<i32>>\n"
STORE += "%s = offset %r, %x : tile<{0}xptr<i32>>, tile<{0}xi32> -> tile<{0}xptr<i32>>\n"
STORE += "%t = store_ptr_tko weak %s, %x : tile<{0}xptr<i32>>, tile<{0}xi32> -> token"


def long_chain(most: int, patch: Patch) -> None:
    callers = (f"experimental$func @f{i + 1}() {{ experimental$call @f{i}() : () -> () }}" for i in range(most))
    tileir.parse("\n".join(["experimental$func @f0() {}", *callers, "entry @k() {}"]))["k"].launch(1)


def many_executions(most: int, patch: Patch) -> str:
    kernel = entry(STORE.format(1) + "\n%u = " + STORE.partition("%t = ")[2].format(1), "%p: tile<ptr<i32>>")["k"]
    report = tileir.explore(kernel, 2, np.zeros(4, np.int32), limit=1)
    return "a note" if not report.exhaustive else report.render()


def many_elements(most: int, patch: Patch) -> None:
    kernel = entry(STORE.format(2 * most), "%p: tile<ptr<i32>>")["k"]
    tileir.explore(kernel, 1, np.zeros(2 * most, np.int32))


def many_pairs(limit: str) -> Beyond:
    """Prove a program of a store to a loaded place and of one that races, which a smaller limit hides."""
    body = """%x, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %o = offset %p, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %s = store_ptr_tko weak %o, %x : tile<ptr<i32>>, tile<i32> -> token
    %u = store_ptr_tko weak %q, %x : tile<ptr<i32>>, tile<i32> -> token
    return"""

    def proved() -> Answer:
        return tileir.prove(entry(body, "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>")["k"]).races.outcome

    def beyond(most: int, patch: Patch) -> str:
        assert proved() is Answer.PRESENT
        patch.setattr(races, limit, 0)
        return f"an {proved().value} verdict"

    return beyond


def long_message(most: int, patch: Patch) -> str:
    assert read_content(io.BytesIO(b"Content-Length: %d\r\n\r\n{}" % (most + 1))) is None
    return "the end of the conversation"


def text(template: str) -> Beyond:
    return lambda most, patch: entry(template.format(most + 1))


BEYOND: dict[str, Beyond] = {
    "file of a program": large_file,
    "nesting in text": lambda most, patch: entry("if %c {\n" * (most + 1) + "}\n" * (most + 1)),
    "an alias": doubled_alias,
    "faults of a text": lambda most, patch: entry("%x = nothing\n" * (most + 1)),
    "errors of the verifier": many_errors,
    "functions that call": long_chain,
    "results that one name": text("%x:{} = get_tile_block_id : tile<i32>"),
    "elements of a tile": lambda most, patch: entry(f"%x = iota : tile<{2 * most}xi32>"),
    "an extent or stride": text(
        "%v = make_tensor_view %p, shape = [{0}], strides = [1] : tensor_view<{0}xi32, strides=[1]>"
    ),
    "nesting of regions": nested_attribute,
    "positions": large_location,
    "a count of operands": large_count,
    "tile blocks along": lambda most, patch: launched("return", (most + 1,)),
    "tile blocks of a grid": lambda most, patch: launched("return", ((1 << 24) - 1,) * 3),
    "iterations": endless_loop,
    "storage": large_storage,
    "globals": large_globals,
    "tiles of tile blocks": waiting_blocks,
    "operations that calls": doubled_calls,
    "executions": many_executions,
    "elements that one execution": many_elements,
    "pairs of different": many_pairs("MOST_PAIRS"),
    "pairs that it": many_pairs("MOST_OPEN"),
    "a message": long_message,
}


def test_every_limit_is_gone_beyond() -> None:
    assert len(BEYOND) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_beyond_a_limit_comes_what_the_page_says(row, monkeypatch: Patch) -> None:
    (beyond,) = [beyond for what, beyond in BEYOND.items() if row.what.startswith(what)]
    try:
        said = str(beyond(row.most, monkeypatch))
    except tileir.DiagnosticError as error:
        said = " ".join(error.codes)
    except (ValueError, tileir.UnsupportedError, tileir.Trap) as error:
        said = type(error).__name__
    assert row.says in said
