"""Programs for the rewrite rows that are not patterns: one for each, in which the row applies.

Each is the body of an entry with scalar parameters, which ends by storing its results.

A body is text in which ``OUT %v`` stores an i32 and ``REAL %v`` an f32, each at a place of its own.
"""

from __future__ import annotations

import re

_HEAD = """\
cuda_tile.module @m {{
{items}
  entry @k(%flag: tile<i1>, %a: tile<i32>, %b: tile<i32>, %x: tile<f32>, %y: tile<f32>,
           %out: tile<ptr<i32>>, %real: tile<ptr<f32>>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %true = constant <i1: true> : tile<i1>
{body}
  }}
}}
"""
_STORED = {"OUT": ("out", "i32"), "REAL": ("real", "f32")}


def program(body: str, items: str = "") -> str:
    """The text of a program with that body of its entry."""
    lines: list[str] = []
    for number, line in enumerate(body.strip().splitlines()):
        found = re.fullmatch(r"\s*(OUT|REAL) (%[\w#]+)", line)
        lines += [line] if found is None else _store(number, *_STORED[found[1]], found[2])
    return _HEAD.format(items=items, body="\n".join(lines))


def _store(number: int, base: str, element: str, value: str) -> list[str]:
    return [
        f"%place{number} = constant <i32: {number}> : tile<i32>",
        f"%at{number} = offset %{base}, %place{number} : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>",
        f"store_ptr_tko weak %at{number}, {value} : tile<ptr<{element}>>, tile<{element}> -> token",
    ]


_BODIES = {
    "constant-operands": """
        %sum = addi %two, %three : tile<i32>
        %half = constant <f32: 0.5> : tile<f32>
        %huge = constant <f32: 3.0e38> : tile<f32>
        %inf = mulf %huge, %huge : tile<f32>
        %product = mulf %half, %half rounding<zero> : tile<f32>
        %bits = bitcast %inf : tile<f32> -> tile<i32>
        OUT %sum
        OUT %bits
        REAL %product
        """,
    "assume-twice": """
        %p = assume bounded<-1000, 1000>, %a : tile<i32>
        %q = assume bounded<-1000, 1000>, %p : tile<i32>
        OUT %q
        """,
    "join-tokens": """
        %t = make_token : token
        %v, %u = load_ptr_tko weak %out token=%t : tile<ptr<i32>> -> tile<i32>, token
        %j = join_tokens %t, %u : token
        %k = join_tokens %j, %u, %t : token
        store_ptr_tko weak %out, %a token=%k : tile<ptr<i32>>, tile<i32> -> token
        OUT %v
        """,
    "elementwise-of-broadcasts": """
        %a1 = reshape %a : tile<i32> -> tile<1x1xi32>
        %an = broadcast %a1 : tile<1x1xi32> -> tile<4x1xi32>
        %lanes = iota : tile<4xi32>
        %column = reshape %lanes : tile<4xi32> -> tile<4x1xi32>
        %row = addi %an, %column : tile<4x1xi32>
        %wide = broadcast %row : tile<4x1xi32> -> tile<4x8xi32>
        %seven = constant <i32: 7> : tile<4x8xi32>
        %product = muli %wide, %seven : tile<4x8xi32>
        %sum = reduce %product dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32>
          (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32>
            yield %s : tile<i32> }
        %all = reduce %sum dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32>
          (%l: tile<i32>, %r: tile<i32>) { %s = xori %l, %r : tile<i32>
            yield %s : tile<i32> }
        OUT %all
        """,
    "same-operation": """
        %s = divi %a, %three signed : tile<i32>
        %r = if %flag -> (tile<i32>) {
          %t = divi %a, %three signed : tile<i32>
          yield %t : tile<i32>
        } else {
          yield %b : tile<i32>
        }
        OUT %s
        OUT %r
        """,
    "same-load": """
        %v, %t = load_ptr_tko weak %out : tile<ptr<i32>> -> tile<i32>, token
        %w, %u = load_ptr_tko weak %out : tile<ptr<i32>> -> tile<i32>, token
        %s = addi %v, %w : tile<i32>
        OUT %s
        """,
    "unused": """
        %s = addi %a, %b : tile<i32>
        %r = if %flag -> (tile<i32>) {
          %d = muli %s, %b : tile<i32>
          yield %d : tile<i32>
        } else {
          yield %a : tile<i32>
        }
        OUT %a
        """,
    "unused-risk": """
        %s = divi %a, %b signed : tile<i32>
        %v, %t = load_ptr_tko weak %out : tile<ptr<i32>> -> tile<i32>, token
        for %i in (%zero to %a, step %one) : tile<i32> {
          %u = addi %i, %s : tile<i32>
        }
        OUT %a
        """,
    "unused-value": """
        %t = make_token : token
        %v, %u = load_ptr_tko weak %out token=%t : tile<ptr<i32>> -> tile<i32>, token
        %w, %z = load_ptr_tko weak %out : tile<ptr<i32>> -> tile<i32>, token
        %j = join_tokens %u, %z : token
        store_ptr_tko weak %out, %a token=%j : tile<ptr<i32>>, tile<i32> -> token
        """,
    "unused-result": """
        %r:3 = for %i in (%zero to %three, step %one) : tile<i32>
            iter_values(%u = %a, %v = %b, %w = %x) -> (tile<i32>, tile<i32>, tile<f32>) {
          %u2 = addi %u, %i : tile<i32>
          %v2 = muli %v, %three : tile<i32>
          %w2 = addf %w, %y : tile<f32>
          if %flag {
            continue %u2, %v, %w2 : tile<i32>, tile<i32>, tile<f32>
          }
          continue %u2, %v2, %w2 : tile<i32>, tile<i32>, tile<f32>
        }
        %q:2 = loop iter_values(%n = %a, %m = %b) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
          %n2 = shri %n, %one unsigned : tile<i32>
          %done = cmpi equal %n2, %zero, signed : tile<i32> -> tile<i1>
          if %done {
            break %n, %m : tile<i32>, tile<i32>
          }
          %m2 = addi %m, %one : tile<i32>
          continue %n2, %m2 : tile<i32>, tile<i32>
        }
        %e:2 = if %flag -> (tile<i32>, tile<i32>) {
          %p = addi %a, %b : tile<i32>
          yield %p, %a : tile<i32>, tile<i32>
        } else {
          %p = subi %a, %b : tile<i32>
          yield %b, %p : tile<i32>, tile<i32>
        }
        OUT %r#1
        OUT %q#1
        OUT %e#0
        """,
    "if-known": """
        %r = if %true -> (tile<i32>) {
          %s = addi %a, %b : tile<i32>
          yield %s : tile<i32>
        } else {
          yield %a : tile<i32>
        }
        OUT %r
        %n = loop iter_values(%v = %a) : tile<i32> -> tile<i32> {
          if %flag {
            if %true {
              break %b : tile<i32>
            }
            OUTSIDE
          }
          break %v : tile<i32>
        }
        OUT %n
        """.replace("            OUTSIDE\n", ""),
    "if-inverted": """
        %not = xori %flag, %true : tile<i1>
        %r = if %not -> (tile<i32>) {
          %s = addi %a, %b : tile<i32>
          yield %s : tile<i32>
        } else {
          %s = subi %a, %b : tile<i32>
          yield %s : tile<i32>
        }
        OUT %r
        """,
    "if-empty-else": """
        if %flag {
          store_ptr_tko weak %out, %b : tile<ptr<i32>>, tile<i32> -> token
        } else {
        }
        """,
    "if-same-yield": """
        %r = if %flag -> (tile<i32>) {
          yield %a : tile<i32>
        } else {
          yield %a : tile<i32>
        }
        OUT %r
        """,
    "if-condition": """
        %false = constant <i1: false> : tile<i1>
        %r:2 = if %flag -> (tile<i1>, tile<i1>) {
          yield %true, %false : tile<i1>, tile<i1>
        } else {
          yield %false, %true : tile<i1>, tile<i1>
        }
        %v = select %r#0, %a, %b : tile<i1>, tile<i32>
        %w = select %r#1, %a, %b : tile<i1>, tile<i32>
        OUT %v
        OUT %w
        """,
    "if-to-select": """
        %ones = constant <i32: 1> : tile<2x4xi32>
        %some = constant <i32: [[1, 2, 3, 4], [5, 6, 7, 8]]> : tile<2x4xi32>
        %r:2 = if %flag -> (tile<2x4xi32>, tile<f32>) {
          yield %ones, %x : tile<2x4xi32>, tile<f32>
        } else {
          yield %some, %y : tile<2x4xi32>, tile<f32>
        }
        %rows = reduce %r#0 dim=1 identities=[0 : i32] : tile<2x4xi32> -> tile<2xi32>
          (%l: tile<i32>, %q: tile<i32>) { %s = addi %l, %q : tile<i32>
            yield %s : tile<i32> }
        %all = reduce %rows dim=0 identities=[0 : i32] : tile<2xi32> -> tile<i32>
          (%l: tile<i32>, %q: tile<i32>) { %s = addi %l, %q : tile<i32>
            yield %s : tile<i32> }
        OUT %all
        REAL %r#1
        """,
    "for-never": """
        %r = for %i in (%three to %two, step %one) : tile<i32> iter_values(%v = %a) -> (tile<i32>) {
          %w = addi %v, %i : tile<i32>
          continue %w : tile<i32>
        }
        OUT %r
        """,
    "for-once": """
        %minus = constant <i32: -2> : tile<i32>
        %r = for %i in (%minus to %zero, step %three) : tile<i32> iter_values(%v = %a) -> (tile<i32>) {
          %w = addi %v, %i : tile<i32>
          continue %w : tile<i32>
        }
        OUT %r
        """,
    "for-in-one-turn": """
        %many = constant <i32: 300> : tile<i32>
        %start = constant <i32: 1> : tile<4xi32>
        %r = for %i in (%zero to %a, step %many) : tile<i32> iter_values(%v = %start) -> (tile<4xi32>) {
          %s = reshape %i : tile<i32> -> tile<1xi32>
          %t = broadcast %s : tile<1xi32> -> tile<4xi32>
          %n = iota : tile<4xi32>
          %u = addi %t, %n : tile<4xi32>
          %w = addi %u, %v : tile<4xi32>
          continue %w : tile<4xi32>
        }
        %sum = reduce %r dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32>
          (%l: tile<i32>, %q: tile<i32>) { %s = addi %l, %q : tile<i32>
            yield %s : tile<i32> }
        OUT %sum
        """,
    "loop-once": """
        %r = loop iter_values(%v = %a) : tile<i32> -> tile<i32> {
          %w = addi %v, %b : tile<i32>
          break %w : tile<i32>
        }
        OUT %r
        """,
    "carried-unchanged": """
        %r:2 = for %i in (%zero to %b, step %one) : tile<i32>
            iter_values(%v = %a, %w = %zero) -> (tile<i32>, tile<i32>) {
          %u = addi %w, %v : tile<i32>
          if %flag {
            continue %v, %w : tile<i32>, tile<i32>
          }
          continue %v, %u : tile<i32>, tile<i32>
        }
        OUT %r#0
        OUT %r#1
        """,
    "loop-invariant": """
        %r = for %i in (%zero to %b, step %one) : tile<i32> iter_values(%v = %zero) -> (tile<i32>) {
          %s = muli %a, %three : tile<i32>
          %q = for %j in (%zero to %i, step %one) : tile<i32> iter_values(%w = %v) -> (tile<i32>) {
            %t = addi %s, %i : tile<i32>
            %u = addi %t, %w : tile<i32>
            continue %u : tile<i32>
          }
          continue %q : tile<i32>
        }
        OUT %r
        """,
    "loop-invariant-load": """
        %r = for %i in (%zero to %three, step %one) : tile<i32> iter_values(%v = %a) -> (tile<i32>) {
          %w, %t = load_ptr_tko weak %out : tile<ptr<i32>> -> tile<i32>, token
          %s = addi %v, %w : tile<i32>
          %at = offset %real, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
          store_ptr_tko weak %at, %x : tile<ptr<f32>>, tile<f32> -> token
          continue %s : tile<i32>
        }
        %four = constant <i32: 4> : tile<i32>
        %place = offset %real, %four : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
        %real2 = ptr_to_ptr %place : tile<ptr<f32>> -> tile<ptr<i32>>
        store_ptr_tko weak %real2, %r : tile<ptr<i32>>, tile<i32> -> token
        """,
    "for-unrolled": """
        %minus = constant <i32: -3> : tile<i32>
        %r:2 = for %i in (%minus to %three, step %two) : tile<i32>
            iter_values(%v = %a, %w = %b) -> (tile<i32>, tile<i32>) {
          %s = muli %v, %i : tile<i32>
          %t = subi %w, %s : tile<i32>
          continue %t, %v : tile<i32>, tile<i32>
        }
        OUT %r#0
        OUT %r#1
        """,
    "addf-mulf": """
        %p = mulf %x, %y : tile<f32>
        %s = addf %p, %x : tile<f32>
        REAL %s
        """,
    "addf-mulf-right": """
        %p = mulf %x, %y rounding<zero> : tile<f32>
        %s = addf %x, %p rounding<zero> : tile<f32>
        REAL %s
        """,
    "subf-mulf": """
        %p = mulf %x, %y : tile<f32>
        %s = subf %p, %x : tile<f32>
        REAL %s
        """,
    "load-after-store": """
        %lanes = iota : tile<8xi32>
        %o1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
        %os = broadcast %o1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
        %at = offset %os, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
        %b1 = reshape %b : tile<i32> -> tile<1xi32>
        %bs = broadcast %b1 : tile<1xi32> -> tile<8xi32>
        %mask = cmpi less_than %lanes, %bs, signed : tile<8xi32> -> tile<8xi1>
        %t = store_ptr_tko weak %at, %lanes, %mask : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> token
        %w, %u = load_ptr_tko weak %real token=%t : tile<ptr<f32>> -> tile<f32>, token
        %v, %z = load_ptr_tko weak %at, %mask, %bs token=%u
          : tile<8xptr<i32>>, tile<8xi1>, tile<8xi32> -> tile<8xi32>, token
        %all = reduce %v dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
          (%l: tile<i32>, %r: tile<i32>) { %s = addi %l, %r : tile<i32>
            yield %s : tile<i32> }
        %p9 = constant <i32: 40> : tile<i32>
        %at9 = offset %out, %p9 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        store_ptr_tko weak %at9, %all token=%z : tile<ptr<i32>>, tile<i32> -> token
        """,
    "load-after-load": """
        %v, %t = load_ptr_tko weak %out : tile<ptr<i32>> -> tile<i32>, token
        %x2, %u = load_ptr_tko weak %real token=%t : tile<ptr<f32>> -> tile<f32>, token
        %w, %z = load_ptr_tko weak %out token=%u : tile<ptr<i32>> -> tile<i32>, token
        %s = addi %v, %w : tile<i32>
        store_ptr_tko weak %out, %s token=%z : tile<ptr<i32>>, tile<i32> -> token
        """,
    "store-before-store": """
        %t = store_ptr_tko weak %out, %b : tile<ptr<i32>>, tile<i32> -> token
        %s = addi %a, %b : tile<i32>
        if %flag {
          store_ptr_tko weak %real, %x : tile<ptr<f32>>, tile<f32> -> token
        }
        store_ptr_tko weak %out, %s token=%t : tile<ptr<i32>>, tile<i32> -> token
        """,
    "load-before-load": """
        %t0 = store_ptr_tko weak %out, %b : tile<ptr<i32>>, tile<i32> -> token
        %v, %t1 = load_ptr_tko weak %out token=%t0 : tile<ptr<i32>> -> tile<i32>, token
        %w, %t2 = load_ptr_tko weak %real token=%t1 : tile<ptr<f32>> -> tile<f32>, token
        store_ptr_tko weak %out, %a token=%t2 : tile<ptr<i32>>, tile<i32> -> token
        REAL %w
        """.replace("        REAL %w\n", ""),
    "disjoint-accesses": """
        %here = offset %out, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %there = offset %out, %three : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %t0 = store_ptr_tko weak %here, %b : tile<ptr<i32>>, tile<i32> -> token
        %v, %t1 = load_ptr_tko weak %there token=%t0 : tile<ptr<i32>> -> tile<i32>, token
        %s = addi %v, %a : tile<i32>
        store_ptr_tko weak %here, %s token=%t1 : tile<ptr<i32>>, tile<i32> -> token
        """,
    "affine-load": """
        %lanes = iota : tile<8xi32>
        %b1 = reshape %b : tile<i32> -> tile<1xi32>
        %bs = broadcast %b1 : tile<1xi32> -> tile<8xi32>
        %mask = cmpi less_than %lanes, %bs, signed : tile<8xi32> -> tile<8xi1>
        %o1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
        %os = broadcast %o1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
        %at = offset %os, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
        %none = constant <i32: 0> : tile<8xi32>
        %some = cmpi greater_than_or_equal %b, %one, signed : tile<i32> -> tile<i1>
        if %some {
          %v, %t = load_ptr_tko weak %at, %mask, %none
            : tile<8xptr<i32>>, tile<8xi1>, tile<8xi32> -> tile<8xi32>, token
          %w = addi %v, %lanes : tile<8xi32>
          store_ptr_tko weak %at, %w, %mask token=%t : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> token
        }
        """,
    "empty-stores": """
        %lanes = iota : tile<8xi32>
        %b1 = reshape %b : tile<i32> -> tile<1xi32>
        %bs = broadcast %b1 : tile<1xi32> -> tile<8xi32>
        %mask = cmpi less_than %lanes, %bs, signed : tile<8xi32> -> tile<8xi1>
        %o1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
        %os = broadcast %o1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
        %at = offset %os, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
        %begin = make_token : token
        for %i in (%zero to %a, step %one) : tile<i32> iter_values(%t = %begin) -> (token) {
          %v, %t1 = load_ptr_tko weak %at, %mask token=%t : tile<8xptr<i32>>, tile<8xi1> -> tile<8xi32>, token
          %w = addi %v, %lanes : tile<8xi32>
          %t2 = store_ptr_tko weak %at, %w, %mask token=%t1
            : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> token
          continue %t2 : token
        }
        """,
    "gathered-rows": """
        %lanes = iota : tile<4xi32>
        %ones = constant <i32: 1> : tile<4xi32>
        %rows = xori %lanes, %ones : tile<4xi32>
        %down = reshape %rows : tile<4xi32> -> tile<4x1xi32>
        %eight = constant <i32: 8> : tile<4x1xi32>
        %starts = muli %down, %eight : tile<4x1xi32>
        %starts_all = broadcast %starts : tile<4x1xi32> -> tile<4x8xi32>
        %columns = iota : tile<8xi32>
        %along = reshape %columns : tile<8xi32> -> tile<1x8xi32>
        %column = broadcast %along : tile<1x8xi32> -> tile<4x8xi32>
        %index = addi %starts_all, %column : tile<4x8xi32>
        %bs1 = reshape %b : tile<i32> -> tile<1xi32>
        %bs = broadcast %bs1 : tile<1xi32> -> tile<4xi32>
        %there = cmpi less_than %lanes, %bs, signed : tile<4xi32> -> tile<4xi1>
        %there_down = reshape %there : tile<4xi1> -> tile<4x1xi1>
        %mask = broadcast %there_down : tile<4x1xi1> -> tile<4x8xi1>
        %o1 = reshape %out : tile<ptr<i32>> -> tile<1x1xptr<i32>>
        %os = broadcast %o1 : tile<1x1xptr<i32>> -> tile<4x8xptr<i32>>
        %at = offset %os, %index : tile<4x8xptr<i32>>, tile<4x8xi32> -> tile<4x8xptr<i32>>
        %none = constant <i32: 0> : tile<4x8xi32>
        %v, %t = load_ptr_tko weak %at, %mask, %none
          : tile<4x8xptr<i32>>, tile<4x8xi1>, tile<4x8xi32> -> tile<4x8xi32>, token
        %w = addi %v, %index : tile<4x8xi32>
        store_ptr_tko weak %at, %w, %mask token=%t : tile<4x8xptr<i32>>, tile<4x8xi32>, tile<4x8xi1> -> token
        """,
    "no-signed-wrap": """
        %id, %idy, %idz = get_tile_block_id : tile<i32>
        %many = constant <i32: 100> : tile<i32>
        %p = muli %id, %many : tile<i32>
        %s = addi %p, %three : tile<i32>
        %u = muli %s, %a : tile<i32>
        OUT %s
        OUT %u
        """,
    "static-extent": """
        %eight = constant <i32: 8> : tile<i32>
        %view = make_tensor_view %out, shape = [%eight, %b], strides = [%eight, %one]
          : tile<i32> -> tensor_view<?x?xi32, strides=[?,?]>
        %parts = make_partition_view %view
          : partition_view<tile=(4x4), padding_value = zero, tensor_view<?x?xi32, strides=[?,?]>>
        %v, %t = load_view_tko weak %parts[%one, %zero]
          : partition_view<tile=(4x4), padding_value = zero, tensor_view<?x?xi32, strides=[?,?]>>, tile<i32>
          -> tile<4x4xi32>, token
        %w = addi %v, %v : tile<4x4xi32>
        store_view_tko weak %w, %parts[%zero, %zero] token=%t
          : tile<4x4xi32>, partition_view<tile=(4x4), padding_value = zero, tensor_view<?x?xi32, strides=[?,?]>>,
            tile<i32> -> token
        """,
    "divisible": """
        %id, %idy, %idz = get_tile_block_id : tile<i32>
        %many, %my, %mz = get_num_tile_blocks : tile<i32>
        %eight = constant <i32: 8> : tile<i32>
        %rows = muli %many, %eight : tile<i32>
        if %flag {
          %inner = make_tensor_view %out, shape = [%rows, 4], strides = [%eight, 1]
            : tile<i32> -> tensor_view<?x4xi32, strides=[?,1]>
        }
        %view = make_tensor_view %out, shape = [%rows, 4], strides = [%eight, 1]
          : tile<i32> -> tensor_view<?x4xi32, strides=[?,1]>
        %parts = make_partition_view %view : partition_view<tile=(4x4), tensor_view<?x4xi32, strides=[?,1]>>
        %v, %t = load_view_tko weak %parts[%one, %zero]
          : partition_view<tile=(4x4), tensor_view<?x4xi32, strides=[?,1]>>, tile<i32> -> tile<4x4xi32>, token
        %w = addi %v, %v : tile<4x4xi32>
        store_view_tko weak %w, %parts[%zero, %zero] token=%t
          : tile<4x4xi32>, partition_view<tile=(4x4), tensor_view<?x4xi32, strides=[?,1]>>, tile<i32> -> token
        """,
    "aligned": """
        %wide = assume div_by<16>, %out : tile<ptr<i32>>
        %id, %idy, %idz = get_tile_block_id : tile<i32>
        %eight = constant <i32: 8> : tile<i32>
        %first = muli %id, %eight : tile<i32>
        %at = offset %wide, %first : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %view = make_tensor_view %at, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
        %parts = make_partition_view %view : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
        %v, %t = load_view_tko weak %parts[%zero] : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32>
          -> tile<8xi32>, token
        %w = addi %v, %v : tile<8xi32>
        store_view_tko weak %w, %parts[%zero] token=%t
          : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
        """,
    "inbounds": """
        %view = make_tensor_view %out, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xi32, strides=[8,1]>
        %parts = make_partition_view %view : partition_view<tile=(4x4), tensor_view<8x8xi32, strides=[8,1]>>
        %v, %t = load_view_tko weak %parts[%one, %zero]
          : partition_view<tile=(4x4), tensor_view<8x8xi32, strides=[8,1]>>, tile<i32> -> tile<4x4xi32>, token
        %w = addi %v, %v : tile<4x4xi32>
        store_view_tko weak %w, %parts[%zero, %zero] token=%t
          : tile<4x4xi32>, partition_view<tile=(4x4), tensor_view<8x8xi32, strides=[8,1]>>, tile<i32> -> token
        """,
    "known-argument": """
        %s = addi %a, %b : tile<i32>
        OUT %s
        """,
    "loop-split-in-steps": """
        %minus = constant <i32: -4> : tile<i32>
        %guard = constant <i32: 3> : tile<i32>
        %r = for %i in (%minus to %b, step %three) : tile<i32> iter_values(%v = %zero) -> (tile<i32>) {
          %early = cmpi less_than %i, %guard, signed : tile<i32> -> tile<i1>
          %w = if %early -> (tile<i32>) {
            %x1 = addi %v, %b : tile<i32>
            yield %x1 : tile<i32>
          } else {
            %x1 = muli %v, %three : tile<i32>
            yield %x1 : tile<i32>
          }
          if %early {
            store_ptr_tko weak %out, %i : tile<ptr<i32>>, tile<i32> -> token
          }
          %e = exti %early unsigned : tile<i1> -> tile<i32>
          %u = addi %w, %e : tile<i32>
          continue %u : tile<i32>
        }
        %real2 = ptr_to_ptr %real : tile<ptr<f32>> -> tile<ptr<i32>>
        store_ptr_tko weak %real2, %r : tile<ptr<i32>>, tile<i32> -> token
        """,
    "loop-split": """
        %four = constant <i32: 4> : tile<i32>
        %r = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%v = %zero) -> (tile<i32>) {
          %early = cmpi less_than_or_equal %i, %a, signed : tile<i32> -> tile<i1>
          %w = if %early -> (tile<i32>) {
            %x1 = addi %v, %b : tile<i32>
            yield %x1 : tile<i32>
          } else {
            %x1 = muli %v, %three : tile<i32>
            yield %x1 : tile<i32>
          }
          if %early {
            store_ptr_tko weak %out, %i : tile<ptr<i32>>, tile<i32> -> token
          }
          %e = exti %early unsigned : tile<i1> -> tile<i32>
          %u = addi %w, %e : tile<i32>
          continue %u : tile<i32>
        }
        %real2 = ptr_to_ptr %real : tile<ptr<f32>> -> tile<ptr<i32>>
        store_ptr_tko weak %real2, %r : tile<ptr<i32>>, tile<i32> -> token
        """,
}
_FUNCTIONS = """
  experimental$func @twice(%v: tile<i32>, %w: tile<i32>) -> (tile<i32>, tile<i32>) {
    %s = addi %v, %w : tile<i32>
    return %s, %v : tile<i32>, tile<i32>
  }
  experimental$func @both(%v: tile<i32>) -> tile<i32> {
    %s:2 = experimental$call @twice(%v, %v) : (tile<i32>, tile<i32>) -> (tile<i32>, tile<i32>)
    %r = muli %s#0, %s#1 : tile<i32>
    return %r : tile<i32>
  }
"""
_CALLING = """
        %r = experimental$call @both(%a) : (tile<i32>) -> tile<i32>
        %q = experimental$call @both(%b) : (tile<i32>) -> tile<i32>
        OUT %r
        OUT %q
        """
PROGRAMS: dict[str, str] = {name: program(body) for name, body in _BODIES.items()}
PROGRAMS["bounded"] = PROGRAMS["divisible"]
PROGRAMS["scattered-rows"] = PROGRAMS["gathered-rows"]
PROGRAMS["affine-store"] = PROGRAMS["affine-load"]
PROGRAMS |= {name: program(_CALLING, _FUNCTIONS) for name in ("inlined-call", "uncalled-function")}
