"""Kernels that a test compiles anew, by a plan that it inspects or changes.

The key of code does not depend on the plan, so nothing is kept; what kernels share is compiled once for this process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache

import pytest

import tileir
from tileir.cache import Cache
from tileir.cpu import plan
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import Host, host
from tileir.cpu.matmul.policy import ProductPlan
from tileir.cpu.plan import KernelPlan, plan_of
from tileir.cpu.run.program import loaded_library
from tileir.ops.module import Entry
from tileir.runtime import native


def compile_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each kernel compiled at its first launch. To be called before anything else is replaced."""
    nothing = _nothing_kept()
    monkeypatch.setattr(native, "shared_cache", lambda: nothing)


def kernel_of(text: str) -> tileir.Kernel:
    """Return the kernel @k of a program, made once for a test that calls this for each of many launches."""
    return _kernel(text, native.shared_cache)


@lru_cache(64)
def _kernel(text: str, cache: Callable[[], Cache]) -> tileir.Kernel:
    """What `compile_anew` puts there is another cache each time, and so is the kernel another."""
    return tileir.parse(text)["k"]


@cache
def _nothing_kept() -> Cache:
    nothing = Cache(None)
    loaded_library(nothing)
    return nothing


def planned(
    monkeypatch: pytest.MonkeyPatch,
    *without: str,
    target: Host | None = None,
    change: Callable[[KernelPlan], KernelPlan] = lambda made: made,
) -> list[KernelPlan]:
    """Have kernels compiled anew by plans without some strategies, for another processor, or changed otherwise; return
    the list of the plans, in which those stand that have been made since."""
    compile_anew(monkeypatch)
    found: list[KernelPlan] = []

    def made(entry: Entry, checks: CheckLevel, host: Host, watched: bool = False) -> KernelPlan:
        found.append(change(plan_of(entry, checks, target or host, watched, without)))
        return found[-1]

    monkeypatch.setattr(plan, "plan_of", made)
    return found


def always_streamed(made: KernelPlan) -> KernelPlan:
    """The plan with stores that bypass the cache however little a launch stores."""
    return replace(made, least_streamed=1)


def plan_of_text(text: str, *without: str, name: str = "k") -> KernelPlan:
    """The plan of a kernel of a program, with checks of memory accesses."""
    return plan_of(tileir.parse(text)[name].entry, CheckLevel.ON, host(), without=without)


def with_products(made: KernelPlan, change: Callable[[ProductPlan], ProductPlan]) -> KernelPlan:
    """The plan with every product of the entry changed."""
    products = {op: change(product) for op, product in made.body.products.items()}
    return replace(made, body=replace(made.body, products=products))
