"""Time to read and verify a program, and to import the package.

    python bench/frontend.py

The program is generated: 10,000 operations of many kinds, in entries of a few hundred. Its peer is xdsl's parser on a
module of as many operations of MLIR's own dialects; nothing else on PyPI parses Tile IR.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from table import Row, Skipped, in_turn, markdown

import tileir

OPERATIONS = 10_000
PARSE_AIM_US = 40.0
IMPORT_AIM_S = 0.25
_IMPORT_RUNS = 9

_CELL = """\
    %a{i} = constant <f32: {value}> : tile<{m}x{n}xf32>
    %b{i} = addf %a{i}, %x rounding<{mode}> : tile<{m}x{n}xf32>
    %c{i} = fma %a{i}, %b{i}, %x flush_to_zero : tile<{m}x{n}xf32>
    %d{i} = cmpf {predicate} ordered %b{i}, %c{i} : tile<{m}x{n}xf32> -> tile<{m}x{n}xi1>
    %e{i} = select %d{i}, %b{i}, %c{i} : tile<{m}x{n}xi1>, tile<{m}x{n}xf32>
    %f{i} = permute %e{i} [1, 0] : tile<{m}x{n}xf32> -> tile<{n}x{m}xf32>
    %g{i} = reshape %f{i} : tile<{n}x{m}xf32> -> tile<{all}xf32>
    %h{i} = iota : tile<{all}xi32>
    %j{i} = offset %p, %h{i} : tile<{all}xptr<f32>>, tile<{all}xi32> -> tile<{all}xptr<f32>>
    %k{i}, %kt{i} = load_ptr_tko weak %j{i} token=%t : tile<{all}xptr<f32>> -> tile<{all}xf32>, token
    %l{i} = mulf %k{i}, %g{i} : tile<{all}xf32>
    %m{i} = reduce %l{i} dim=0 identities=[0.0 : f32] : tile<{all}xf32> -> tile<f32>
      (%u: tile<f32>, %v: tile<f32>) {{
        %w = addf %u, %v : tile<f32>
        yield %w : tile<f32>
      }}
    %n{i} = for %s in (%i0 to %i9, step %i1) : tile<i32> iter_values(%r = %m{i}) -> (tile<f32>) {{
      %q = maxf %r, %m{i} propagate_nan : tile<f32>
      continue %q : tile<f32>
    }}
    %o{i}, %ot{i} = load_view_tko weak %view[%i0, %i1] token = %kt{i}
      : partition_view<tile=({m}x{n}), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<{m}x{n}xf32>, token
    %y{i} = mmaf %o{i}, %f{i}, %square : tile<{m}x{n}xf32>, tile<{n}x{m}xf32>, tile<{m}x{m}xf32>
    %z{i} = addi %i0, %i1 overflow<{overflow}> : tile<i32>
"""
_CELL_OPERATIONS = 20
_CELLS_AN_ENTRY = 25

_ENTRY = """\
  entry @kernel{number}(%base: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>) {{
    %t = make_token : token
    %i0 = constant <i32: 0> : tile<i32>
    %i1 = constant <i32: 1> : tile<i32>
    %i9 = constant <i32: 9> : tile<i32>
    %x = constant <f32: 0.25> : tile<{m}x{n}xf32>
    %square = constant <f32: 0.0> : tile<{m}x{m}xf32>
    %base1 = reshape %base : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p = broadcast %base1 : tile<1xptr<f32>> -> tile<{all}xptr<f32>>
    %tensor = make_tensor_view %base, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %view = make_partition_view %tensor : partition_view<tile=({m}x{n}), tensor_view<?x?xf32, strides=[?,1]>>
{cells}  }}
"""
_ENTRY_OPERATIONS = _CELLS_AN_ENTRY * _CELL_OPERATIONS + 12
_MODES = ("zero", "negative_inf", "positive_inf", "nearest_even")
_PREDICATES = ("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal")
_OVERFLOWS = ("none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap")


def program(operations: int = OPERATIONS) -> str:
    """A module of about this many operations, of twenty kinds; shapes, constants and attributes vary."""
    entries = "".join(_entry(number) for number in range(round(operations / _ENTRY_OPERATIONS)))
    return f"cuda_tile.module @generated {{\n{entries}}}\n"


def _entry(number: int) -> str:
    m, n = 8 << number % 5, 8 << number // 5 % 4
    cells = "".join(_cell(i, number, m, n) for i in range(_CELLS_AN_ENTRY))
    return _ENTRY.format(number=number, m=m, n=n, all=m * n, cells=cells)


def _cell(i: int, number: int, m: int, n: int) -> str:
    mode, predicate, overflow = _MODES[i % 4], _PREDICATES[i % 6], _OVERFLOWS[i // 4 % 4]
    value = f"{number}.{i}25"
    return _CELL.format(i=i, m=m, n=n, all=m * n, value=value, mode=mode, predicate=predicate, overflow=overflow)


def peer_program(operations: int = OPERATIONS) -> str:
    """A module of about this many operations of the dialects arith and func."""
    cell = """\
    %a{i} = arith.constant 1.5 : f32
    %b{i} = arith.addf %a{i}, %x : f32
    %c{i} = arith.mulf %a{i}, %b{i} fastmath<fast> : f32
    %d{i} = arith.cmpf olt, %b{i}, %c{i} : f32
    %e{i} = arith.select %d{i}, %b{i}, %c{i} : f32
    %f{i} = arith.constant 7 : i32
    %g{i} = arith.addi %f{i}, %n : i32
    %h{i} = arith.muli %g{i}, %n : i32
    %j{i} = arith.cmpi slt, %g{i}, %h{i} : i32
    %k{i} = arith.maximumf %e{i}, %x : f32
"""
    body = "".join(cell.format(i=i) for i in range(50))
    function = "  func.func @f{n}(%x: f32, %n: i32) {{\n{body}    func.return\n  }}\n"
    functions = "".join(function.format(n=n, body=body) for n in range(round(operations / 502)))
    return f"builtin.module {{\n{functions}}}\n"


def _peer() -> Callable[[str], object]:
    try:
        from xdsl.context import Context
        from xdsl.dialects.arith import Arith
        from xdsl.dialects.builtin import Builtin
        from xdsl.dialects.func import Func
        from xdsl.parser import Parser
    except ImportError:
        raise Skipped("xdsl is not installed: pip install '.[bench]'") from None

    def parse(text: str) -> object:
        context = Context()
        for dialect in (Builtin, Arith, Func):
            context.load_dialect(dialect)
        return Parser(context, text).parse_module()

    return parse


def _count_xdsl(module: object) -> int:
    return sum(1 for _ in module.walk())  # type: ignore[attr-defined]


def reading() -> list[Row]:
    text = program()
    module = tileir.parse(text)
    count = sum(1 for _ in module.walk())
    assert tileir.verify(module).ok

    def both() -> None:
        assert tileir.verify(tileir.parse(text)).ok

    parse_peer = _peer()
    peer_text = peer_program()
    peer_count = _count_xdsl(parse_peer(peer_text))
    ours, parse_only, peers = in_turn(both, lambda: tileir.parse(text), lambda: parse_peer(peer_text))
    whole, part, other = ours / count * 1e6, parse_only / count * 1e6, peers / peer_count * 1e6
    aim = f"<= {PARSE_AIM_US:g} us/op"
    return [
        Row(f"parse + verify, {count} operations", "us/op", whole, "xdsl: parse", other, aim, whole <= PARSE_AIM_US),
        Row("parse alone", "us/op", part, "xdsl: parse", other, "faster", part < other),
    ]


def importing() -> list[Row]:
    """Seconds that ``import`` adds to starting Python, beside NumPy's."""
    statements = ("import tileir", "import numpy", "pass")
    ours, numpy, empty = in_turn(*(partial(_start, statement) for statement in statements), runs=_IMPORT_RUNS)
    ours, numpy = ours - empty, numpy - empty
    return [Row("import tileir", "s", ours, "import numpy", numpy, f"<= {IMPORT_AIM_S:g} s", ours <= IMPORT_AIM_S)]


def _start(statement: str) -> None:
    """Start Python with a bytecode cache; without one it would compile the package at every start, which is not import
    time."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", statement], check=True, env=kept)


MEASUREMENTS = (reading, importing)

if __name__ == "__main__":
    print(markdown([row for measure in MEASUREMENTS for row in measure()]))
