"""The PTX machine on programs of a few statements: what it computes, and what it does not let pass."""

from __future__ import annotations

import numpy as np
import pytest

from tests import ptx_machine
from tests.ttir_machine import MachineFault, allocation
from tileir.gpu.descriptors import TensorMap

HEAD = """
.version 8.8
.target sm_80
.extern .shared .align 16 .b8 global_smem[];
.visible .entry k(.param .u64 .ptr .global .align 1 k_param_0, .param .u64 k_param_1)
.reqntid 64
{
.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
ld.param.b64 %rd1, [k_param_0];
mov.u32 %r1, %tid.x;          // the number of the thread
shl.b32 %r2, %r1, 2;
cvt.u64.u32 %rd2, %r2;
add.s64 %rd3, %rd1, %rd2;     // the address of its element
"""
STORE = "st.global.b32 [ %rd3 + 0 ], { %r9 }; ret;\n}\n"


def run(body: str, array: np.ndarray, threads: int = 64, shared: int = 1024) -> np.ndarray:
    kernel = ptx_machine.Kernel(HEAD + body + STORE, "k", threads, shared)
    ptx_machine.run(kernel, (1,), [array.ctypes.data], [allocation("array", array)])
    return array


def numbers(count: int = 64) -> np.ndarray:
    return np.arange(count, dtype=np.uint32)


EXCHANGE = """
st.shared.b32 [%r2], %r1;
{barrier}
xor.b32 %r3, %r2, 128;
ld.shared.b32 %r9, [%r3];
"""


def test_a_barrier_orders_warps_and_a_missing_one_shows() -> None:
    assert (run(EXCHANGE.format(barrier="bar.sync 0;"), numbers()) == numbers() ^ 32).all()
    assert (run(EXCHANGE.format(barrier=""), numbers()) != numbers() ^ 32).any()


COPY = """
cp.async.ca.shared.global [ %r2 + 0 ], [ %rd3 + 0 ], 0x4, 4;
cp.async.commit_group;
{wait}
ld.shared.b32 %r9, [%r2];
"""


@pytest.mark.parametrize(("wait", "is_there"), [("cp.async.wait_group 0;", True), ("cp.async.wait_group 1;", False)])
def test_a_copy_is_made_when_it_is_waited_for(wait: str, is_there: bool) -> None:
    assert (run(COPY.format(wait=wait), numbers()) == numbers()).all() == is_there


def test_lanes_part_and_meet_again() -> None:
    body = """
    and.b32 %r3, %r1, 1;
    setp.eq.b32 %p1, %r3, 0;
    @%p1 bra $L__even;
    mov.b32 %r4, 100;
    bra.uni $L__end;
$L__even:
    mov.b32 %r4, 200;
$L__end:
    redux.sync.add.s32 %r9, %r4, -1;
    """
    assert (run(body, numbers()) == 16 * 300).all()


def test_loops_run_as_often_as_each_lane_asks() -> None:
    body = """
    mov.b32 %r9, 0;
$L__loop:
    add.s32 %r9, %r9, 2;
    setp.lt.u32 %p1, %r9, %r1;
    @%p1 bra $L__loop;
    """
    assert (run(body, numbers()) == np.maximum(2, (numbers() + 1) // 2 * 2)).all()


@pytest.mark.parametrize(
    ("mode", "distance", "clamp", "source"),
    [
        ("bfly", 1, 31, lambda lane: lane ^ 1),
        ("idx", 5, 31, lambda lane: 5),
        ("up", 3, 0, lambda lane: lane - 3 if lane >= 3 else lane),
        ("down", 3, 31, lambda lane: lane + 3 if lane + 3 < 32 else lane),
        ("idx", 2, (24 << 8) | 31, lambda lane: lane // 8 * 8 + 2),
        ("down", 3, (24 << 8) | 31, lambda lane: lane + 3 if lane % 8 + 3 < 8 else lane),
    ],
)
def test_shuffles_read_where_the_manual_says(mode, distance, clamp, source) -> None:
    found = run(f"shfl.sync.{mode}.b32 %r9|%p1, %r1, {distance}, {clamp}, -1;", numbers(32), threads=32)
    assert found.tolist() == [source(lane) for lane in range(32)]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("mov.b32 %r3, -7; div.s32 %r9, %r3, 2;", -3),
        ("mov.b32 %r3, -7; rem.s32 %r9, %r3, 2;", -1),
        ("mov.b32 %r3, 0x80001234; bfe.u32 %r9, %r3, 4, 8;", 0x23),
        ("mov.b32 %r3, 0x80001234; bfe.s32 %r9, %r3, 28, 4;", -8),
        ("mov.b32 %r3, 0x11223344; mov.b32 %r4, 0x55667788; prmt.b32 %r9, %r3, %r4, 0x9076U;", 0x00445566),
        ("mov.b32 %r3, 0x80000001; mov.b32 %r4, 0x7; shf.l.wrap.b32 %r9, %r3, %r4, 33;", 0xF),
        ("mov.b32 %r3, 0x10000; mul.wide.u32 %rd4, %r3, %r3; mov.b64 {_, %r9}, %rd4;", 1),
        ("mov.b32 %r3, -1; mov.b32 %r4, 5; mad.lo.cc.u32 %r5, %r3, %r4, 7; madc.hi.u32 %r9, %r3, %r4, 100;", 105),
        ("mov.b16 %rs1, 0x12; mov.b16 %rs2, 0x34; mov.b32 %r9, {%rs1, %rs2};", 0x340012),
        ("mov.b32 %r3, 0f3F800000; mov.b32 %r4, 0f40000000; cvt.rn.f16x2.f32 %r9, %r4, %r3;", 0x40003C00),
        ("mov.b32 %r3, 0f7FC00000; setp.neu.f32 %p1, %r3, %r3; selp.b32 %r9, 1, 2, %p1;", 1),
        ("mov.b32 %r3, 0f7FC00000; setp.leu.f32 %p1, %r3, 0f00000000; selp.b32 %r9, 1, 2, %p1;", 1),
    ],
)
def test_instructions_compute_what_the_manual_says(body: str, value: int) -> None:
    assert (run(body, numbers()) == np.uint32(value & 0xFFFFFFFF)).all()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("ld.global.b32 { %r9 }, [ %rd3 + 256 ];", "outside the memory of the launch"),
        ("ld.global.b32 { %r9 }, [ %rd3 + 2 ];", "misaligned"),
        ("st.shared.b32 [%r2+1024], %r1; mov.b32 %r9, 0;", "outside the shared memory, which has 1024 bytes"),
        ("add.s32 %r9, %r1, %r7;", "reads %r7, which is not set"),
        ("frobnicate.b32 %r9, %r1;", "does not know"),
        ("mma.sync.aligned.m64n8k16.row.col.f32.f16.f16.f32 {%r9}, {%r1}, {%r1}, {%r1};", "does not know this product"),
        ("and.b32 %r9, %r1, 1; setp.eq.b32 %p1, %r9, 0; @%p1 shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1;", "takes no part"),
        ("mov.b32 %r9, 0; trap;", "stops at a trap"),
        ("$L__on: bra.uni $L__on;", "does not end"),
    ],
)
def test_what_has_no_meaning_is_a_fault(body: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.ptx_machine.warp.MAX_STEPS", 1000)
    with pytest.raises(MachineFault, match=why):
        run(body, numbers())


BARRIER = """
setp.eq.b32 %p1, %r1, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r8], 1;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 256;
@%p1 cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%rd4, {%r11}], [%r8];
"""
WAIT = "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%r8], 0; @!done bra.uni again; }"


def copied(array: np.ndarray, wait: str, extent: int = 64) -> np.ndarray:
    """Read what the copy engine has brought into shared memory, from the element with the number 3 on."""
    tensor = TensorMap(2, array.ctypes.data, (extent,), (), (64,), 0, False, 4)
    body = (
        f"mov.b32 %r8, 512; mov.b32 %r10, 0; mov.b32 %r11, 3; mov.b32 %r12, k_param_1; cvt.u64.u32 %rd4, %r12;{BARRIER}"
    )
    text = HEAD.replace(".param .u64 k_param_1", ".param .align 64 .b8 k_param_1[128]") + body + wait
    kernel = ptx_machine.Kernel(f"{text} ld.shared.b32 %r9, [%r2]; {STORE}", "k", 64, 1024)
    result = array.copy()
    lent = [allocation("array", array), allocation("result", result)]
    ptx_machine.run(kernel, (1,), [result.ctypes.data, tensor], lent)
    return result


def test_a_box_of_a_tensor_is_there_when_its_barrier_has_been_looked_at() -> None:
    expected = np.append(numbers()[3:], [0, 0, 0]).astype(np.uint32)
    assert (copied(numbers(), WAIT) == expected).all()
    assert (copied(numbers(), "bar.sync 0;") != expected).any()


def test_elements_outside_a_tensor_are_zero() -> None:
    assert copied(numbers(), WAIT, extent=10).tolist() == [3, 4, 5, 6, 7, 8, 9, *[0] * 57]


def test_a_barrier_that_was_not_made_is_a_fault() -> None:
    with pytest.raises(MachineFault, match="no barrier has been made at 64"):
        run("mov.b32 %r8, 64;" + WAIT + "mov.b32 %r9, 0;", numbers())


def test_one_lane_is_elected() -> None:
    assert run("elect.sync %r3|%p1, -1; selp.b32 %r9, 1, 0, %p1;", numbers(), 32).tolist()[:32] == [1, *[0] * 31]


def test_matrices_are_stored_as_they_are_loaded() -> None:
    body = """
    shl.b32 %r3, %r1, 4;
    st.shared.v4.b32 [%r3], {%r1, %r2, %r1, %r2};
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];
    add.s32 %r8, %r3, 512;
    stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r8], {%r4, %r5, %r6, %r7};
    ld.shared.b32 %r9, [%r8];
    """
    assert (run(body, numbers(), 32)[:32] == np.arange(32)).all()


@pytest.mark.parametrize(
    "statement",
    [
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r4, %r5, %r6, %r7}, %rd4, %rd4, 1, 1, 1, 0, 0;",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd4, {%r3}], [%r3];",
    ],
)
def test_asynchronous_work_must_be_waited_for(statement: str) -> None:
    name = statement.partition(".")[0]
    guard = "setp.eq.b32 %p1, %r1, 0; @%p1 " if name == "cp" else ""
    tensor = TensorMap(2, 1 << 20, (64,), (), (64,), 0, False, 4)
    text = HEAD.replace(".param .u64 k_param_1", ".param .align 64 .b8 k_param_1[128]")
    body = f"mov.b32 %r3, 0; mov.b32 %r12, k_param_1; cvt.u64.u32 %rd4, %r12; {guard}{statement} mov.b32 %r9, 0;"
    array = numbers()
    with pytest.raises(MachineFault, match="before asynchronous work"):
        ptx_machine.run(
            ptx_machine.Kernel(text + body + STORE, "k", 32, 1024), (1,), [array.ctypes.data, tensor],
            [allocation("array", array)],
        )  # fmt: skip
