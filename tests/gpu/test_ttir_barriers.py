"""Barriers stand where tokens order what different threads do in memory, and nowhere else."""

import re

import pytest

import tileir
from tileir.gpu.arch import arch_named
from tileir.gpu.ttir.analysis.barriers import TokenOrder
from tileir.gpu.ttir.entry import lower_entry
from tileir.gpu.ttir.lowering import ParameterFacts
from tileir.ops.calls import Func
from tileir.ops.module import Entry

PARAMETERS = "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %n: tile<i32>, %cond: tile<i1>"
CONSTANTS = "%zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n%t0 = make_token : token"


def load(after, result, how="weak", place="p"):
    token = f" token=%{after}" if after else ""
    return f"%x_{result}, %{result} = load_ptr_tko {how} %{place}{token} : tile<ptr<i32>> -> tile<i32>, token"


def store(after, result, how="weak", place="p", value="one"):
    token = f" token=%{after}" if after else ""
    return f"%{result} = store_ptr_tko {how} %{place}, %{value}{token} : tile<ptr<i32>>, tile<i32> -> token"


def add(after, result, how="relaxed device"):
    token = f" token=%{after}" if after else ""
    return (
        f"%x_{result}, %{result} = atomic_rmw_tko {how} %p, add, %one{token} "
        ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
    )


def join(result, *tokens):
    return f"%{result} = join_tokens {', '.join(f'%{token}' for token in tokens)} : token"


def counted(initial, carried, result, *body):
    """A `for` that carries one token."""
    lines = "\n".join(body)
    return (
        f"%{result} = for %i_{result} in (%zero to %n, step %one) : tile<i32> "
        f"iter_values(%{carried} = %{initial}) -> (token) {{\n{lines}\n}}"
    )


def goes_on(token):
    return f"continue %{token} : token"


def branch(result, then, otherwise):
    return f"%{result} = if %cond -> (token) {{\n{chr(10).join(then)}\n}} else {{\n{chr(10).join(otherwise)}\n}}"


def handed(token):
    return f"yield %{token} : token"


def module(*lines, functions=""):
    body = "\n".join(lines)
    return tileir.parse(f"{functions}\nentry @k({PARAMETERS}) {{\n{CONSTANTS}\n{body}\nreturn\n}}")


def parts(found):
    """The entry, its functions by name, and all accesses and loops in the order of the text."""
    functions = {item.sym_name: item for item in found.items if isinstance(item, Func)}
    entry = next(item for item in found.items if isinstance(item, Entry))
    kinds = ("load_ptr_tko", "store_ptr_tko", "atomic_rmw_tko", "for", "loop", "alloca", "memory_fence_alias_tko")
    ops = [op for item in (*functions.values(), entry) for op in item.walk() if op.spec.name in kinds]
    return entry, functions, ops


def barriers(*lines, functions=""):
    """The places of the accesses and loops with a barrier in front."""
    entry, named, ops = parts(module(*lines, functions=functions))
    order = TokenOrder.of(entry, named)
    return [place for place, op in enumerate(ops) if order.needs_barrier(op)]


# ------------------------------------------------------------ two accesses


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (load("t0", "a"), load("a", "b"), []),
        (load("t0", "a"), store("a", "b"), [1]),
        (store("t0", "a"), load("a", "b"), [1]),
        (store("t0", "a"), store("a", "b"), [1]),
        (load("t0", "a"), add("a", "b"), [1]),
        (add("t0", "a"), add("a", "b"), [1]),
        (load("t0", "a", "relaxed device"), load("a", "b", "relaxed device"), [1]),
        (load("t0", "a", "relaxed device"), load("a", "b"), []),
        (load("t0", "a"), load("a", "b", "acquire device"), []),
        (load("t0", "a", "acquire device"), load("a", "b"), [1]),
        (load("t0", "a"), store("a", "b", "release device"), [1]),
        (add("t0", "a", "acquire device"), load("a", "b"), [1]),
    ],
)
def test_two_accesses_with_a_token_between_them(first, second, expected):
    assert barriers(first, second) == expected


def test_without_a_token_nothing_is_ordered():
    assert barriers(store(None, "a"), load(None, "b"), store(None, "c"), add(None, "d")) == []


def test_tokens_of_other_operations_pass_on_what_comes_before_them():
    wait = "%w = gdc_wait_tko token = %a -> token\n%l = gdc_launch_dependents_tko token = %w -> token"
    said = '%s = print_tko "x" token=%l -> token'
    assert barriers(store("t0", "a"), wait, said, join("j", "s", "t0"), load("j", "b")) == [1]


def test_a_load_between_does_not_hide_what_comes_before_it():
    assert barriers(store("t0", "a", place="p"), load("a", "b", place="q"), load("b", "c", place="p")) == [1]


def test_one_barrier_serves_all_accesses_before_it():
    assert barriers(
        store(None, "a", place="p"), store(None, "b", place="q"), load("a", "c"), load("b", "d"), load("a", "e")
    ) == [2]


def test_a_barrier_does_not_serve_what_comes_after_it():
    assert barriers(store("t0", "a"), load("a", "b"), store("t0", "c"), load("c", "d")) == [1, 3]


def test_what_waits_for_another_kernel_is_waited_for():
    wait = "%w = gdc_wait_tko -> token"
    assert barriers(wait, counted("w", "t", "r", load("t", "a"), goes_on("a"))) == [0]
    inside = "%w = gdc_wait_tko token = %t -> token"
    assert barriers(counted("t0", "t", "r", inside, load("w", "a"), goes_on("a"))) == [1]
    assert facts(wait, load("w", "a")) == [(False, False, False)]


def test_an_alias_fence_stands_behind_a_barrier_and_needs_none_after_it():
    assert barriers(store("t0", "a"), "%f = memory_fence_alias_tko %a", load("f", "b")) == [1]


# ------------------------------------------------------------ loops


def test_loads_in_a_loop_need_no_barrier():
    assert barriers(counted("t0", "t", "r", load("t", "a"), load("a", "b"), goes_on("b"))) == []


def test_a_store_in_front_of_loads_in_a_loop_needs_one_barrier_in_front_of_the_loop():
    assert barriers(store("t0", "a"), counted("a", "t", "r", load("t", "b"), goes_on("b"))) == [1]


def test_the_store_behind_a_loop_of_loads_waits_once():
    assert barriers(counted("t0", "t", "r", load("t", "a"), goes_on("a")), store("r", "b")) == [2]


def test_a_store_that_the_next_iteration_reads_needs_barriers_inside():
    assert barriers(counted("t0", "t", "r", load("t", "a"), store("a", "b"), goes_on("b"))) == [1, 2]


def test_iterations_without_a_token_between_them_are_not_ordered():
    once = "%x, %u = load_ptr_tko weak %p token=%t0 : tile<ptr<i32>> -> tile<i32>, token"
    assert barriers(counted("t0", "t", "r", once, store("u", "b"), goes_on("t"))) == [2]


def test_stores_that_only_follow_stores_leave_loads_alone():
    assert barriers(counted("t0", "t", "r", load("t0", "a"), store("t", "b", place="q"), goes_on("b"))) == [2]


def test_a_barrier_in_an_outer_loop_serves_an_inner_one():
    inner = counted("u", "v", "s", load("v", "b"), goes_on("b"))
    assert barriers(counted("t0", "t", "r", store("t", "u"), inner, goes_on("s"))) == [1, 2]


def test_a_loop_that_may_not_run_still_hands_on_what_came_before():
    assert barriers(store("t0", "a"), counted("a", "t", "r", goes_on("t")), load("r", "b")) == [2]


SPIN = """%s = loop iter_values(%t = %t0) : token -> token {
  LOAD
  %set = cmpi equal %x_a, %one, signed : tile<i32> -> tile<i1>
  if %set {
    break %a : token
  }
  continue %a : token
}"""


def test_a_spin_loop_and_what_it_waits_for():
    spin = SPIN.replace("LOAD", load("t", "a", "acquire device"))
    assert barriers(spin, load("s", "b")) == [1, 2]
    spin = SPIN.replace("LOAD", load("t0", "a", "acquire device"))
    assert barriers(spin, load("s", "b")) == [2]


def test_what_follows_a_loop_without_break_is_never_reached():
    endless = "loop {\n" + store("t0", "a") + "\ncontinue\n}"
    assert barriers(endless, load("t0", "b")) == []


def test_memory_of_an_alloca_in_a_loop_is_that_of_the_iteration_before():
    place = "%m = alloca num_elem = 4, alignment = 4 : tile<ptr<i32>>"
    inside = [place, store("t0", "a", place="m"), load("a", "b", place="m")]
    assert barriers(*inside) == [2]
    assert barriers(counted("t0", "t", "r", *inside, goes_on("t"))) == [1, 3]


def test_loops_in_loops_take_no_time():
    inner = [load("t0", "z"), store("z", "y")]
    lines, token = inner, "y"
    for depth in range(60):
        body = [load(f"c{depth}", f"a{depth}"), *lines, goes_on(token)]
        lines, token = [counted("t0", f"c{depth}", f"r{depth}", *body)], f"r{depth}"
    assert len(barriers(*lines)) == 61


# ------------------------------------------------------------ branches and functions


def test_a_store_in_a_branch_is_waited_for_behind_it():
    assert barriers(branch("r", [store("t0", "a"), handed("a")], [handed("t0")]), load("r", "b")) == [1]


def test_a_barrier_in_one_branch_does_not_serve_the_other():
    branches = branch("r", [load("a", "b"), handed("b")], [handed("a")])
    assert barriers(store("t0", "a"), branches, load("r", "c")) == [1, 2]


def test_a_barrier_in_both_branches_serves_what_follows():
    branches = branch("r", [load("a", "b"), handed("b")], [load("a", "c"), handed("c")])
    assert barriers(store("t0", "a"), branches, load("r", "d")) == [1, 2]


FUNCTION = f"""experimental$func @f(%p: tile<ptr<i32>>, %t: token) -> token {{
  %one = constant <i32: 1> : tile<i32>
  {load("t", "a")}
  {store("a", "b", place="p")}
  return %b : token
}}"""


def test_tokens_go_through_functions():
    call = "%{} = experimental$call @f(%p, %{}) : (tile<ptr<i32>>, token) -> token"
    assert barriers(call.format("u", "t0"), functions=FUNCTION) == [1]
    assert barriers(call.format("u", "t0"), load("u", "c"), functions=FUNCTION) == [1, 2]
    assert barriers(call.format("u", "t0"), call.format("v", "u"), functions=FUNCTION) == [0, 1]


# ------------------------------------------------------------ the copy engine


def facts(*lines):
    entry, named, ops = parts(module(*lines))
    order = TokenOrder.of(entry, named)
    return [(order.follows_write(op), order.follows_access(op), order.is_followed(op)) for op in ops]


def test_what_an_access_follows_and_what_follows_it():
    assert facts(load("t0", "a"), store("a", "b"), load("b", "c"), load("t0", "d")) == [
        (False, False, True),
        (False, True, True),
        (True, True, False),
        (False, False, False),
    ]


def test_a_load_behind_an_acquire_follows_what_others_have_written():
    found = facts(load("t0", "a", "acquire device"), counted("a", "t", "r", load("t", "b"), goes_on("b")))
    assert found == [(False, False, True), (False, False, False), (True, True, True)]


def test_memory_that_is_taken_again_keeps_the_copy_engine_out():
    place = "%m = alloca num_elem = 4, alignment = 4 : tile<ptr<i32>>"
    assert facts(load("t0", "a")) == [(False, False, False)]
    assert facts(counted("t0", "t", "r", place, load("t0", "a"), goes_on("t")))[-1] == (True, True, True)


def test_an_order_of_nothing_asks_for_nothing():
    _, _, ops = parts(module(store("t0", "a"), load("a", "b")))
    order = TokenOrder()
    assert not any(order.needs_barrier(op) or order.follows_write(op) or order.is_followed(op) for op in ops)


# ------------------------------------------------------------ code


def lowered(found, arch="sm_90"):
    entry, named, _ = parts(found)
    given = [ParameterFacts(16)] * len(entry.body.args)
    return lower_entry(entry, list(named.values()), arch_named(arch), given)


def names(program):
    return [instruction.name for instruction in program.function.body.walk()]


def test_the_barrier_stands_in_front_of_the_operation():
    found = names(lowered(module(store("t0", "a"), load("a", "b"))))
    assert found[found.index("tt.store") :][:3] == ["tt.store", "ttg.barrier", "tt.load"]


def test_the_barrier_of_a_loop_that_returns_stands_in_front_of_it():
    leaving = "loop {\n" + load("a", "b") + "\nif %cond {\nreturn\n}\ncontinue\n}"
    found = names(lowered(module(store("t0", "a"), leaving)))
    assert found.index("tt.store") < found.index("ttg.barrier") < found.index("scf.while")
    assert found.count("ttg.barrier") == 1


GIVEN = "tensor_view<?x64xf16, strides=[64,1]>"
SUM = "tensor_view<64x64xf32, strides=[64,1]>"


def multiplying(*extra, carried):
    """Return a loop that multiplies loaded tiles; `carried` is the token that it hands on."""
    tiles = f"partition_view<tile=(64x64), {GIVEN}>"
    sums = f"partition_view<tile=(64x64), {SUM}>"
    body = "\n".join(extra)
    return tileir.parse(
        f"""entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<i32>>, %n: tile<i32>, %o: tile<ptr<f32>>) {{
  {CONSTANTS}
  %f = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<ptr<f16>>, tile<i32> -> {GIVEN}
  %v = make_partition_view %f : {tiles}
  %none = constant <f32: 0.0> : tile<64x64xf32>
  %end, %te = for %i in (%zero to %n, step %one) : tile<i32>
      iter_values(%acc = %none, %t = %t0) -> (tile<64x64xf32>, token) {{
    %x, %u = load_view_tko weak %v[%i, %zero] token = %t : {tiles}, tile<i32> -> tile<64x64xf16>, token
    %sum = mmaf %x, %x, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    {body}
    continue %sum, %{carried} : tile<64x64xf32>, token
  }}
  %g = make_tensor_view %o, shape = [64, 64], strides = [64, 1] : tile<ptr<f32>> -> {SUM}
  %w = make_partition_view %g : {sums}
  %ts = store_view_tko weak %end, %w[%zero, %zero] token = %te : tile<64x64xf32>, {sums}, tile<i32> -> token
  return
}}"""
    )


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_a_loop_of_loads_loads_ahead_and_one_with_a_barrier_does_not(arch):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    from tileir.gpu.compiler import CompileOptions, compile_ttir

    def ahead(found):
        text = compile_ttir(lowered(found, arch).text, arch_named(arch), CompileOptions(), ["ttgir"]).texts["ttgir"]
        before, _, inside = text.partition("scf.for")
        return "async_copy" in before or "async_tma_copy" in before, "ttg.barrier" in inside

    assert ahead(multiplying(carried="u")) == (True, True)  # the barrier is behind the loop, for the store
    assert ahead(multiplying(store("u", "s", place="q"), carried="s")) == (False, True)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_barriers_reach_the_machine_code(arch):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    from tileir.gpu.compiler import CompileOptions, compile_ttir

    lines = [load("t0", "a"), store("a", "b"), load("b", "c"), store("c", "d", place="q", value="x_c")]
    program = lowered(module(*lines, store("d", "e", value="x_a")), arch)
    made = compile_ttir(program.text, arch_named(arch), CompileOptions(), ["ptx", "cubin"])
    found = re.findall(r"\b(ld\.global|st\.global|bar\.sync)\b", made.texts["ptx"])
    ld, st, bar = "ld.global", "st.global", "bar.sync"
    assert made.binary and found == [ld, bar, st, bar, ld, bar, st, bar, st]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_loads_of_one_place_on_both_sides_of_a_barrier_stay_two_and_stay_where_they_are(arch):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    from tileir.gpu.compiler import CompileOptions, compile_ttir

    again = counted("b", "t", "r", add("t", "c", "acquire device"), load("c", "d"), goes_on("d"))
    inside = again.replace(goes_on("d"), store("d", "e", place="q", value="x_d") + "\n" + goes_on("e"))
    lines = [load("t0", "a"), store("a", "b", place="q", value="x_a"), inside]
    text = compile_ttir(lowered(module(*lines), arch).text, arch_named(arch), CompileOptions(), ["ttgir"]).texts[
        "ttgir"
    ]
    before, _, after = text.partition("scf.for")
    assert before.count("tt.load") == 1 and after.count("tt.load") == 1
    assert (
        after.index("tt.atomic_rmw") < after.index("ttg.barrier", after.index("tt.atomic_rmw")) < after.index("tt.load")
    )
