"""The argument words of ``tileir run``: their meaning, and the errors for wrong ones."""

import os
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tileir.command_line import fill
from tileir.command_line.argument_words import assigned, parsed
from tileir.command_line.fill import ArrayWord, FileWord, Fill, ScalarWord
from tileir.ir import types as t
from tileir.ir.storage import dtype_of
from tileir.ir.usage import UsageError

FLOATS = [t.F16, t.BF16, t.F32, t.TF32, t.F64, t.F8E4M3FN, t.F8E5M2, t.F8E8M0FNU, t.F4E2M1FN, t.FNV8E5M3FNU]
INTS = [t.I1, t.I8, t.I16, t.I32, t.I64]


def random() -> np.random.Generator:
    return np.random.default_rng(7)


def array(word: str) -> np.ndarray:
    found = parsed(word)
    assert isinstance(found, ArrayWord)
    return fill.array(found, random)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("f32[4,8]:randn", ArrayWord(t.F32, (4, 8), Fill("randn"))),
        ("f16[64]", ArrayWord(t.F16, (64,), Fill("zeros"))),
        ("f32[]:1.5", ArrayWord(t.F32, (), Fill("value", (1.5,)))),
        ("i32[3x5]:rand:-5:7", ArrayWord(t.I32, (3, 5), Fill("rand", (-5, 7)))),
        ("i8[2]:255", ArrayWord(t.I8, (2,), Fill("value", (255,)))),
        ("f32[2]:-inf", ArrayWord(t.F32, (2,), Fill("value", (float("-inf"),)))),
        ("@some/a.npy", FileWord("some/a.npy")),
        ("i32:7", ScalarWord(t.I32, 7)),
        ("i64:0x10", ScalarWord(t.I64, 16)),
        ("i1:true", ScalarWord(t.I1, 1)),
        ("f32:1", ScalarWord(t.F32, 1.0)),
        ("7", ScalarWord(None, 7)),
        ("-1.5e3", ScalarWord(None, -1500.0)),
    ],
)
def test_a_word_is_read(word: str, expected: object) -> None:
    assert parsed(word) == expected


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("f33[4]:zeros", "expected an element type"),
        ("f32[4", "expected a number, an array such as"),
        ("f32[a]:zeros", "expected extents"),
        ("f32[-1]:zeros", "cannot be negative"),
        ("i32[4]:randn", "randn makes floats"),
        ("f32[4]:noise", "expected zeros, ones"),
        ("i32[4]:rand:7:7", "LO < HI"),
        ("i32[4]:rand:7", "rand:LO:HI"),
        ("i8[4]:256", "from -128 to 255"),
        ("i32:1.5", "expected an integer"),
        ("f32:abc", "'f32:abc': expected a number, got 'abc'"),
        ("nonsense", "expected a number, an array such as"),
        ("", "expected a number, an array such as"),
    ],
)
def test_a_wrong_word_is_refused_with_a_reason(word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("[", r"\[")):
        parsed(word)


def test_words_go_to_parameters_by_name_and_by_place() -> None:
    words = assigned(["n=5", "f32[2]", "b=f32[3]"], ["a", "b", "n"])
    assert [word.shape if isinstance(word, ArrayWord) else word for word in words] == [(2,), (3,), ScalarWord(None, 5)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1"], "no argument for 'n'"),
        (["1", "2", "3"], "got more: '3'"),
        (["a=1", "2", "n=3"], "'a' is given twice"),
        (["q=1"], "no parameter 'q'; the kernel has a, n"),
        (["1", "n=x"], "^parameter 'n': expected a number, an array such as"),
        (["f33[4]", "2"], "^parameter 'a': 'f33.4.': expected an element type"),
    ],
)
def test_words_that_do_not_fit_the_parameters_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        assigned(words, ["a", "n"])


@pytest.mark.parametrize("element", [*FLOATS, *INTS], ids=lambda element: element.name)
@pytest.mark.parametrize("how", ["zeros", "ones", "arange", "rand", "1"])
def test_every_element_type_can_be_filled(element: t.ElementType, how: str) -> None:
    values = array(f"{element.name}[4,2]:{how}")
    assert values.dtype == (np.uint8 if element is t.F4E2M1FN else dtype_of(element))
    assert fill.shape(values, element) == (4, 2)


@pytest.mark.parametrize("element", FLOATS, ids=lambda element: element.name)
def test_every_float_type_can_be_filled_with_normal_numbers(element: t.ElementType) -> None:
    values = array(f"{element.name}[64]:randn")
    assert len(np.unique(fill.numbers(values, element))) > 3


def test_fills_mean_what_they_say() -> None:
    np.testing.assert_array_equal(array("f32[2,2]:arange"), [[0, 1], [2, 3]])
    np.testing.assert_array_equal(array("bf16[3]:arange"), np.arange(3).astype(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(array("i8[1]:255"), [-1])
    np.testing.assert_array_equal(array("i1[3]:arange"), [False, True, False])
    numbers = array("i32[1000]:rand:3:6")
    assert set(numbers.tolist()) == {3, 4, 5}
    floats = array("f16[1000]:rand")
    assert 0 <= floats.min() <= floats.max() <= 1


def test_f4_lies_two_to_a_byte_the_even_one_low() -> None:
    values = array("f4E2M1FN[2,4]:arange")
    assert values.dtype == np.uint8
    assert values.shape == (2, 2)
    np.testing.assert_array_equal(fill.numbers(values, t.F4E2M1FN), [[0, 1, 2, 3], [4, 4, 6, 6]])
    with pytest.raises(UsageError, match="even last extent"):
        array("f4E2M1FN[3]:ones")


def test_floats_are_rounded_once_to_nearest() -> None:
    assert array("tf32[1]:1.0009765624").view(np.uint32)[0] & 0x1FFF == 0
    assert array("f8E8M0FNU[1]:zeros").view(np.uint8)[0] == 0
    assert array("fnv8E5M3FNU[1]:1")[0] == 15 << 3


@pytest.mark.parametrize("word", ["i8[3,5]:arange", "f32[]:1.5", "bf16[4099]:randn", "f4E2M1FN[2]", "f64[8193]"])
def test_arrays_begin_where_gpus_allocate_them(word: str, tmp_path) -> None:
    for _ in range(8):
        values = array(word)
        assert values.ctypes.data % 256 == 0 and values.flags.c_contiguous
    np.save(tmp_path / "a.npy", values.view(np.uint8) if values.dtype.kind == "V" else values)
    loaded = fill.loaded(FileWord(str(tmp_path / "a.npy")), None)
    assert loaded.ctypes.data % 256 == 0 and loaded.nbytes == values.nbytes


def test_the_same_seed_makes_the_same_array() -> None:
    np.testing.assert_array_equal(array("f32[8]:randn"), array("f32[8]:randn"))


def test_scalars_take_the_type_of_the_parameter() -> None:
    assert fill.scalar(ScalarWord(None, 7), t.I32) == 7
    assert isinstance(fill.scalar(ScalarWord(None, 7), t.F16), float)
    assert fill.scalar(ScalarWord(t.I1, 1), t.I1) is True
    with pytest.raises(UsageError, match=r"expected i32, got 1\.5"):
        fill.scalar(ScalarWord(None, 1.5), t.I32)
    with pytest.raises(UsageError, match="expected i32, got f32"):
        fill.scalar(ScalarWord(t.F32, 1.0), t.I32)


@pytest.mark.parametrize(
    ("element", "value", "got"),
    [
        (t.I32, 3000000000, r"3000000000 \(-1294967296 has its bits\)"),
        (t.I8, 255, r"255 \(-1 has its bits\)"),
        (t.I32, 1 << 32, "4294967296"),
        (t.I32, -3000000000, "-3000000000"),
        (t.I1, 5, "5"),
    ],
)
def test_an_integer_that_does_not_fit_its_parameter_is_refused(element: t.ElementType, value: int, got: str) -> None:
    with pytest.raises(UsageError, match=f"^expected an integer that fits {element.name}, got {got}$"):
        fill.scalar(ScalarWord(None, value), element)


def test_an_array_that_does_not_fit_in_memory_is_refused() -> None:
    with pytest.raises(UsageError, match="not enough memory"):
        array("f64[1000000000,1000000]:zeros")


def test_arrays_saved_without_their_type_take_the_parameters(tmp_path) -> None:
    values = np.arange(4).astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "a.npy", values)
    loaded = fill.loaded(FileWord(str(tmp_path / "a.npy")), t.BF16)
    np.testing.assert_array_equal(loaded, values)


@pytest.mark.parametrize("content", [b"", b"junk", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_array_is_refused(tmp_path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(UsageError, match="cannot read"):
        fill.loaded(FileWord(str(tmp_path / "a.npy")), t.F32)


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path) -> None:
    places = [tmp_path, Path("/dev/zero"), Path("/dev/null")]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        places.append(tmp_path / "pipe")
    for place in filter(Path.exists, places):
        with pytest.raises(UsageError, match=r"cannot read .*: expected a \.npy file, got what is no ordinary file"):
            fill.loaded(FileWord(str(place)), t.F32)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.npy", "cannot read 'none.npy': no such file or directory"),
        ("a\0b.npy", "cannot read 'a\0b.npy': "),
        ("several.npz", "'several.npz': expected one array, got an archive of several"),
        ("text.npy", "cannot read 'text.npy': expected a .npy file, got one that begins otherwise"),
    ],
)
def test_what_is_no_array_is_named(tmp_path, monkeypatch, name: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("several.npz", a=np.zeros(2), b=np.ones(2))
    Path("text.npy").write_text("1 2 3")
    with pytest.raises(UsageError) as caught:
        fill.loaded(FileWord(name), t.F32)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("values", [np.zeros(0, np.float32), np.float32(5), np.zeros((2, 0, 3), np.float32)])
def test_arrays_of_every_shape_are_read(tmp_path, values) -> None:
    np.save(tmp_path / "a.npy", values)
    loaded = fill.loaded(FileWord(str(tmp_path / "a.npy")), t.F32)
    np.testing.assert_array_equal(loaded, values)


def test_a_summary_sees_every_type() -> None:
    for element in (*FLOATS, *INTS):
        found = fill.summary(array(f"{element.name}[8]:ones"), element)
        assert found is not None
        assert found.low == found.high == (True if element is t.I1 else 1)
        assert len(found.checksum) == 8
    assert fill.summary(np.zeros(0, np.float32), t.F32) is None


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (1 << 60,), }", "makes no sense|malformed"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,), }", "got fewer"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", "got fewer"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "negative"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,), }", "makes no sense"),
        ("{'descr': 'x', 'fortran_order': False, 'shape': (1,), }", "descr is not valid|not a valid"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "object"),
        ("{" * 1000, "makes no sense"),
        ("1+" * 3000 + "1", "makes no sense|malformed"),
    ],
)
def test_a_file_whose_header_lies_is_refused(tmp_path, header: str, reason: str) -> None:
    head = header.encode("latin1") + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(16)
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(UsageError, match=f"(?i)cannot read .*({reason})"):
        fill.loaded(FileWord(str(tmp_path / "a.npy")), t.F32)
