"""Rows of conversions (spec: conversion#top)."""

from __future__ import annotations

from tileir.passes.pattern import PatternRow
from tileir.passes.row import Exactness


def _exact(name: str, pattern: str, becomes: str, why: str, when: str = "") -> PatternRow:
    return PatternRow(name, "canonicalise", pattern, becomes, Exactness.EXACT, why, when)


ROWS = (
    _exact("exti-exti", "exti(exti(x, signedness=S), signedness=S)", "exti(x, signedness=S)", "two extensions are one"),
    _exact(
        "exti-exti-unsigned", "exti(exti(x, signedness=unsigned), signedness=signed)", "exti(x, signedness=unsigned)",
        "a number extended by zeros is not negative",
    ),
    _exact("trunci-trunci", "trunci(trunci(x))", "trunci(x)", "two truncations are one"),
    _exact("trunci-exti", "trunci(exti(x))", "x", "the bits that an extension adds are dropped again"),
    _exact(
        "trunci-exti-narrower", "trunci(exti(x))", "trunci(x)", "the bits that an extension adds are dropped again",
        "narrower(result, x)",
    ),
    _exact(
        "trunci-exti-wider", "trunci(exti(x, signedness=S))", "exti(x, signedness=S)",
        "some of the bits that an extension adds are dropped again", "wider(result, x)",
    ),
    _exact("bitcast-itself", "bitcast(x)", "x", "the type stays as it is"),
    _exact("bitcast-bitcast", "bitcast(bitcast(x))", "bitcast(x)", "the bits are read once more"),
    _exact("ptr-to-ptr-itself", "ptr_to_ptr(x)", "x", "the type stays as it is"),
    _exact("ptr-to-ptr-twice", "ptr_to_ptr(ptr_to_ptr(x))", "ptr_to_ptr(x)", "the address stays as it is"),
    _exact("ptr-to-int-to-ptr", "ptr_to_int(int_to_ptr(x))", "x", "an address is a number of 64 bits"),
    _exact("ptr-to-int-cast", "ptr_to_int(ptr_to_ptr(x))", "ptr_to_int(x)", "the address stays as it is"),
)  # fmt: skip
