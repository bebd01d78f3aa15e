"""Control flow runs as the specification says, early exits through any nesting included (spec: control#top)."""

import numpy as np
import pytest

from tests.interp.interp_kernels import function
from tileir.ir.diagnostics import DiagnosticError, Trap, UnsupportedError

ZERO_ONE = "%zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n"


def test_if_runs_one_region_and_yields(target):
    text = function(
        "%c: tile<i1>, %a: tile<2xi32>", "tile<2xi32>",
        """%r = if %c -> (tile<2xi32>) {
             %b = addi %a, %a : tile<2xi32>
             yield %b : tile<2xi32>
           } else {
             yield %a : tile<2xi32>
           }
           return %r : tile<2xi32>""",
    )  # fmt: skip
    a = np.array([1, 2], np.int32)
    assert target.evaluate(text, np.bool_(True), a).tolist() == [2, 4]
    assert target.evaluate(text, np.bool_(False), a).tolist() == [1, 2]


def test_if_without_else_does_nothing_when_false(target):
    text = """entry @k(%p: tile<ptr<i32>>, %c: tile<i1>) {
        %v = constant <i32: 9> : tile<i32>
        if %c {
          %t = store_ptr_tko weak %p, %v : tile<ptr<i32>>, tile<i32> -> token
        }
        return
    }"""
    out = np.zeros(1, np.int32)
    target.launch(text, out, False)
    assert out[0] == 0
    target.launch(text, out, True)
    assert out[0] == 9


def sum_loop(ty="i32", flag=""):
    return function(
        f"%lo: tile<{ty}>, %hi: tile<{ty}>, %st: tile<{ty}>", f"tile<{ty}>, tile<i32>",
        f"""%zero = constant <{ty}: 0> : tile<{ty}>
            %n0 = constant <i32: 0> : tile<i32>
            %one = constant <i32: 1> : tile<i32>
            %s, %n = for {flag} %i in (%lo to %hi, step %st) : tile<{ty}>
                iter_values(%acc = %zero, %c = %n0) -> (tile<{ty}>, tile<i32>) {{
              %next = addi %acc, %i : tile<{ty}>
              %d = addi %c, %one : tile<i32>
              continue %next, %d : tile<{ty}>, tile<i32>
            }}
            return %s, %n : tile<{ty}>, tile<i32>""",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("bounds", "total", "trips"),
    [((0, 5, 1), 10, 5), ((-4, 5, 3), -3, 3), ((5, 5, 1), 0, 0), ((7, -7, 2), 0, 0)],
)
def test_for_counts_from_lower_to_upper(target, bounds, total, trips):
    assert [int(x) for x in target.evaluate(sum_loop(), *map(np.int32, bounds))] == [total, trips]


def test_for_compares_unsigned_when_asked(target):
    lower, upper = np.int8(120), np.int8(-120)
    assert int(target.evaluate(sum_loop("i8"), lower, upper, np.int8(1))[1]) == 0
    assert int(target.evaluate(sum_loop("i8", "unsigned"), lower, upper, np.int8(1))[1]) == 16


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_is_not_positive_traps_also_without_iterations(target, step):
    with pytest.raises(Trap, match="step"):
        target.evaluate(sum_loop(), np.int32(3), np.int32(0), np.int32(step))


def test_an_induction_variable_that_would_overflow_ends_the_loop(target):
    bounds = np.int8(100), np.int8(127), np.int8(20)
    assert int(target.evaluate(sum_loop("i8"), *bounds)[1]) == 2
    with pytest.raises(Trap, match="overflows"):
        target.evaluate(sum_loop("i8"), *bounds, mode="strict")


COLLATZ = function(
    "%start: tile<i32>", "tile<i32>",
    """%one = constant <i32: 1> : tile<i32>
       %two = constant <i32: 2> : tile<i32>
       %three = constant <i32: 3> : tile<i32>
       %zero = constant <i32: 0> : tile<i32>
       %r = loop iter_values(%x = %start, %n = %zero) : tile<i32>, tile<i32> -> tile<i32> {
         %done = cmpi equal %x, %one, signed : tile<i32> -> tile<i1>
         if %done {
           break %n : tile<i32>
         }
         %m = addi %n, %one : tile<i32>
         %low = andi %x, %one : tile<i32>
         %odd = cmpi equal %low, %one, signed : tile<i32> -> tile<i1>
         if %odd {
           %y = muli %x, %three : tile<i32>
           %z = addi %y, %one : tile<i32>
           continue %z, %m : tile<i32>, tile<i32>
         }
         %h = divi %x, %two signed : tile<i32>
         continue %h, %m : tile<i32>, tile<i32>
       }
       return %r : tile<i32>""",
)  # fmt: skip


@pytest.mark.parametrize(("start", "steps"), [(1, 0), (6, 8), (27, 111)])
def test_break_and_continue_leave_a_loop_from_inside_ifs(target, start, steps):
    assert int(target.evaluate(COLLATZ, np.int32(start))) == steps


NESTED = function(
    "%n: tile<i32>, %limit: tile<i32>", "tile<i32>",
    ZERO_ONE
    + """%r = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<i32>) {
         %inner = loop iter_values(%j = %zero) : tile<i32> -> tile<i32> {
           %big = cmpi greater_than_or_equal %j, %i, signed : tile<i32> -> tile<i1>
           if %big {
             %over = cmpi greater_than %j, %limit, signed : tile<i32> -> tile<i1>
             %value = if %over -> (tile<i32>) {
               break %zero : tile<i32>
             } else {
               yield %j : tile<i32>
             }
             break %value : tile<i32>
           } else {
             %k = addi %j, %one : tile<i32>
             continue %k : tile<i32>
           }
           continue %j : tile<i32>
         }
         %skip = cmpi equal %inner, %one, signed : tile<i32> -> tile<i1>
         if %skip {
           continue %acc : tile<i32>
         }
         %sum = addi %acc, %inner : tile<i32>
         continue %sum : tile<i32>
       }
       return %r : tile<i32>""",
)  # fmt: skip


def test_exits_through_nested_ifs_end_the_right_loop(target):
    assert int(target.evaluate(NESTED, np.int32(6), np.int32(3))) == 2 + 3


def test_return_ends_the_tile_block_from_inside_a_loop(target):
    text = """entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {
        %zero = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        loop iter_values(%i = %zero) : tile<i32> {
          %done = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
          if %done {
            if %done {
              return
            }
          }
          %q = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
          %t = store_ptr_tko weak %q, %one : tile<ptr<i32>>, tile<i32> -> token
          %j = addi %i, %one : tile<i32>
          continue %j : tile<i32>
        }
        %t = store_ptr_tko weak %p, %zero : tile<ptr<i32>>, tile<i32> -> token
        return
    }"""
    out = np.zeros(4, np.int32)
    target.launch(text, out, 3)
    assert out.tolist() == [1, 1, 1, 0]


def test_an_endless_loop_is_a_hang(target):
    with pytest.raises(Trap, match="hang") as caught:
        target.launch("entry @k() {\nloop {\n}\nreturn\n}", max_iterations=100)
    assert caught.value.op == "loop"


def test_tokens_are_carried_and_yielded(target):
    text = """entry @k(%p: tile<ptr<i32>>, %c: tile<i1>) {
        %zero = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        %four = constant <i32: 4> : tile<i32>
        %t0 = make_token : token
        %t1 = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%t = %t0) -> (token) {
          %v, %a = load_ptr_tko weak %p token=%t : tile<ptr<i32>> -> tile<i32>, token
          %w = addi %v, %one : tile<i32>
          %b = store_ptr_tko weak %p, %w token=%a : tile<ptr<i32>>, tile<i32> -> token
          %u = if %c -> (token) {
            yield %b : token
          } else {
            %j = join_tokens %a, %b : token
            yield %j : token
          }
          continue %u : token
        }
        return
    }"""
    for condition in (True, False):
        out = np.zeros(1, np.int32)
        target.launch(text, out, condition)
        assert out[0] == 4


def test_functions_call_functions_and_return_early(target):
    text = (
        function(
            "%x: tile<4xi32>, %c: tile<i1>",
            "tile<4xi32>, tile<4xi32>",
            """%y = experimental$call @g(%x, %c) : (tile<4xi32>, tile<i1>) -> tile<4xi32>
               %z = experimental$call @h(%y) : (tile<4xi32>) -> tile<4xi32>
               return %y, %z : tile<4xi32>, tile<4xi32>""",
        )
        + """experimental$func @g(%x: tile<4xi32>, %c: tile<i1>) -> tile<4xi32> {
               if %c {
                 return %x : tile<4xi32>
               }
               %z = experimental$call @h(%x) : (tile<4xi32>) -> tile<4xi32>
               return %z : tile<4xi32>
             }
             experimental$func @h(%x: tile<4xi32>) -> tile<4xi32> {
               %y = addi %x, %x : tile<4xi32>
               return %y : tile<4xi32>
             }"""
    )
    x = np.array([1, 2, 3, 4], np.int32)
    assert [a.tolist() for a in target.evaluate(text, x, np.bool_(True))] == [[1, 2, 3, 4], [2, 4, 6, 8]]
    assert [a.tolist() for a in target.evaluate(text, x, np.bool_(False))] == [[2, 4, 6, 8], [4, 8, 12, 16]]


def test_recursion_is_refused_not_followed(target):
    text = """experimental$func @f() {
        experimental$call @g() : () -> ()
        return
    }
    experimental$func @g() {
        experimental$call @f() : () -> ()
        return
    }"""
    with pytest.raises(UnsupportedError, match="recursive call of @"):
        target.evaluate(text, verified=False)


def test_deep_nesting_runs(target):
    depth = 100
    body = "if %c {\n" * depth + "%t = store_ptr_tko weak %p, %v : tile<ptr<i32>>, tile<i32> -> token\n" + "}\n" * depth
    out = np.zeros(1, np.int32)
    head = "entry @k(%p: tile<ptr<i32>>, %c: tile<i1>) {\n%v = constant <i32: 1> : tile<i32>\n"
    target.launch(f"{head}{body}return\n}}", out, True)
    assert out[0] == 1


def test_a_long_chain_of_calls_is_refused(target):
    length = 2000
    call = "experimental$func @f{}() {{\nexperimental$call @f{}() : () -> ()\nreturn\n}}"
    functions = [call.format(k, k + 1) for k in range(length)]
    text = "\n".join([*functions, f"experimental$func @f{length}() {{\nreturn\n}}"]).replace("@f0(", "@f(")
    with pytest.raises(DiagnosticError, match="E0817"):
        target.evaluate(text)


ALLOCA = """entry @k(%out: tile<ptr<i64>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %null = constant <i64: 0> : tile<i64>
    %start = int_to_ptr %null : tile<i64> -> tile<ptr<i32>>
    %last = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%p = %start) -> (tile<ptr<i32>>) {
      %a = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>
      %t = store_ptr_tko weak %a, %i : tile<ptr<i32>>, tile<i32> -> token
      %v, %u = load_ptr_tko weak %a token=%t : tile<ptr<i32>> -> tile<i32>, token
      continue %a : tile<ptr<i32>>
    }
    USE
    return
}"""


def test_alloca_lives_as_long_as_its_scope(target):
    target.launch(ALLOCA.replace("USE", ""), np.zeros(1, np.int64))
    use = "%w, %x = load_ptr_tko weak %last : tile<ptr<i32>> -> tile<i32>, token"
    with pytest.raises(Trap) as caught:
        target.launch(ALLOCA.replace("USE", use), np.zeros(1, np.int64))
    assert caught.value.op == "load_ptr_tko"


def test_slots_are_shared_by_values_that_do_not_live_together(target):
    body = "\n".join(f"%a{k + 1} = addi %a{k}, %a{k} : tile<i32>" for k in range(20))
    text = function("%a0: tile<i32>", "tile<i32>", f"{body}\nreturn %a20 : tile<i32>")
    assert int(target.evaluate(text, np.int32(1))) == 1 << 20
