"""Canonical text of attributes (spec: attributes#top): numbers, dictionaries, hints, predicates, enums, constants.

Locations and debug scopes inside an attribute are written in line, without aliases.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator

from tileir.ir import attributes as a
from tileir.ir import tf32
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Op
from tileir.ir.loc import DebugScope, Location
from tileir.ir.types import F64, I1, I64, TF32, TF32_UNUSED_BITS, ElementType
from tileir.text.kinds import ENUM_MNEMONICS
from tileir.text.numbers import float_pattern, float_text, name_text, string_text, symbol_text
from tileir.text.printing.locations import PlaceText


def attribute_text(attribute: a.Attribute, elide: bool = False) -> str:
    """Return the canonical spelling; with `elide` (inside arrays) the types i64 and f64 are left out."""
    if isinstance(attribute, a.IntegerAttr):
        return _integer(attribute, elide)
    if isinstance(attribute, a.FloatAttr):
        return _float(attribute, elide)
    if isinstance(attribute, a.BoolAttr):
        return bool_text(attribute.value)
    if isinstance(attribute, a.StringAttr):
        return string_text(attribute.value)
    if isinstance(attribute, a.ArrayAttr):
        return array_text(attribute)
    if isinstance(attribute, a.DictAttr):
        return dict_text(attribute.entries)
    if isinstance(attribute, a.TypeAttr):
        return attribute.value.full_text
    return _less_common(attribute)


def _less_common(attribute: a.Attribute) -> str:
    if isinstance(attribute, a.UnitAttr):
        return "unit"
    if isinstance(attribute, a.SymbolRef):
        return "::".join(map(symbol_text, attribute.path))
    if isinstance(attribute, a.DenseArray):
        return _dense_array(attribute)
    if isinstance(attribute, a.DenseElements):
        return f"dense<{elements_text(attribute)}> : {attribute.type.full_text}"
    if isinstance(attribute, a.OptimizationHints):
        return f"#cuda_tile.optimization_hints{hints_text(attribute)}"
    if isinstance(attribute, a.EnumAttr):
        return enum_text(attribute.case)
    if isinstance(attribute, a.OpaqueAttr):
        return f"#cuda_tile<{attribute.mnemonic} {attribute.keyword}>"
    if isinstance(attribute, a.DivBy | a.SameElements | a.Bounded):
        return f"#cuda_tile.{predicate_text(attribute)}"
    assert isinstance(attribute, Location | DebugScope), f"no spelling for {type(attribute).__name__}"
    return PlaceText({}, attribute_text).definition(attribute)


def bool_text(value: bool) -> str:
    return "true" if value else "false"


def _integer(attribute: a.IntegerAttr, elide: bool) -> str:
    if attribute.type is I1:
        return bool_text(bool(attribute.value))
    return str(attribute.value) + ("" if elide and attribute.type is I64 else f" : {attribute.type.name}")


def _float(attribute: a.FloatAttr, elide: bool) -> str:
    text = float_text(attribute.bits, attribute.type)
    bare = elide and attribute.type is F64 and not text.startswith("0x")
    return text if bare else f"{text} : {attribute.type.name}"


def array_text(items: Iterable[a.Attribute]) -> str:
    return f"[{', '.join(attribute_text(item, elide=True) for item in items)}]"


def dict_text(entries: Iterable[tuple[str, a.Attribute]]) -> str:
    """Return ``{key = value, flag}`` in the order given, which is sorted wherever a dictionary is kept."""
    return f"{{{', '.join(_entry(key, value) for key, value in entries)}}}"


def sorted_entries(entries: dict[str, a.Attribute]) -> list[tuple[str, a.Attribute]]:
    """Return the entries in the order of their keys as bytes."""
    return sorted(entries.items(), key=lambda entry: entry[0].encode("utf-8", "surrogateescape"))


def attr_dict(op: Op) -> str:
    """Return `` {key = value}`` of the discardable attributes, or nothing without any."""
    return f" {dict_text(sorted_entries(op.discardable))}" if op.discardable else ""


def _entry(key: str, value: a.Attribute) -> str:
    return name_text(key) if isinstance(value, a.UnitAttr) else f"{name_text(key)} = {attribute_text(value)}"


def _dense_array(array: a.DenseArray) -> str:
    numbers = ", ".join(_number(value, array.element) for value in array.values)
    return f"array<{array.element.name}{': ' if numbers else ''}{numbers}>"


def _number(value: int | bool | float, element: ElementType) -> str:
    """Return a number's text: a float type holds numbers as floats, or as bit patterns where they were written so."""
    if element.is_float:
        return float_text(float_pattern(value, element) if isinstance(value, float) else value, element)
    return bool_text(bool(value)) if element is I1 else str(int(value))


def enum_text(case: a.TextEnum) -> str:
    """Return a case as an attribute of its own; the enumerations without a name there are numbers."""
    mnemonic = ENUM_MNEMONICS.get(type(case))
    return f"{int(case)} : i32" if mnemonic is None else f"#cuda_tile.{mnemonic}<{case.text}>"


def hints_text(hints: a.OptimizationHints) -> str:
    """Return ``<key = {hint = value}>``: integers go without their type (spec: hints#text)."""
    return _hints(hints, name_text, _hint)


def disassembled_hints_text(hints: a.OptimizationHints) -> str:
    """Return the hints as the vendor's disassembler writes them: keys never in quotes, floats without their type.

    Keys that are not names, and floats, do not read back as the same hints.
    """
    return _hints(hints, str, _disassembled_hint)


def _hints(hints: a.OptimizationHints, name: Callable[[str], str], value: Callable[[a.Attribute], str]) -> str:
    def entries(target: a.Attribute) -> str:
        if not isinstance(target, a.DictAttr):
            return value(target)
        return f"{{{', '.join([f'{name(key)} = {value(hint)}' for key, hint in target.entries])}}}"

    return f"<{', '.join([f'{name(key)} = {entries(target)}' for key, target in hints.targets.entries])}>"


def _hint(value: a.Attribute) -> str:
    if isinstance(value, a.IntegerAttr) and value.type is not I1:
        return str(value.value)
    return attribute_text(value)


def _disassembled_hint(value: a.Attribute) -> str:
    return float_text(value.bits, value.type) if isinstance(value, a.FloatAttr) else _hint(value)


def predicate_text(predicate: a.AssumePredicate) -> str:
    """Return a predicate of `assume` without its dialect (spec: attributes#assume-predicates)."""
    if isinstance(predicate, a.DivBy):
        return f"div_by<{predicate.divisor}{_every(predicate)}>"
    if isinstance(predicate, a.SameElements):
        return f"same_elements<[{', '.join(map(str, predicate.values))}]>"
    return f"bounded<{_bound(predicate.lower)}, {_bound(predicate.upper)}>"


def _every(predicate: a.DivBy) -> str:
    every = "" if predicate.every is None else f" every {predicate.every}"
    along = "" if predicate.along is None else f" along {predicate.along}"
    return f",{every}{along}" if every or along else ""


def _bound(bound: int | None) -> str:
    return "?" if bound is None else str(bound)


MAX_LISTED = 100
"""A constant of more elements than this is written as one hexadecimal string, unless all are equal."""
_CODES = {8: "B", 16: "H", 32: "I", 64: "Q"}


def patterns(dense: DenseElements) -> list[int]:
    """Return the bit pattern of every held element (one for a splat); tf32 patterns have 19 bits."""
    element = dense.element
    code = _CODES[max(8, element.memory_bits)]
    found = [pattern for (pattern,) in struct.iter_unpack(f"<{code}", dense.data)]
    return [pattern >> TF32_UNUSED_BITS for pattern in found] if element is TF32 else found


def integer_value(pattern: int, element: ElementType) -> int:
    """Return the signed reading of a pattern; of i1 it is 0 or 1."""
    if element is I1:
        return pattern & 1
    half = 1 << (element.bits - 1)
    return (pattern & (2 * half - 1) ^ half) - half


def element_text(pattern: int, element: ElementType) -> str:
    if element.is_float:
        return float_text(pattern, element)
    if element is I1:
        return "true" if pattern else "false"
    return str(integer_value(pattern, element))


def elements_text(dense: DenseElements) -> str:
    """Return a single number for a splat, nested lists, or a string of hexadecimal digits for many elements."""
    element = dense.element
    if not dense.is_splat and dense.type.count > MAX_LISTED:
        return f'"0x{_packed(dense).hex().upper()}"'
    texts = (element_text(pattern, element) for pattern in patterns(dense))
    return next(texts) if dense.is_splat else _nested(texts, dense.type.shape)


def literal_text(dense: DenseElements) -> str:
    """Return ``<f32: 1.000000e+00>``"""
    return f"<{dense.element.name}: {elements_text(dense)}>"


def _nested(texts: Iterator[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return next(texts)
    return f"[{', '.join(_nested(texts, shape[1:]) for _ in range(shape[0]))}]"


def _packed(dense: DenseElements) -> bytes:
    """Return the elements one after the other, each in the fewest whole bytes: tf32 takes three."""
    return tf32.packed(dense.data) if dense.element is TF32 else dense.data
