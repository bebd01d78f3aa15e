"""Footprints of single accesses: their parts, their values for given arguments, and the reasons why some are
unknown."""

from __future__ import annotations

import pickle
from importlib.resources import files

import pytest

import tileir
from tileir.analysis.evaluation import Program, Unmapped
from tileir.analysis.extents import Extent
from tileir.analysis.footprint import Footprint, footprints

GEMM = files("tileir.examples").joinpath("gemm_kloop.mlir").read_text()
SIZES = [None, None, None, 200, 250, 190, 192, 256, 256]
"""M, N and K, then the strides of A, B and C."""
HEAD = "%x, %y, %z = get_tile_block_id : tile<i32>"
PARAMETERS = "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %n: tile<i32>, %c: tile<i1>"


def accesses(*lines: str) -> list[Footprint]:
    body = "\n  ".join((HEAD, *lines))
    return footprints(tileir.parse(f"entry @k({PARAMETERS}) {{\n  {body}\n}}")["k"].entry)


def extent(footprint: Footprint, n: int = 5, grid: tuple[int, int, int] = (1, 1, 1), **fields) -> Extent | Unmapped:
    (found,) = Program([footprint]).extents([None, None, n, 1], grid, **fields)
    return found


# ---------------------------------------------------------------- what it is


def test_a_matrix_product_touches_three_boxes() -> None:
    a, b, c = Program(footprints(tileir.parse(GEMM)["gemm_kloop_kernel"].entry)).extents(SIZES, (2, 2, 1))
    assert a == Extent(0, 199 * 384 + 380, 0, ((200, 384),), 380, True)
    assert b == Extent(0, 189 * 512 + 500, 0, ((190, 512),), 500, True)
    assert c == Extent(0, 199 * 1024 + 1000, 0, ((200, 1024),), 1000, True)


def test_a_tile_block_touches_its_part() -> None:
    program = Program(footprints(tileir.parse(GEMM)["gemm_kloop_kernel"].entry))
    a, b, c = program.extents(SIZES, (2, 2, 1), blocks=((1, 2), (0, 1), (0, 1)))
    assert a == Extent(128 * 384, 199 * 384 + 380, 128 * 384, ((72, 384),), 380, True)
    assert b == Extent(0, 189 * 512 + 256, 0, ((190, 512),), 256, True)
    assert c == Extent(128 * 1024, 199 * 1024 + 512, 128 * 1024, ((72, 1024),), 512, True)


def test_the_coordinates_of_pointers_are_what_masks_bound() -> None:
    a, *_ = footprints(tileir.parse(GEMM)["gemm_kloop_kernel"].entry)
    assert [repr(one.form) for one in a.coordinates] == ["128*block_x + lane_0", "64*turn_2 + lane_1"]
    assert repr(a.form) == "2*arg6*coordinate_0 + 2*coordinate_1"
    assert (a.reads, a.writes, a.complete, a.unknown) == (True, False, True, "")


def test_a_view_has_a_box() -> None:
    tensor = "tensor_view<?x64xi32, strides=[64,1]>"
    (load,) = accesses(
        f"%v = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> {tensor}",
        f"%t = make_partition_view %v : partition_view<tile=(4x16), {tensor}, dim_map=[1, 0]>",
        "%a, %r = load_view_tko weak %t[%x, %y]",
        f": partition_view<tile=(4x16), {tensor}, dim_map=[1, 0]>, tile<i32> -> tile<4x16xi32>, token",
    )
    found = extent(load, 20, (3, 2, 1), blocks=((2, 3), (1, 2), (0, 1)))
    assert isinstance(found, Extent)
    # Dimension 0 of the tile runs along dimension 1 of the tensor; rows 16 to 31 end at 20.
    assert found.box == ((16, 20), (8, 12))
    assert found == Extent(16 * 256 + 32, 19 * 256 + 48, 16 * 256 + 32, ((4, 256),), 16, True, found.box)


def test_two_elements_share_a_byte() -> None:
    parameters = "%p: tile<ptr<f4E2M1FN>>"
    view = "tensor_view<21xf4E2M1FN, strides=[1]>"
    text = f"""entry @k({parameters}) {{
      %i = constant <i32: 1> : tile<i32>
      %v = make_tensor_view %p, shape = [21], strides = [1] : {view}
      %t = make_partition_view %v : partition_view<tile=(16), tensor_view<21xf4E2M1FN, strides=[1]>>
      %a, %r = load_view_tko weak %t[%i]
        : partition_view<tile=(16), {view}>, tile<i32> -> tile<16xf4E2M1FN>, token
    }}"""
    (load,) = footprints(tileir.parse(text)["k"].entry)
    assert Program([load]).extents([None], (1, 1, 1)) == [Extent(8, 11, 8, (), 3, True, ((16, 21),))]


# ---------------------------------------------------------------- conditions

SCALAR_LOAD = "%a{at}, %r{at} = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token"


def test_a_branch_is_a_guard() -> None:
    found = accesses(
        "%five = constant <i32: 5> : tile<i32>",
        "%small = cmpi less_than %x, %five, signed : tile<i32> -> tile<i1>",
        "if %small {",
        SCALAR_LOAD.format(at=1),
        "} else {",
        SCALAR_LOAD.format(at=2),
        "}",
    )
    block = ((3, 4), (0, 1), (0, 1))
    inside, outside = (extent(one, grid=(9, 1, 1), blocks=block) for one in found)
    assert inside == Extent(0, 4, 0, (), 4, True)
    assert isinstance(outside, Extent) and outside.empty


def test_what_stands_behind_a_return_runs_where_it_did_not() -> None:
    (load,) = accesses(
        "%five = constant <i32: 5> : tile<i32>",
        "%small = cmpi less_than %x, %five, signed : tile<i32> -> tile<i1>",
        "if %small {",
        "  return",
        "}",
        SCALAR_LOAD.format(at=1),
    )
    for block, empty in ((4, True), (5, False)):
        found = extent(load, grid=(9, 1, 1), blocks=((block, block + 1), (0, 1), (0, 1)))
        assert isinstance(found, Extent) and found.exact and found.empty == empty


def test_a_loop_without_turns_touches_nothing() -> None:
    (load,) = accesses(
        "%zero = constant <i32: 0> : tile<i32>",
        "%one = constant <i32: 1> : tile<i32>",
        "for %i in (%zero to %n, step %one) : tile<i32> {",
        "  %at = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>",
        SCALAR_LOAD.format(at=1).replace("%p", "%at"),
        "}",
    )
    assert extent(load, 7) == Extent(0, 28, 0, (), 28, True)
    for turns in (0, -3):
        found = extent(load, turns)
        assert isinstance(found, Extent) and found.empty and found.exact


def test_a_condition_that_is_loaded_leaves_it_open() -> None:
    _, load = accesses(
        SCALAR_LOAD.format(at=1),
        "%some = cmpi less_than %a1, %n, signed : tile<i32> -> tile<i1>",
        "if %some {",
        SCALAR_LOAD.format(at=2),
        "}",
    )
    found = extent(load)
    assert isinstance(found, Extent) and not found.empty and not found.exact


# ---------------------------------------------------------------- why not

AT = "%at = offset %p, INDEX : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>"
LOAD = "%b, %s = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token"


def test_an_index_that_wraps_around() -> None:
    (load,) = accesses("%i = muli %n, %n : tile<i32>", AT.replace("INDEX", "%i"), LOAD)
    assert extent(load, 46340) == Extent(4 * 46340**2, 4 * 46340**2 + 4, 4 * 46340**2, (), 4, True)
    assert extent(load, 46341) == Unmapped("index arithmetic may wrap around")


def test_an_overflow_flag_is_believed_by_those_who_trust() -> None:
    (load,) = accesses("%i = muli %n, %n overflow<no_signed_wrap> : tile<i32>", AT.replace("INDEX", "%i"), LOAD)
    assert isinstance(extent(load, 46341), Extent)
    assert isinstance(extent(load, 46341, trust=False), Unmapped)


def test_a_promise_about_a_loaded_index() -> None:
    _, load = accesses(
        SCALAR_LOAD.format(at=1), "%i = assume bounded<0, 9>, %a1 : tile<i32>", AT.replace("INDEX", "%i"), LOAD
    )
    assert extent(load) == Extent(0, 40, 0, (), 40, False)
    found = extent(load, trust=False)
    assert isinstance(found, Unmapped) and "'load_ptr_tko'" in found.why


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["%i = ptr_to_int %q : tile<ptr<i32>> -> tile<i64>",
          "%j = ptr_to_int %p : tile<ptr<i32>> -> tile<i64>",
          "%k = addi %i, %j : tile<i64>",
          "%at = int_to_ptr %k : tile<i64> -> tile<ptr<i32>>"], "no memory moved by an offset"),
        (["%at = select %c, %p, %q : tile<i1>, tile<ptr<i32>>"], "'select'"),
        (["%a, %r = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token",
          "%k = exti %a signed : tile<i32> -> tile<i64>",
          "%at = int_to_ptr %k : tile<i64> -> tile<ptr<i32>>"], "'load_ptr_tko'"),
    ],
)  # fmt: skip
def test_an_address_of_unknown_origin(lines: list[str], why: str) -> None:
    load = accesses(*lines, LOAD)[-1]
    found = extent(load)
    assert isinstance(found, Unmapped) and why in found.why


def test_a_distance_of_pointers_is_an_offset() -> None:
    """From an address to an integer and back, through the difference with the start."""
    (load,) = accesses(
        "%i = ptr_to_int %p : tile<ptr<i32>> -> tile<i64>",
        "%twelve = constant <i64: 12> : tile<i64>",
        "%j = addi %i, %twelve : tile<i64>",
        "%at = int_to_ptr %j : tile<i64> -> tile<ptr<i32>>",
        LOAD,
    )
    assert extent(load) == Extent(12, 16, 12, (), 4, True)


# ---------------------------------------------------------------- for launches


def test_a_program_survives_pickling() -> None:
    program = Program(footprints(tileir.parse(GEMM)["gemm_kloop_kernel"].entry))
    assert pickle.loads(pickle.dumps(program)).extents(SIZES, (2, 2, 1)) == program.extents(SIZES, (2, 2, 1))
