"""Control flow in GPU code: whatever exits a program takes, it does what it does in the interpreter, and compiles."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import tileir
from tests.differential import outcome
from tests.gpu.ttir_nests import program
from tests.interp.interp_kernels import evaluate
from tests.language.test_control import sum_loop
from tests.targets import ttir
from tests.targets.gpu_code import GpuCode
from tests.thorough import sampled
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir

ARCHS = ("sm_80", "sm_90", "sm_100")
GRID = (5,)
PROGRAMS = 40
COMPILED = 3


def kernel_of(text: str) -> tileir.Kernel:
    module = tileir.parse(text)
    module.require_valid()
    return module["k"]


def by_block(printed: str) -> dict[str, list[str]]:
    """The lines of each tile block, in order."""
    found = defaultdict(list)
    for line in printed.splitlines():
        found[line.split(" ", 1)[0]].append(line)
    return found


def names(text: str, *parts: str) -> list[str]:
    """The instructions in the TTIR of a kernel whose names begin with one of the parts."""
    function = ttir.lowered(kernel_of(text), "sm_90").function
    return [instruction.name for instruction in function.body.walk() if instruction.name.startswith(parts)]


# ---------------------------------------------------------------- exits


@pytest.mark.parametrize("seed", sampled(range(PROGRAMS), 4))
def test_exits_from_random_nests_do_what_they_do_in_the_interpreter(seed: int) -> None:
    kernel = kernel_of(program(seed))
    first, second = outcome(kernel, GRID, (), "interp"), ttir.outcome(kernel, GRID, (), "sm_90")
    assert by_block(second.printed) == by_block(first.printed)


@pytest.mark.parametrize("seed", range(PROGRAMS, PROGRAMS + COMPILED))
def test_random_nests_compile(seed: int) -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    arch = ARCHS[seed % len(ARCHS)]
    code = ttir.lowered(kernel_of(program(seed)), arch)
    assert compile_ttir(code.text, arch_named(arch), CompileOptions(), ("cubin",)).binary


EARLY_RETURN = """entry @k(%stop: tile<i1>, %later: tile<i1>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    if %stop {
      %a = print_tko "stopped\\n" -> token
      return
    }
    %r = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {
      if %later {
        loop {
          if %later { return }
        }
      }
      %j = addi %i, %one : tile<i32>
      %done = cmpi greater_than %j, %one, signed : tile<i32> -> tile<i1>
      if %done { break %j : tile<i32> }
      continue %j : tile<i32>
    }
    %b = print_tko "went on with %d\\n", %r : tile<i32> -> token
    return
}"""


@pytest.mark.parametrize(
    ("stop", "later", "text"), [(True, False, "stopped\n"), (False, True, ""), (False, False, "went on with 2\n")]
)
def test_nothing_happens_after_an_early_return(gpu_code: GpuCode, stop: bool, later: bool, text: str) -> None:
    kernel = kernel_of(EARLY_RETURN)
    for arch in ARCHS:
        assert gpu_code.outcome(kernel, (1,), (stop, later), arch).printed == text


def test_the_only_return_of_the_code_is_its_last_instruction() -> None:
    function = ttir.lowered(kernel_of(EARLY_RETURN), "sm_90").function
    assert [instruction.name for instruction in function.body.walk()].count("tt.return") == 1
    assert function.body.instructions[-1].name == "tt.return"


ENDLESS = """entry @k(%c: tile<i1>) {
    %zero = constant <i32: 0> : tile<i32>
    if %c {
      %never = loop : tile<4xi32> { continue }
      %t = print_tko "%d", %never : tile<4xi32> -> token
    } else {
      %never = loop : tile<ptr<f32>> { if %c { return } }
      %t = print_tko "%p", %never : tile<ptr<f32>> -> token
    }
    loop iter_values(%a = %zero) : tile<i32> {
      loop { if %c { return } }
      continue %a : tile<i32>
    }
    %u = print_tko "end" -> token
    return
}"""


def many(count: int) -> str:
    """A kernel that may return at many places, one after the other."""
    checks = "\n".join(
        f"""%c{number} = cmpi equal %n, %v{number}, signed : tile<i32> -> tile<i1>
            if %c{number} {{ %t{number} = print_tko "{number}" -> token  return }}
            assert %c, "never" : tile<i1>
            %v{number + 1} = addi %v{number}, %one : tile<i32>"""
        for number in range(count)
    )
    return f"""entry @k(%n: tile<i32>, %c: tile<i1>) {{
        %v0 = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        {checks}
        return
    }}"""


def test_many_exits_one_after_the_other_are_no_deep_recursion() -> None:
    code = ttir.lowered(kernel_of(many(300)), "sm_90")
    assert code.function.body.instructions[-1].name == "tt.return"
    kernel = kernel_of(many(20))
    assert [ttir.outcome(kernel, (1,), (n, True), "sm_90").printed for n in (0, 19, 20)] == ["0", "19", ""]


def test_a_loop_without_a_break_compiles() -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    for arch in ARCHS:
        code = ttir.lowered(kernel_of(ENDLESS), arch)
        assert compile_ttir(code.text, arch_named(arch), CompileOptions(), ("cubin",)).binary


# ---------------------------------------------------------------- only programs that need it pay

PLAIN = """entry @k(%n: tile<i32>, %c: tile<i1>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %r, %t = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%a = %zero, %b = %one)
        -> (tile<i32>, tile<i32>) {
      %s = addi %a, %i : tile<i32>
      %u = if %c -> (tile<i32>) { yield %s : tile<i32> } else { yield %b : tile<i32> }
      BODY
      continue %u, %s : tile<i32>, tile<i32>
    }
    return
}"""


def test_code_without_early_exits_is_structured_as_the_program_is() -> None:
    assert names(PLAIN.replace("BODY", ""), "scf.if", "scf.for", "scf.while", "arith.select", "arith.cmp") == [
        "scf.for",
        "scf.if",
    ]


def test_an_early_continue_puts_the_rest_of_the_body_into_the_other_branch() -> None:
    text = PLAIN.replace("BODY", "if %c { continue %b, %a : tile<i32>, tile<i32> }")
    assert names(text, "scf.if", "scf.for", "scf.while", "arith.select", "arith.cmp") == ["scf.for", "scf.if", "scf.if"]


ONCE = """entry @k(%n: tile<i32>, %c: tile<i1>) {
    %r = loop iter_values(%i = %n) : tile<i32> -> tile<i32> {
      if %c { break %i : tile<i32> }
      %j = addi %i, %i : tile<i32>
      break %j : tile<i32>
    }
    %t = print_tko "%d", %r : tile<i32> -> token
    return
}"""


def test_a_loop_that_never_goes_round_is_none(gpu_code: GpuCode) -> None:
    assert "scf.while" not in names(ONCE, "scf")
    kernel = kernel_of(ONCE)
    assert [gpu_code.outcome(kernel, (1,), (3, c), "sm_90").printed for c in (False, True)] == ["6", "3"]


# ---------------------------------------------------------------- counting

MAX, MIN = (1 << 31) - 1, -(1 << 31)
RANGES = [
    ("i8", "", (100, 127, 20)), ("i8", "", (-128, 127, 127)), ("i8", "unsigned", (120, -120, 3)),
    ("i8", "unsigned", (-56, -1, 100)), ("i16", "", (32000, 32767, 500)), ("i16", "unsigned", (32000, -1, 9999)),
    ("i32", "", (MAX - 10, MAX, 3)), ("i32", "", (MIN, MAX, 1 << 29)), ("i32", "", (MIN, MAX, MAX)),
    ("i32", "unsigned", (MAX - 2, MIN + 2, 1)), ("i32", "unsigned", (-10, -1, 4)), ("i32", "unsigned", (3, 2, 1)),
    ("i64", "", ((1 << 63) - 9, (1 << 63) - 1, 5)), ("i64", "unsigned", (-9, -1, 5)), ("i64", "", (5, -5, 2)),
    ("i64", "unsigned", (-(1 << 63), -1, (1 << 63) - 1)), ("i32", "", (7, -7, 2)), ("i32", "", (5, 5, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("element", "flag", "bounds"), RANGES)
def test_a_range_ends_where_its_type_does(gpu_code: GpuCode, element: str, flag: str, bounds: tuple[int, ...]) -> None:
    values = [np.dtype(f"i{element[1:]}".replace(element[1:], str(int(element[1:]) // 8))).type(x) for x in bounds]
    expected, found = evaluate(sum_loop(element, flag), *values), gpu_code.evaluated(sum_loop(element, flag), *values)
    assert [int(x) for x in found] == [int(x) for x in expected]


@pytest.mark.parametrize("element", ["i1", "i8", "i32", "i64"])
@pytest.mark.parametrize("flag", ["", "unsigned"])
@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_is_not_positive_gives_no_iteration(gpu_code: GpuCode, element: str, flag: str, step: int) -> None:
    text = sum_loop(element, flag)
    assert [int(x) for x in gpu_code.evaluated(text, 0, 1, step)] == [0, 0]


CONSTANT_STEP = """entry @k(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %step = constant <i32: STEP> : tile<i32>
    %last = constant <i32: 4096> : tile<i32>
    for %i in (%zero to UPPER, step %step) : tile<i32> {
      %t = print_tko "%d ", %i : tile<i32> -> token
    }
    return
}"""


@pytest.mark.parametrize(("step", "upper", "counted"), [(1, "%n", False), (64, "%last", False), (64, "%n", True)])
def test_iterations_are_counted_only_where_the_sum_may_overflow(step: int, upper: str, counted: bool) -> None:
    text = CONSTANT_STEP.replace("STEP", str(step)).replace("UPPER", upper)
    assert bool(names(text, "arith.divui")) == counted


@pytest.mark.parametrize("n", [0, 1, 64, 65, 200, -5])
def test_a_counted_loop_has_the_values_of_the_program(gpu_code: GpuCode, n: int) -> None:
    kernel = kernel_of(CONSTANT_STEP.replace("STEP", "64").replace("UPPER", "%n"))
    assert gpu_code.outcome(kernel, (1,), (n,), "sm_90").printed == "".join(f"{i} " for i in range(0, n, 64))


def test_loops_of_every_type_compile() -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    from tests.targets.ttir_functions import compiled

    for number, (element, flag) in enumerate([("i1", ""), ("i8", ""), ("i32", "unsigned"), ("i64", "unsigned")]):
        assert compiled(sum_loop(element, flag), ARCHS[number % len(ARCHS)]).binary
