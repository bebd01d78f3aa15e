"""Loading programs from files, text and bytes."""

import errno
import os
import pickle
from pathlib import Path

import pytest

import tileir

TEXT = "cuda_tile.module @m {\n  entry @k() {\n    return\n  }\n}\n"
EXPLAIN = Path(tileir.__file__).parent / "explain"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "k.mlir"
    path.write_text(TEXT)
    return path


def code_of(source):
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.load(source)
    (code,) = caught.value.codes
    assert (EXPLAIN / f"{code}.md").read_text().startswith(f"# {code}: ")
    return code, str(caught.value)


class TestSources:
    def test_a_path(self, file):
        for source in (file, str(file)):
            module = tileir.load(source)
            assert list(module.kernels) == ["k"]
            assert module.filename == str(file)

    def test_text(self):
        assert list(tileir.load(TEXT).kernels) == ["k"]
        assert list(tileir.load("entry @one() { return }").kernels) == ["one"]
        assert list(tileir.load("// nothing").kernels) == []
        assert list(tileir.load("").kernels) == []

    def test_bytes_of_text(self):
        for source in (TEXT.encode(), bytearray(TEXT.encode()), memoryview(TEXT.encode())):
            assert list(tileir.load(source).kernels) == ["k"]

    def test_bytecode_is_told_apart_by_its_content(self, tmp_path):
        data = tileir.to_bytecode(tileir.parse(TEXT), version="13.1")
        path = tmp_path / "k.mlir"
        path.write_bytes(data)
        for source in (data, path, str(path)):
            module = tileir.load(source)
            assert isinstance(module, tileir.Module)
            assert list(module.kernels) == ["k"]
        assert list(tileir.from_bytecode(data).kernels) == ["k"]

    def test_a_byte_order_mark_is_skipped(self, tmp_path):
        path = tmp_path / "k.mlir"
        path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
        assert list(tileir.load(path).kernels) == ["k"]

    def test_anything_else_is_a_type_error(self):
        with pytest.raises(TypeError, match="source: expected a path, program text or bytes, got int"):
            tileir.load(5)

    def test_parse_names_the_file_in_messages(self):
        with pytest.raises(tileir.DiagnosticError, match=r"mine\.mlir:1"):
            tileir.parse("entry @k( { return }", filename="mine.mlir")


class TestFiles:
    def test_a_file_that_is_not_there(self, tmp_path):
        for source in (tmp_path / "no.mlir", str(tmp_path / "no.mlir"), "no_such_file.mlir"):
            code, text = code_of(source)
            assert code == "E0001"
            assert "no such file or directory" in text

    def test_a_directory(self, tmp_path):
        assert code_of(tmp_path)[0] == code_of(str(tmp_path))[0] == "E0002"

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is readable for root")
    def test_a_file_that_may_not_be_read(self, file):
        file.chmod(0)
        assert code_of(file)[0] == "E0001"

    def test_a_file_that_is_no_utf_8(self, tmp_path):
        path = tmp_path / "k.mlir"
        path.write_bytes(b"entry @k() { return } // \xff")
        code, text = code_of(path)
        assert code == "E0003"
        assert f"{path}: expected text in UTF-8 or Tile IR bytecode, got byte 0xff at offset 25" in text
        assert code_of(b"\xff\xfee\x00n\x00")[0] == "E0003"

    def test_a_file_that_is_too_large(self, file, monkeypatch):
        monkeypatch.setattr("tileir.runtime.loading.MAX_BYTES", 10)
        assert code_of(file)[0] == "E0004"

    def test_a_name_that_no_file_can_have(self):
        assert code_of("a" * 4000)[0] == "E0001"
        with pytest.raises(tileir.DiagnosticError):
            tileir.load("entry \0")


class TestHostileContent:
    @pytest.mark.parametrize(
        "data", [b"\x7fTileIR\x00", b"\x7fTileIR\x00\x0d\x01\x00\x00" + b"\xff" * 64, b"\x7fTileIR"]
    )
    def test_damaged_bytecode_is_a_diagnostic(self, data):
        with pytest.raises(tileir.DiagnosticError):
            tileir.load(data)


@pytest.mark.parametrize("content", [b"\x7f", b"\x7fTile", b"\x7fTileIS\0\x0d\x01"])
def test_the_beginning_of_bytecode_is_no_text(content: bytes) -> None:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.load(content)
    (fault,) = caught.value.diagnostics
    assert fault.code == "E0901"
    assert fault.message.endswith(f"got {content[:8].hex(' ')}")


def test_a_file_that_cannot_be_read_is_an_os_error_too(tmp_path):
    missing = str(tmp_path / "missing.mlir")
    for path, number in ((missing, errno.ENOENT), (str(tmp_path), errno.EISDIR)):
        with pytest.raises(OSError) as caught:
            tileir.load(path)
        error = pickle.loads(pickle.dumps(caught.value))
        assert isinstance(error, tileir.DiagnosticError) and error.codes == caught.value.codes
        assert (error.errno, error.filename) == (number, path) and path in str(error)
