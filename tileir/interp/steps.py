"""Steps made of functions: fetch operands from the frame, call, store results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

from tileir.interp.api import BlockState
from tileir.interp.program import Fetch, Frame, Step

Input = int | tuple[int, ...]
"""The slot of a single operand, or the slots of a variadic one."""
Function = Callable[..., object]


def fetch(slots: tuple[int, ...]) -> Fetch:
    """The values in `slots`, as a tuple."""
    if not slots:
        return lambda frame: ()
    if len(slots) == 1:
        (only,) = slots
        return lambda frame: (frame[only],)
    return itemgetter(*slots)


def pure_step(function: Function, inputs: Sequence[Input], outputs: tuple[int, ...]) -> Step:
    """The step of ``function(*values)``."""
    maker = _PURE.get(len(inputs)) if len(outputs) == 1 and _all_single(inputs) else None
    if maker is not None:
        return maker(function, *inputs, *outputs)
    values = _fetch_inputs(inputs)
    return _storing(lambda frame, block: function(*values(frame)), outputs)


def effect_step(function: Function, inputs: Sequence[Input], outputs: tuple[int, ...]) -> Step:
    """The step of ``function(block, *values)``."""
    values = _fetch_inputs(inputs)
    return _storing(lambda frame, block: function(block, *values(frame)), outputs)


def _all_single(inputs: Sequence[Input]) -> bool:
    return all(isinstance(slot, int) for slot in inputs)


def _fetch_inputs(inputs: Sequence[Input]) -> Fetch:
    singles = tuple(slot for slot in inputs if isinstance(slot, int))
    if len(singles) == len(inputs):
        return fetch(singles)
    getters = [itemgetter(slot) if isinstance(slot, int) else fetch(slot) for slot in inputs]
    return lambda frame: tuple([getter(frame) for getter in getters])


def _storing(call: Callable[[Frame, BlockState], object], outputs: tuple[int, ...]) -> Step:
    """Call, then put the result, or the members of the tuple of results, where they belong."""
    if not outputs:
        return call  # type: ignore[return-value]
    if len(outputs) == 1:
        (only,) = outputs

        def store_one(frame: Frame, block: BlockState) -> None:
            frame[only] = call(frame, block)

        return store_one

    def store_many(frame: Frame, block: BlockState) -> None:
        for slot, value in zip(outputs, call(frame, block)):  # type: ignore[call-overload]
            frame[slot] = value

    return store_many


def _nullary(function: Function, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function()

    return step


def _unary(function: Function, a: int, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function(frame[a])

    return step


def _binary(function: Function, a: int, b: int, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function(frame[a], frame[b])

    return step


def _ternary(function: Function, a: int, b: int, c: int, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function(frame[a], frame[b], frame[c])

    return step


_PURE: dict[int, Callable[..., Step]] = {0: _nullary, 1: _unary, 2: _binary, 3: _ternary}
