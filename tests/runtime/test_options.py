"""The options of launches as types say them are those that targets take."""

from __future__ import annotations

from typing import get_args

import pytest

from tileir.runtime.module import TargetName, target_names
from tileir.runtime.options import (
    GpuOptions,
    InterpreterOptions,
    LaunchOptions,
    NativeOptions,
    VendorOptions,
    require_known,
)

BY_TARGET = (InterpreterOptions, NativeOptions, GpuOptions, VendorOptions)


def test_every_target_has_its_name_among_those_that_are_typed() -> None:
    assert target_names() == get_args(TargetName)


def test_launch_options_are_those_of_all_targets() -> None:
    together = {name for known in BY_TARGET for name in known.__annotations__}
    assert together == set(LaunchOptions.__annotations__)


@pytest.mark.parametrize("known", BY_TARGET, ids=lambda known: known.__name__)
def test_an_option_of_another_target_is_refused_by_name(known: type) -> None:
    others = LaunchOptions.__annotations__.keys() - known.__annotations__.keys()
    require_known(dict.fromkeys(known.__annotations__), known, "here")
    for other in others:
        with pytest.raises(TypeError, match=f"target 'here' has no option {other}: it has "):
            require_known({other: None}, known, "here")


def test_a_misspelt_option_is_told_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"no option threds: it has .* \(did you mean 'threads'\?\)$"):
        require_known({"threds": 2}, NativeOptions, "cpu")
