"""Folds of the interpreter: bodies that it knows."""

from tests.language.test_reduction import body_of, fold_text
from tileir.interp.reduction import fold_of
from tileir.text.parser import parse


def test_well_known_bodies_are_recognised():
    module = parse(fold_text("reduce", "f32", 1, body_of("addf {}, {}", "f32"), "0.0"))
    reduce = next(op for op in module.walk() if op.spec.name == "reduce")
    assert fold_of(reduce) is not None
