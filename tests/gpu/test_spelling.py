"""Older versions of Triton are given TTIR in their own spelling."""

from __future__ import annotations

import pytest

from tileir.gpu.compiler import spelled
from tileir.ir.diagnostics import UnsupportedError

BARRIER = '  "ttg.barrier"() {addrSpace = 31 : i32} : () -> () loc("k":3:7)\n'
DESCRIPTOR = '  %1 = "tt.descriptor_load"(%0) : (!tt.tensordesc<64x32xf16>) -> (tensor<64x32xf16>)\n'
WAIT = '  "tt.grid_dependency_wait"() : () -> () loc("k":9:1)\n'
LOAD = '  %3 = "tt.atomic_load"(%0, %2) {sem = 2 : i32, scope = 1 : i32} : (!tt.ptr<i32>, i1) -> (i32) loc("k":2:11)\n'
TILE = (
    '  %9 = "tt.atomic_load"(%7, %8) {sem = 1 : i32, scope = 3 : i32} : '
    "(tensor<8x!tt.ptr<i64>>, tensor<8xi1>) -> (tensor<8xi64>)\n"
)
STORE = (
    '  "tt.atomic_store"(%1, %3, %4) {sem = 3 : i32, scope = 3 : i32} : (!tt.ptr<i32>, i32, i1) -> () loc("k":3:7)\n'
)


@pytest.mark.parametrize("text", [BARRIER, DESCRIPTOR, WAIT, LOAD, TILE, STORE])
def test_the_newest_version_reads_it_as_it_is(text: str) -> None:
    assert spelled(text, (3, 9)) == text


def test_barriers_and_descriptors_have_older_names() -> None:
    assert spelled(BARRIER, (3, 6)) == '  "gpu.barrier"() : () -> () loc("k":3:7)\n'
    assert spelled(BARRIER, (3, 7)) == BARRIER
    assert "(!tt.tensordesc<tensor<64x32xf16>>) -> (tensor<64x32xf16>)" in spelled(DESCRIPTOR, (3, 7))
    assert spelled(DESCRIPTOR, (3, 8)) == DESCRIPTOR


def test_waiting_for_another_grid_is_written_in_ptx() -> None:
    assert 'asm_string = "griddepcontrol.wait; // $0"' in spelled(WAIT, (3, 8))


def test_an_atomic_load_is_an_or_with_zero() -> None:
    constant, rmw = spelled(LOAD, (3, 8)).splitlines()
    assert constant == '  %zero3 = "arith.constant"() {value = 0 : i32} : () -> (i32)'
    assert rmw == (
        '  %3 = "tt.atomic_rmw"(%0, %zero3, %2) {atomic_rmw_op = 2 : i32, sem = 2 : i32, scope = 1 : i32} : '
        '(!tt.ptr<i32>, i32, i1) -> (i32) loc("k":2:11)'
    )
    constant, rmw = spelled(TILE, (3, 8)).splitlines()
    assert "dense<0> : tensor<8xi64>" in constant
    assert rmw.endswith("(tensor<8x!tt.ptr<i64>>, tensor<8xi64>, tensor<8xi1>) -> (tensor<8xi64>)")


def test_an_atomic_store_is_an_exchange() -> None:
    assert spelled(STORE, (3, 8)) == (
        '  "tt.atomic_rmw"(%1, %3, %4) {atomic_rmw_op = 10 : i32, sem = 3 : i32, scope = 3 : i32} : '
        '(!tt.ptr<i32>, i32, i1) -> (i32) loc("k":3:7)\n'
    )


def test_what_has_no_older_spelling_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"^k:3:7: .*before version 3\.9, .* got i16"):
        spelled(STORE.replace("i32, i1", "i16, i1"), (3, 8))
    with pytest.raises(UnsupportedError, match=r"Triton 3\.5 is too old: expected version 3\.6 or newer"):
        spelled("", (3, 5))
