"""Every operation that reads or writes memory does so under the eyes of the sanitizer, found by running them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

import pytest

import tileir
from tests.golden.arguments import arguments, runs
from tileir import ops
from tileir.interp.memory import Memory
from tileir.ir.core import Op
from tileir.ir.effects import AccessTrait
from tileir.sanitize.access import WatchedAccess
from tileir.sanitize.memory import WatchedMemory

DECLARED = {op for op in ops.OPS.values() if any(isinstance(trait, AccessTrait) for trait in op.spec.traits)}


class Witness:
    """Notes which operation is at work whenever memory is looked into, and which have told what they touched."""

    def __init__(self) -> None:
        self.now: type[Op] | None = None
        self.touched: set[type[Op]] = set()

    def access(self, original: Callable[..., object]) -> Callable[..., object]:
        def call(watched: WatchedAccess, block: object, *values: object) -> object:
            self.now = type(watched._site.op)
            try:
                result = original(watched, block, *values)
                if watched._session.memory.touched:
                    self.touched.add(self.now)
                return result
            finally:
                self.now = None

        return call

    def memory(self, original: Callable[..., object]) -> Callable[..., object]:
        def look(memory: Memory, *given: object) -> object:
            assert not isinstance(memory, WatchedMemory) or self.now in DECLARED, "nobody watches this access"
            return original(memory, *given)

        return look

    @contextmanager
    def installed(self) -> Iterator[None]:
        with (
            mock.patch.object(WatchedAccess, "__call__", self.access(WatchedAccess.__call__)),
            mock.patch.object(Memory, "resolve", self.memory(Memory.resolve)),
            mock.patch.object(Memory, "window", self.memory(Memory.window)),
        ):
            yield


@pytest.mark.filterwarnings("ignore")
def test_all_operations_of_the_golden_programs() -> None:
    witness = Witness()
    with witness.installed():
        for file, text, entry, run in runs():
            kernel = tileir.parse(text, file)[entry]
            try:
                tileir.sanitize(kernel, run.grid, *arguments(kernel, run), output=lambda text: None)
            except tileir.UnsupportedError:
                continue
    assert witness.touched == DECLARED
