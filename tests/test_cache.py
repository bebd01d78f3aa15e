"""Machine code is kept and found again; damage, other keys, lack of room and unusable places are no trouble."""

import os
import threading

import numpy as np
import pytest

import tileir
from tileir.cache import Cache, default_directory, key_of
from tileir.cpu.emit.record import KERNEL_NAME
from tileir.cpu.run import program

PARTS = b"facts", b"\x7fELF" * 1000
KEY = key_of("a program")

ADD = """entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {
  %old, %t = atomic_rmw_tko relaxed device %p, add, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}"""


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def compilations(monkeypatch, tmp_path):
    """The kernels compiled while the test runs, with an empty cache, which has not even what kernels share."""
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    made, real = [], program.object_code

    def noted(text, host):
        if KERNEL_NAME in text:
            made.append(text)
        return real(text, host)

    monkeypatch.setattr(program, "object_code", noted)
    return made


def file_of(cache):
    (path,) = cache.directory.iterdir()
    return path


class TestEntries:
    def test_what_was_put_is_found(self, cache):
        assert cache.get(KEY) is None
        cache.put(KEY, PARTS)
        assert cache.get(KEY) == PARTS
        assert cache.used()[0] == 1

    def test_no_temporary_files_are_left(self, cache):
        cache.put(KEY, PARTS)
        cache.put(KEY, PARTS)
        assert [path.name for path in cache.directory.iterdir()] == [f"{KEY}.native"]

    @pytest.mark.parametrize("length", [0, 1, 8, 39, 40, 41, 56, 60, 1000])
    def test_a_truncated_entry_is_not_used(self, cache, length):
        cache.put(KEY, PARTS)
        path = file_of(cache)
        path.write_bytes(path.read_bytes()[:length])
        assert cache.get(KEY) is None

    def test_a_changed_byte_anywhere_is_noticed(self, cache):
        cache.put(KEY, PARTS)
        path = file_of(cache)
        content = path.read_bytes()
        for position in range(0, len(content), 61):
            path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
            assert cache.get(KEY) is None

    def test_a_damaged_entry_is_replaced(self, cache):
        cache.put(KEY, PARTS)
        file_of(cache).write_bytes(b"nonsense")
        cache.put(KEY, PARTS)
        assert cache.get(KEY) == PARTS

    def test_the_entries_used_longest_ago_go_first(self, tmp_path):
        cache = Cache(tmp_path, max_bytes=3 * (len(PARTS[1]) + 200))
        for age, name in enumerate("abc"):
            cache.put(key_of(name), PARTS)
            os.utime(tmp_path / f"{key_of(name)}.native", (1000 + age, 1000 + age))
        assert cache.get(key_of("a")) is not None
        cache.put(key_of("d"), PARTS)
        assert [cache.get(key_of(name)) is not None for name in "abcd"] == [True, False, True, True]

    def test_many_threads_at_once(self, cache):
        wrong = []

        def work():
            for _ in range(30):
                cache.put(KEY, PARTS)
                if cache.get(KEY) != PARTS:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


class TestPlaces:
    def test_no_directory_keeps_nothing(self):
        cache = Cache(None)
        cache.put(KEY, PARTS)
        assert cache.get(KEY) is None
        assert cache.used() == (0, 0)

    def test_a_place_that_cannot_be_used_keeps_nothing(self, tmp_path):
        (tmp_path / "file").write_text("in the way")
        cache = Cache(tmp_path / "file" / "cache")
        cache.put(KEY, PARTS)
        assert cache.get(KEY) is None

    @pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
    def test_a_place_that_everybody_may_write_to_is_not_used(self, tmp_path):
        cache = Cache(tmp_path / "cache")
        cache.put(KEY, PARTS)
        cache.directory.chmod(0o777)
        with pytest.warns(RuntimeWarning, match="everybody may write to it"):
            assert cache.get(KEY) is None
        cache.put(key_of("another"), PARTS)  # and one warning is enough
        assert cache.used()[0] == 1

    @pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
    def test_a_place_that_everybody_may_replace_is_not_used(self, tmp_path):
        cache = Cache(tmp_path / "shared" / "cache")
        cache.put(KEY, PARTS)
        (tmp_path / "shared").chmod(0o777)
        with pytest.warns(RuntimeWarning, match="put another in its place"):
            assert cache.get(KEY) is None
        (tmp_path / "shared").chmod(0o1777)
        assert cache.get(KEY) == PARTS

    @pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
    @pytest.mark.parametrize(("shared", "reason"), [("cache", "may write to it"), ("", "may put another in its place")])
    def test_a_place_that_a_group_with_others_may_change_is_not_used(self, tmp_path, monkeypatch, shared, reason):
        import grp

        group = os.stat(tmp_path).st_gid
        monkeypatch.setattr("tileir.cache._ROOT", group + 1)
        cache = Cache(tmp_path / "place" / "cache")
        cache.put(KEY, PARTS)
        (tmp_path / "place" / shared).chmod(0o770)
        members = ["somebody", "else"]
        monkeypatch.setattr(grp, "getgrgid", lambda number: grp.struct_group(("team", "x", number, members)))
        with pytest.warns(RuntimeWarning, match=f"the group {group} {reason}"):
            assert cache.get(KEY) is None
        members.clear()
        assert (cache.get(KEY) == PARTS) == (group == os.getuid())  # only such a group is its user's own

    @pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
    def test_of_a_link_the_place_counts_to_which_it_leads(self, tmp_path):
        Cache(tmp_path / "shared" / "cache").put(KEY, PARTS)
        (tmp_path / "link").symlink_to(tmp_path / "shared" / "cache")
        linked = Cache(tmp_path / "link")
        assert linked.get(KEY) == PARTS
        (tmp_path / "shared").chmod(0o777)
        with pytest.warns(RuntimeWarning, match="put another in its place"):
            assert linked.get(KEY) is None

    @pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
    def test_a_place_of_another_user_is_not_used(self, cache, monkeypatch):
        cache.put(KEY, PARTS)
        owner = os.stat(cache.directory).st_uid
        monkeypatch.setattr("tileir.cache._ROOT", owner + 2)
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
        with pytest.warns(RuntimeWarning, match="belongs to another user"):
            assert cache.get(KEY) is None

    def test_what_killed_processes_left_goes_after_a_while(self, cache):
        cache.put(KEY, PARTS)
        old, new = (cache.directory / f".new.{name}" for name in ("old", "new"))
        for path in (old, new):
            path.write_bytes(b"half an entry")
        os.utime(old, (1000, 1000))
        cache.put(KEY, PARTS)
        assert new.exists() and not old.exists()

    def test_the_environment_names_the_place(self, monkeypatch, tmp_path):
        monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path))
        assert default_directory() == tmp_path

    def test_otherwise_it_is_a_folder_of_ours(self, monkeypatch):
        monkeypatch.delenv("TILEIR_CACHE_DIR", raising=False)
        assert default_directory() is None or default_directory().name == "tileir"


class TestPrograms:
    def run(self, text=ADD):
        out = np.zeros(1, np.int32)
        tileir.parse(text)["k"].launch(4, out, 3, target="cpu")
        return out[0]

    def test_a_program_is_compiled_once(self, compilations):
        assert [self.run(), self.run(), self.run()] == [12, 12, 12]
        assert len(compilations) == 1

    def test_names_and_layout_do_not_matter(self, compilations):
        self.run()
        assert self.run(ADD.replace("%old", "%before").replace("\n", "\n\n")) == 12
        assert len(compilations) == 1

    def test_a_different_program_is_compiled(self, compilations):
        self.run()
        assert self.run(ADD.replace(" add,", " max,")) == 3
        assert len(compilations) == 2

    def test_a_damaged_entry_is_compiled_again(self, compilations, tmp_path):
        self.run()
        for path in (tmp_path / "cache").iterdir():  # the kernel, and the library that it calls
            path.write_bytes(path.read_bytes()[:-1] + b"x")
        assert self.run() == 12
        assert len(compilations) == 2
        assert self.run() == 12
        assert len(compilations) == 2

    def test_a_trap_of_cached_code_has_its_place(self, compilations):
        text = """entry @k(%n: tile<i32>) {
          %zero = constant <i32: 0> : tile<i32>
          %fine = cmpi less_than %n, %zero, signed : tile<i32> -> tile<i1>
          assert %fine, "not negative" : tile<i1>
          return
        }"""
        found = []
        for _ in range(2):
            with pytest.raises(tileir.Trap) as caught:
                tileir.parse(text)["k"].launch(1, 5, target="cpu")
            found.append(str(caught.value))
        assert found[0] == found[1]
        assert "not negative" in found[0]
        assert len(compilations) == 1
