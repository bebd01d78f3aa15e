"""Spaces, templates, and searches that stay inside them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tileir.ir.usage import UsageError
from tileir.tune.search import ListedSearch, OptunaSearch, SpaceSearch, name_of, search_of
from tileir.tune.space import TuneSpace, substituted, values_of

ROOT = Path(__file__).parents[2]
SPACE = TuneSpace({"a": (1, 2, 3), "b": ("x", "y"), "c": (True, False)})


def walked(search: SpaceSearch) -> list[str]:
    """The points of a search, each worth its `a`, and none for b = y with c."""
    found = []
    while batch := search.batch():
        names = {name_of(point): None if point["b"] == "y" and point["c"] else float(point["a"]) for point in batch}
        found += list(names)
        search.tell(names)
    return found


def test_points_are_counted_from_the_first_values() -> None:
    points = list(SPACE)
    assert len(points) == SPACE.size == 12 and points[0] == {"a": 1, "b": "x", "c": True}
    assert [SPACE.at(number) for number in range(12)] == points


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tile<{{T}}xf32>", "tile<16xf32>"),
        ("{{(n + T - 1) // T}},{{-T % 7}}", "7,5"),
        ("{{ f }} { {x} }", "0.5 { {x} }"),
    ],
)
def test_places_are_filled(text: str, found: str) -> None:
    assert substituted(text, {"T": 16, "n": 100, "f": 0.5}) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{U}}", "no parameter 'U' for '{{U}}'; there are T"),
        ("{{T +}}", "cannot compute"),
        ("{{T // 0}}", "cannot compute"),
        ("{{__import__('os')}}", "expected names, numbers"),
        ("{{T ** 999999999}}", "expected names, numbers"),
    ],
)
def test_a_wrong_place_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("{", r"\{").replace("+", r"\+").replace("*", r"\*")):
        substituted(text, {"T": 16})


@pytest.mark.parametrize("word", ["T", "T=", "=1", "T=1,1"])
def test_a_wrong_word_is_wrong_usage(word: str) -> None:
    with pytest.raises(UsageError, match="--space: expected"):
        values_of(word, "space")
    assert values_of("T=1,2.5,true,abc", "space") == ("T", (1, 2.5, True, "abc"))


def test_an_exhaustive_search_tries_all_and_a_random_one_a_part_of_them() -> None:
    every = [name_of(point) for point in SPACE]
    assert walked(search_of("exhaustive", SPACE, None, 0)) == every
    some = walked(search_of("random", SPACE, 5, 0))
    assert some == walked(search_of("random", SPACE, 5, 0)) != walked(search_of("random", SPACE, 5, 1))
    assert len(set(some)) == 5 and some[0] == every[0] and set(some) <= set(every)
    assert walked(search_of("random", SPACE, 99, 0)) == every
    assert isinstance(search_of("random", SPACE, 3, 0), ListedSearch)


@pytest.mark.thorough
def test_a_led_search_tries_each_point_once_and_the_first_configuration_first() -> None:
    pytest.importorskip("optuna", reason="needs optuna: pip install '.[tune]'")
    every = {name_of(point) for point in SPACE}
    found = walked(OptunaSearch(SPACE, 10, 3))
    assert len(set(found)) == len(found) == 10 and set(found) <= every and found[0] == name_of(SPACE.at(0))
    assert found == walked(OptunaSearch(SPACE, 10, 3))
    assert set(walked(OptunaSearch(SPACE, 99, 3))) <= every


STUDY = """
import os, signal, sys
from pathlib import Path
from tests.tune.test_space_and_search import SPACE
from tileir.tune.search import OptunaSearch, name_of
search = OptunaSearch(SPACE, 99, 3, Path(sys.argv[1]))
batch = search.batch()
print(*map(name_of, batch), sep="\\n", flush=True)
search.tell({name_of(point): 1.0 / (1 + at) for at, point in enumerate(batch)})
search.batch()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.thorough
def test_a_study_in_a_file_goes_on_after_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="needs optuna: pip install '.[tune]'")
    killed = subprocess.run([sys.executable, "-c", STUDY, str(tmp_path / "s.db")], stdout=subprocess.PIPE, cwd=ROOT)
    tried = killed.stdout.decode().splitlines()
    assert killed.returncode == -signal.SIGKILL and len(tried) > 1
    search = OptunaSearch(SPACE, 99, 3, tmp_path / "s.db")
    again = [name_of(point) for point in search.batch()]
    assert again[:2] == [tried[0], tried[-1]] and set(again) <= {*tried}, "the first one, and the fastest of them"
    search.tell(dict.fromkeys(again, 1.0))
    assert not {*walked(search)} & {*tried}
    with pytest.raises(UsageError, match="--study: cannot use"):
        OptunaSearch(SPACE, 99, 3, tmp_path)
    with pytest.raises(UsageError, match="only the search of optuna"):
        search_of("random", SPACE, 5, 0, tmp_path / "s.db")
