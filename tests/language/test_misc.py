"""Assumptions, assertions and output (spec: control#assert, spec: misc#top)."""

import io

import numpy as np
import pytest

import tileir
from tests.interp.interp_kernels import function
from tileir.host.kernel_warnings import KernelWarning
from tileir.ir.diagnostics import Trap


def assume(predicate, ty):
    return function(f"%x: {ty}", ty, f"%y = assume {predicate}, %x : {ty}\nreturn %y : {ty}")


I32X8 = "tile<8xi32>"
HOLD = [
    ("div_by<4>", I32X8, [0, 4, -8, 12, 0, 0, 0, 4]),
    ("div_by<4, every 4 along 0>", I32X8, [4, 5, 6, 7, -8, -7, -6, -5]),
    ("div_by<1>", "tile<i64>", -3),
    ("div_by<8, every 2 along 1>", "tile<2x4xi32>", [[8, 9, 16, 17], [0, 1, 0, 1]]),
    ("same_elements<[4]>", I32X8, [1, 1, 1, 1, 2, 2, 2, 2]),
    ("same_elements<[2, 1]>", "tile<2x4xi32>", [[1, 2, 3, 4], [1, 2, 3, 4]]),
    ("bounded<0, 10>", I32X8, [0, 1, 2, 3, 4, 5, 6, 10]),
    ("bounded<?, -1>", "tile<i32>", -1),
    ("bounded<0, ?>", "tile<i32>", 2**31 - 1),
]
BREAK = [
    ("div_by<4>", I32X8, [0, 4, -8, 13, 0, 2, 0, 4], (3,)),
    ("div_by<4, every 4 along 0>", I32X8, [4, 5, 6, 7, -8, -7, -6, -6], (7,)),
    ("div_by<8, every 2 along 1>", "tile<2x4xi32>", [[8, 9, 16, 17], [1, 2, 0, 1]], (1, 0)),
    ("same_elements<[4]>", I32X8, [1, 1, 1, 1, 2, 2, 3, 2], (6,)),
    ("same_elements<[2, 1]>", "tile<2x4xi32>", [[1, 2, 3, 4], [1, 2, 4, 4]], (1, 2)),
    ("bounded<0, 10>", I32X8, [0, 1, 2, 3, 4, -1, 11, 7], (5,)),
    ("bounded<?, -1>", "tile<i32>", 0, ()),
    ("bounded<-1, -1>", "tile<i1>", 0, ()),
]


@pytest.mark.parametrize(("predicate", "ty", "values"), HOLD)
def test_a_kept_promise_hands_the_value_on(target, predicate, ty, values):
    x = np.array(values, np.int64 if "i64" in ty else np.int32)
    assert (target.evaluate(assume(predicate, ty), x, mode="strict") == x).all()


@pytest.mark.parametrize(("predicate", "ty", "values", "index"), BREAK)
def test_a_broken_promise_traps_at_its_first_element_unless_unchecked(target, predicate, ty, values, index):
    x = np.array(values, np.bool_ if "i1>" in ty else np.int32)
    with pytest.raises(Trap) as caught:
        target.evaluate(assume(predicate, ty), x)
    assert caught.value.index == index
    assert caught.value.op == "assume"
    assert predicate.partition("<")[0] in caught.value.message
    assert (target.evaluate(assume(predicate, ty), x, check=False) == x).all()
    assert (target.evaluate(assume(predicate, ty), x, mode="off") == x).all()


def test_promises_about_pointers_and_views(target):
    ty = "tile<4xptr<f32>>"
    consecutive = np.array([64, 68, 72, 76], np.uint64)
    target.evaluate(assume("div_by<64, every 4 along 0>", ty), consecutive)
    with pytest.raises(Trap):
        target.evaluate(assume("div_by<64>", ty), consecutive)
    text = """entry @k(%p: tile<ptr<f32>>) {
        %one = constant <i32: 1> : tile<i32>
        %q = offset %p, %one : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
        %v = make_tensor_view %WHICH, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
        %w = assume div_by<16>, %v : tensor_view<4xf32, strides=[1]>
        return
    }"""
    array = np.zeros(16, np.float32)
    aligned = array[-(array.__array_interface__["data"][0] // 4) % 4 :]
    target.launch(text.replace("WHICH", "p"), aligned)
    with pytest.raises(Trap, match="div_by<16>"):
        target.launch(text.replace("WHICH", "q"), aligned)


ASSERT = """entry @k(%p: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %i = iota : tile<4xi32>
    %three = constant <i32: 3> : tile<4xi32>
    %ok = cmpi less_than %i, %three, signed : tile<4xi32> -> tile<4xi1>
    %s = reshape %x : tile<i32> -> tile<1xi32>
    %b = broadcast %s : tile<1xi32> -> tile<4xi32>
    %first = cmpi less_than %b, %i, signed : tile<4xi32> -> tile<4xi1>
    %both = ori %ok, %first : tile<4xi1>
    assert %both, "100% of %d must hold" : tile<4xi1>
    %t = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
    return
}"""


def test_a_true_assertion_passes(target):
    out = np.zeros(1, np.int32)
    target.launch(ASSERT, out)
    assert out[0] == 1


def test_a_failed_assertion_reports_block_position_and_literal_message(target):
    with pytest.raises(Trap) as caught:
        target.launch(ASSERT, np.zeros(1, np.int32), grid=(5, 1, 1))
    trap = caught.value
    assert (trap.kernel, trap.block, trap.op, trap.index) == ("k", (3, 0, 0), "assert", (3,))
    assert "tile block: [3, 0, 0], position: [3]: 100% of %d must hold" in trap.message
    assert "<string>:11" in str(trap)


def test_every_failing_element_is_reported(target):
    body = 'assert %c, "pairs" : tile<2x2xi1>\nreturn'
    text = function("%c: tile<2x2xi1>, %d: tile<i1>", "", body).replace(" -> ()", "")
    with pytest.raises(Trap) as caught:
        target.evaluate(text, np.array([[True, False], [False, False]]), np.bool_(True))
    positions = [line.partition("position: ")[2] for line in caught.value.message.splitlines()[1:]]
    assert positions == ["[0, 1]: pairs", "[1, 0]: pairs", "[1, 1]: pairs"]
    scalar = text.replace("assert %c", "assert %d").replace(" : tile<2x2xi1>\n", " : tile<i1>\n")
    with pytest.raises(Trap, match=r"position: \[\]: pairs"):
        target.evaluate(scalar, np.ones((2, 2), np.bool_), np.bool_(False))


def shown(target, format, *typed):
    """Output of a format for (type, literal) pairs."""
    constants = "".join(f"%a{k} = constant <{literal}> : {ty}\n" for k, (ty, literal) in enumerate(typed))
    names = "".join(f", %a{k}" for k in range(len(typed)))
    types = " : " + ", ".join(ty for ty, _ in typed) if typed else ""
    return target.printed(f'entry @k() {{\n{constants}%t = print_tko "{format}"{names}{types} -> token\nreturn\n}}')


@pytest.mark.parametrize(
    ("format", "typed", "expected"),
    [
        ("plain", [], "plain"),
        ("v=%.1f end", [("tile<2x2xf32>", "f32: [[1.0, 2.0], [3.0, 4.0]]")], "v=[[1.0, 2.0], [3.0, 4.0]] end"),
        ("%5.2f|", [("tile<2xf64>", "f64: [1.0, -2.5]")], "[ 1.00, -2.50]|"),
        ("%d %u %x %o", [("tile<i8>", "i8: -1")] * 4, "-1 255 ff 377"),
        ("%+d % d %05d %-4d|", [("tile<i32>", "i32: 42")] * 4, "+42  42 00042 42  |"),
        ("%lld %hhd", [("tile<i64>", "i64: -5"), ("tile<i8>", "i8: 7")], "-5 7"),
        ("%d", [("tile<2xi1>", "i1: [true, false]")], "[1, 0]"),
        ("100%% %g", [("tile<f16>", "f16: 0.5")], "100% 0.5"),
        ("%e %G", [("tile<bf16>", "bf16: 1.5"), ("tile<f8E5M2>", "f8E5M2: 1.5")], "1.500000e+00 1.5"),
        ("%a", [("tile<f32>", "f32: 1.5")], "0x1.8p+0"),
        ("%c%c", [("tile<i8>", "i8: 72"), ("tile<i8>", "i8: 105")], "Hi"),
        ("%f", [("tile<f32>", "f32: 0x7F800000")], "inf"),
        ("<%, %> done", [("tile<i32>", "i32: 3"), ("tile<f32>", "f32: 0.5")], "<3, 0.500000> done"),
    ],
)
def test_output_follows_printf(target, format, typed, expected):
    assert shown(target, format, *typed) == expected


def test_pointers_print_as_addresses(target):
    text = 'entry @k(%p: tile<ptr<f32>>) {\n%t = print_tko "%p", %p : tile<ptr<f32>> -> token\nreturn\n}'
    array = np.zeros(1, np.float32)
    assert target.printed(text, array) == hex(array.__array_interface__["data"][0])


def test_a_conversion_that_does_not_fit_warns_and_prints_what_it_can(target):
    with pytest.warns(KernelWarning, match="%d"):
        assert shown(target, "%d", ("tile<f32>", "f32: 2.5")) == "2"
    with pytest.warns(KernelWarning, match="%f"):
        assert shown(target, "%.1f", ("tile<i32>", "i32: 2")) == "2.0"


def test_output_goes_to_a_stream_or_standard_output(target, capsys):
    text = 'entry @k() {\n%t = print_tko "hello" -> token\nreturn\n}'
    stream = io.StringIO()
    target.launch(text, output=stream)
    assert stream.getvalue() == "hello"
    target.launch(text)
    assert capsys.readouterr().out == "hello"


def test_a_warning_is_given_at_the_line_of_the_program(target, tmp_path):
    text = """entry @k(%n: tile<i32>) {
        %t = print_tko "%f", %n : tile<i32> -> token
    }"""
    with pytest.warns(KernelWarning) as caught:
        target.printed(text, 1)
    assert (caught[0].filename, caught[0].lineno) == ("<string>", 2)
    file = tmp_path / "k.mlir"
    file.write_text(text)
    with pytest.warns(KernelWarning) as caught:
        tileir.load(file)["k"].launch(1, 7, target="interp", output=lambda text: None)
    assert (caught[0].filename, caught[0].lineno) == (str(file), 2)


def test_an_operation_warns_once_per_launch(target):
    text = """entry @k(%n: tile<i32>) {
        %t = print_tko "%f", %n : tile<i32> -> token
        return
    }"""
    with pytest.warns(KernelWarning) as caught:
        target.printed(text, 1, grid=(5, 1, 1))
    assert len(caught) == 1
    assert caught[0].message.block == (0, 0, 0)
    assert target.printed(text, 1, mode="off") == "1.000000"
