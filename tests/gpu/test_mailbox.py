"""The mailbox: what blocks leave in it arrives at the host as the interpreter would have had it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import tileir
from tests.cpu.native_programs import ASSERT, ASSERT_BLOCK, SCALAR_ASSERT
from tests.differential import outcome
from tests.targets import ttir
from tileir.gpu import mailbox
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.gpu.mailbox import HEAD_BYTES, LARGEST, initial, read, record_places, size_for, used
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.storage import DTYPES
from tileir.ops.control import Assert
from tileir.ops.misc import PrintTko

ARCHS = ("sm_80", "sm_90", "sm_100")
ELEMENTS = tuple(DTYPES)
SITES = """entry @k(%a: tile<i8>, %b: tile<2x2xf32>) {
    %c = constant <i1: [true, false, true, true]> : tile<4xi1>
    %t = print_tko "%d %f", %a, %b : tile<i8>, tile<2x2xf32> -> token
    assert %c, "no" : tile<4xi1>
    return
}"""


def kernel_of(text: str) -> tileir.Kernel:
    module = tileir.parse(text)
    module.require_valid()
    return module["k"]


@pytest.fixture
def sites() -> Sequence[Op]:
    return [op for op in tileir.parse(SITES)["k"].entry.walk() if isinstance(op, PrintTko | Assert)]


def content(sites: Sequence[Op], size: int) -> bytearray:
    return bytearray(initial(size, sites).ljust(size, b"\0"))


def put(place: int, target: bytearray, *numbers: int, dtype: str = "<i4") -> None:
    data = np.array(numbers, dtype).tobytes()
    target[place : place + len(data)] = data


# ---------------------------------------------------------------- the host's part


def test_an_untouched_mailbox_is_empty(sites: Sequence[Op]) -> None:
    found = content(sites, size_for(sites, 8))
    assert used(found) == HEAD_BYTES + 16
    mail = read(found[: used(found)], sites)
    assert (mail.printed, mail.lost, mail.failure) == ((), 0, None)


def test_a_failure_has_its_operation_block_and_condition(sites: Sequence[Op]) -> None:
    found = content(sites, size_for(sites, 1))
    put(mailbox.FAILED_SITE, found, 2, 5, 6, 7)
    found[mailbox.CONDITION : mailbox.CONDITION + 4] = b"\1\0\1\0"
    failure = read(found[: used(found)], sites).failure
    assert failure is not None
    assert (failure.op, failure.block, failure.index) == (sites[1], (5, 6, 7), (1,))
    assert failure.condition.tolist() == [True, False, True, False]


def test_records_are_read_in_the_order_in_which_they_were_claimed(sites: Sequence[Op]) -> None:
    found = content(sites, size_for(sites, 1))
    places, size = record_places([t.tile(t.I8), t.tile(t.F32, 2, 2)])
    assert (places, size) == ([16, 32], 48)
    for number in range(3):
        begin = HEAD_BYTES + 16 + number * size
        put(begin, found, 1, number, 0, 9)
        put(begin + 16, found, -number, dtype="i1")
        put(begin + 32, found, 1, 2, 3, number, dtype="<f4")
    put(mailbox.CLAIMED, found, 3 * size, dtype="<i8")
    printed = read(found[: used(found)], sites).printed
    assert [record.block for record in printed] == [(0, 0, 9), (1, 0, 9), (2, 0, 9)]
    assert [int(record.tiles[0]) for record in printed] == [0, -1, -2]
    assert printed[2].tiles[1].tolist() == [[1, 2], [3, 2]]


def test_records_without_room_are_counted_and_end_the_reading(sites: Sequence[Op]) -> None:
    _, size = record_places([t.tile(t.I8), t.tile(t.F32, 2, 2)])
    found = content(sites, HEAD_BYTES + 16 + 2 * size + 16)
    put(HEAD_BYTES + 16, found, 1, 3, 0, 0)
    put(HEAD_BYTES + 16 + size, found, 1, 4, 0, 0)
    put(mailbox.CLAIMED, found, 5 * size, 3, dtype="<i8")
    mail = read(found[: used(found)], sites)
    assert used(found) == len(found)
    assert [record.block[0] for record in mail.printed] == [3, 4]
    assert mail.lost == 3


def test_the_size_grows_with_the_grid_up_to_a_limit(sites: Sequence[Op]) -> None:
    small, large, huge = (size_for(sites, blocks) for blocks in (1, 1000, 1 << 40))
    assert small < large < huge < LARGEST + 1024
    assert size_for(sites[1:], 1 << 40) == HEAD_BYTES + 16


# ---------------------------------------------------------------- what blocks leave


def all_elements() -> str:
    """A kernel that prints a tile and, if there are such, a scalar of each element type."""
    lines = []
    for element in ELEMENTS:
        if element is t.I4:
            continue
        name, letter = element.name, "g" if element.is_float else "d"
        numbers = (
            "[0, 1, 1, 0]" if element is t.I1 else "[1.0, 2.0, 4.0, 0.5]" if element.is_float else "[1, -2, 3, -4]"
        )
        one, few = "1.0" if element.is_float else "1", "2x" if element is t.F4E2M1FN else ""
        lines += [
            f"%a{name} = constant <{name}: {numbers}> : tile<4x{name}>",
            f"%r{name} = reshape %a{name} : tile<4x{name}> -> tile<2x2x{name}>",
            f"%s{name} = constant <{name}: {one}> : tile<{few}{name}>",
            f'%t{name} = print_tko "{name} %{letter} %{letter}\\n", %r{name}, %s{name} '
            f": tile<2x2x{name}>, tile<{few}{name}> -> token",
        ]
    return "\n".join(["entry @k() {", *lines, "return", "}"])


def test_elements_of_every_type_print_as_in_the_interpreter() -> None:
    kernel = kernel_of(all_elements())
    first = outcome(kernel, (1,), (), "interp")
    assert first.printed.count("\n") == len(ELEMENTS) - 1
    for arch in ARCHS:
        assert ttir.outcome(kernel, (1,), (), arch).printed == first.printed


FOUR_BITS = """entry @k(%p: tile<ptr<f64>>) {
    %a = constant <i8: [-8, -1, 0, 7]> : tile<4xi8>
    %b = trunci %a : tile<4xi8> -> tile<4xi4>
    %none = constant <i64: 0> : tile<i64>
    %null = int_to_ptr %none : tile<i64> -> tile<ptr<f64>>
    %t = print_tko "%d %p 100%%\\n", %b, %null : tile<4xi4>, tile<ptr<f64>> -> token
    %u = print_tko "nothing\\n" -> token
    return
}"""


def test_half_bytes_and_pointers_print_as_in_the_interpreter() -> None:
    kernel, array = kernel_of(FOUR_BITS), np.zeros(1)
    first = outcome(kernel, (1,), (array,), "interp")
    assert first.printed == "[-8, -1, 0, 7] 0x0 100%\nnothing\n"
    assert ttir.outcome(kernel, (1,), (array,), "sm_90").printed == first.printed


@pytest.mark.parametrize(
    ("text", "grid", "args"),
    [
        (ASSERT, (6,), (10,)), (ASSERT, (6,), (20,)), (SCALAR_ASSERT, (2, 3), (1,)),
        (ASSERT_BLOCK.replace("X", "1").replace("Y", "2").replace("Z", "0"), (3, 4, 2), ()),
    ],
)  # fmt: skip
def test_a_failed_assertion_is_reported_as_in_the_interpreter(
    text: str, grid: tuple[int, ...], args: tuple[object, ...]
) -> None:
    kernel = kernel_of(text)
    first = outcome(kernel, grid, args, "interp").trap
    for arch in ARCHS:
        second = ttir.outcome(kernel, grid, args, arch).trap
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert (second.message, second.block, second.op) == (first.message, first.block, first.op)


ENDS = """entry @k(%c: tile<i1>) {
    %a = print_tko "before " -> token
    if %c {
      %one = constant <i1: [true, false]> : tile<2xi1>
      assert %one, "inner" : tile<2xi1>
      %b = print_tko "never " -> token
    }
    assert %c, "outer" : tile<i1>
    %d = print_tko "never" -> token
    return
}"""


@pytest.mark.parametrize(("c", "message"), [(True, "inner"), (False, "outer")])
def test_a_failed_assertion_ends_the_tile_block_outside_loops(c: bool, message: str) -> None:
    found = ttir.outcome(kernel_of(ENDS), (1,), (c,), "sm_90")
    assert found.printed == "before "
    assert found.trap is not None
    assert message in found.trap.message


IN_LOOPS = """experimental$func @f(%c: tile<i1>) -> () {
    assert %c, "called" : tile<i1>
    return
}
entry @k(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %one, signed : tile<i32> -> tile<i1>
      assert %c, "looped" : tile<i1>
      experimental$call @f(%c) : (tile<i1>) -> ()
    }
    return
}"""


@pytest.mark.parametrize(("n", "fails"), [(1, False), (3, True)])
def test_the_first_assertion_to_fail_in_a_loop_is_reported(n: int, fails: bool) -> None:
    trap = ttir.outcome(kernel_of(IN_LOOPS), (1,), (n,), "sm_90").trap
    assert (trap is not None) == fails
    assert trap is None or "looped" in trap.message


def test_code_with_sites_compiles() -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    for arch, text in zip(ARCHS, (all_elements(), ENDS, IN_LOOPS)):
        code = ttir.lowered(kernel_of(text), arch)
        assert compile_ttir(code.text, arch_named(arch), CompileOptions(), ("cubin",)).binary


def test_only_code_with_sites_has_a_mailbox() -> None:
    code = ttir.lowered(kernel_of("entry @k() { return }"), "sm_90")
    assert (code.hidden, code.sites) == ((), ())
