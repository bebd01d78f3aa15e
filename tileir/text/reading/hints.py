"""Hints for common mistakes: words of other MLIR dialects and languages, misspelled operations, forgotten parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from tileir.ir.core import Op
from tileir.ir.diagnostics import did_you_mean
from tileir.ir.spec import OpSpec
from tileir.ir.types import TOKEN, ElementType, PointerType, TileType, Type
from tileir.ir.types.elements import FLOATS, I1, I64, INTS
from tileir.ops import SPELLINGS

_DIALECTS = re.compile(
    "(acc|affine|amdgpu|arith|async|bufferization|cf|complex|emitc|func|gpu|index|linalg|llvm|math|memref|nvgpu|nvvm|omp|"
    "rocdl|scf|shape|spirv|stablehlo|tensor|tosa|transform|tt|ttg|ttng|vector)"
)


def _by_name(meant: dict[str, str]) -> dict[str, str]:
    """Return what each foreign name means, from the names for each meaning."""
    return {name: meaning for meaning, names in meant.items() for name in names.split()}


_OPERATIONS = _by_name(
    {
        "ftof": "arith.extf arith.truncf",
        "ftoi ... signed": "arith.fptosi",
        "ftoi ... unsigned": "arith.fptoui",
        "exti or trunci": "arith.index_cast",
        "maxf": "arith.maximumf arith.maxnumf",
        "minf": "arith.minimumf arith.minnumf",
        "itof ... signed": "arith.sitofp",
        "itof ... unsigned": "arith.uitofp",
        "experimental$call": "func.call tt.call",
        "entry": "func.func gpu.func tt.func",
        "get_tile_block_id": "gpu.block_id tt.get_program_id",
        "get_num_tile_blocks": "gpu.grid_dim tt.get_num_programs",
        "mmaf or mmai": "linalg.matmul tt.dot",
        "pow": "math.powf",
        "load_view_tko, which loads a tile": "memref.load",
        "store_view_tko, which stores a tile": "memref.store",
        "break, in an 'if'": "scf.condition",
        "loop": "scf.while",
        "continue in a 'for' or 'loop', yield in an 'if'": "scf.yield",
        "extract": "tensor.extract_slice",
        "insert": "tensor.insert_slice",
        "offset": "tt.addptr",
        "atomic_cas_tko": "tt.atomic_cas",
        "atomic_rmw_tko": "tt.atomic_rmw",
        "bitcast, or ptr_to_ptr for pointers": "tt.bitcast",
        "reshape": "tt.expand_dims",
        "load_ptr_tko": "tt.load",
        "iota": "tt.make_range",
        "make_tensor_view and make_partition_view": "tt.make_tensor_ptr",
        "print_tko": "tt.print",
        "reshape and broadcast": "tt.splat",
        "store_ptr_tko": "tt.store",
        "permute": "tt.trans",
        "load_ptr_tko or load_view_tko": "vector.load",
        "store_ptr_tko or store_view_tko": "vector.store",
    }
)
_WITH_SIGN = re.compile(r"arith\.(div|ext|max|min|rem|shr)([su])i")
"""Operations whose sign is a keyword behind the operands here."""
_HABITS = _by_name(
    {
        "iota": "arange range",
        "atomic_rmw_tko ... add, and addf for floats": "atomic_add",
        "get_tile_block_id": "block_id program_id",
        "ftof, ftoi, itof, exti, trunci and bitcast": "cast",
        "cat": "concat",
        "entry": "def fn func kernel",
        "mmaf and mmai": "dot matmul mma",
        "reshape": "expand_dims",
        "constant": "full",
        "make_gather_scatter_view, and load_ptr_tko for a tile of pointers": "gather",
        "load_view_tko and load_ptr_tko": "load",
        "maxf and maxi, and reduce over the elements of a tile": "max",
        "minf and mini, and reduce over the elements of a tile": "min",
        "xori with -1": "not",
        "make_gather_scatter_view, and store_ptr_tko for a tile of pointers": "scatter",
        "constant, or reshape and broadcast of a value": "splat",
        "store_view_tko and store_ptr_tko": "store",
        "reduce": "sum",
        "permute": "transpose",
        "select": "where",
        "loop": "while",
    }
)
"""Names in Tile IR of operations that other languages call by these words."""
_ENDED_BY_KIND = frozenset(["abs", "add", "and", "cmp", "div", "mul", "neg", "or", "rem", "sub", "xor"])
"""Words of other languages to which Tile IR adds ``f``, ``i`` or either."""


def foreign_hint(name: str) -> str | None:
    """Return a hint for an operation of another dialect or language, or of a preview."""
    if name.startswith("preview$"):
        return (
            "it stands in libraries of code for a GPU, which are linked in; 'preview$call' calls such code by its name"
        )
    kinds = [f"{name}{kind}" for kind in "fi" if f"{name}{kind}" in spellings()] if name in _ENDED_BY_KIND else []
    if kinds or name in _HABITS:
        return f"Tile IR has {_HABITS.get(name) or ' and '.join(kinds)}"
    dialect, dot, word = name.partition(".")
    if not dot or not _DIALECTS.fullmatch(dialect):
        return None
    found = _OPERATIONS.get(name) or (word if word in spellings() else None)
    signed = _WITH_SIGN.fullmatch(name)
    if signed is not None:
        found = f"{signed[1]}i ... {'signed' if signed[2] == 's' else 'unsigned'}"
    if found is None:
        return f"'{dialect}' is another dialect; 'tileir explain NAME' explains the operations of Tile IR"
    return f"'{dialect}' is another dialect; Tile IR has {found}"


# ---------------------------------------------------------------- syntax

_TAKEN = re.compile(r"(?<![%<@($\w])[a-z]\w{2,}")
"""Words of a syntax that are written as they are."""


def operation_hint(name: str) -> str | None:
    """Return the operation with a similar name; one of another length must be more similar, as names are short."""
    same_length = [known for known in spellings() if len(known) == len(name)]
    return did_you_mean(name, spellings(), 0.7) or did_you_mean(name, same_length)


def syntax_hint(spec: OpSpec, syntax: str, word: str) -> str:
    """Return the word of an operation's syntax that `word` is near to, or else the syntax."""
    words = set(_TAKEN.findall(syntax))
    near = None if word in words else did_you_mean(word, sorted(words))
    alone = ", or 'return' alone in an entry, which stores its results" if spec.name == "return" else ""
    return near or f"write '{syntax}'{alone} ('tileir explain {spec.name}' says more)"


# ---------------------------------------------------------------- memory


def token_hint(spec: OpSpec, written: str) -> str | None:
    """Return a hint for an operation whose token, its last result, was forgotten; `written` is the correct form."""
    if not spec.results or spec.results[-1].constraint.only is not TOKEN:
        return None
    return f"'{spec.name}' also gives a token: write {written}"


def memory_hint(spec: OpSpec) -> str | None:
    """Return a hint on how an operation states its ordering and scope, with the weakest that it may have."""
    weakest = "relaxed device" if spec.name.startswith("atomic") else "weak"
    others = {"load": "acquire device", "store": "release device"}.get(spec.name.partition("_")[0])
    ordered = f", or '{spec.name} {others} ...' where tile blocks wait for each other" if others else ""
    return f"write '{spec.name} {weakest} ...'{ordered}"


# ---------------------------------------------------------------- values


_BARE = (ElementType, PointerType)
"""Types of which values exist only in tiles."""


def carrying_hint(op: str) -> str | None:
    """Return a hint on how a value leaves a region of the operation called `op`."""
    return {
        "for": "carry it out with 'iter_values' and 'continue'",
        "loop": "carry it out with 'break', as a result of the 'loop'",
        "if": "carry it out with 'yield', as a result of the 'if'",
    }.get(op)


def conversion_hint(found: Type, wanted: Type) -> str | None:
    """Return the operation that makes a value of the type `wanted` of one of the type `found`, or how a scalar is
    written."""
    if isinstance(found, _BARE) or isinstance(wanted, _BARE):
        bare = found if isinstance(found, _BARE) else wanted
        return f"a value is a tile, one without extents too: write 'tile<{bare!r}>'"
    if not isinstance(found, TileType) or not isinstance(wanted, TileType):
        return None
    if found.shape == wanted.shape:
        if wanted.element is I1 and found.element in (*INTS, *FLOATS):
            return "'cmpf' compares floats" if found.element in FLOATS else "'cmpi' compares integers"
        if isinstance(found.element, PointerType) and wanted.element is found.element.pointee:
            return f"'load_ptr_tko' loads a {wanted!r} through it"
        if isinstance(wanted.element, PointerType) and found.element in INTS and found.element is not I64:
            return "'offset' moves pointers by integers"
        name = _element_conversion(found.element, wanted.element)
    elif found.element is wanted.element and not found.shape and wanted.count > 1:
        return "'reshape' and 'broadcast' make a tile of a scalar"
    elif found.element is wanted.element:
        name = "reshape" if found.count == wanted.count else "broadcast" if found.rank == wanted.rank else None
    else:
        name = None
    return f"'{name}' makes a {wanted!r} of it" if name else None


def _element_conversion(found: Type, wanted: Type) -> str | None:
    if isinstance(found, PointerType) or isinstance(wanted, PointerType):
        numbers = {one for one in (found, wanted) if not isinstance(one, PointerType)}
        if numbers - {I64}:
            return None
        return "ptr_to_ptr" if not numbers else "ptr_to_int" if isinstance(found, PointerType) else "int_to_ptr"
    if found in INTS and wanted in INTS:
        return "exti" if found.bits < wanted.bits else "trunci"
    kinds = found in FLOATS, wanted in FLOATS
    return {(True, True): "ftof", (True, False): "ftoi", (False, True): "itof"}.get(kinds)


_TYPES = _by_name(
    {
        "f8E4M3FN": "e3m4 f8e3m4 f8e4m3",
        "f8E5M2": "f8e5m2fn",
        "f8E8M0FNU": "f8e8m0",
        "f4E2M1FN": "f4e2m1",
        "i64": "index",
        "f64": "double",
        "f32": "float",
        "f16": "half",
        "i32": "int",
        "i1": "bool",
        "tile": "tensor vector",
        "tensor_view": "memref tt.tensordesc",
        "ptr": "pointer tt.ptr llvm.ptr",
    }
)
"""Types by names in small letters."""
_FOREIGN = re.compile(r"(index|memref|tensor|vector)\b(?:<((?:[\d?]+x)*)([a-z]\w*))?", re.ASCII)
"""Types of values in other dialects: their names, extents and elements."""
_SIGNED = re.compile(r"[su]i?(\d+)|u?int(\d+)", re.ASCII)
"""Integers, which have no sign of their own here."""
_KEYWORDS = _by_name(
    {
        "equal": "eq oeq ueq",
        "not_equal": "ne one une",
        "nearest_even": "rn rne rtne",
        "zero": "rz rtz",
        "negative_inf": "rd rm",
        "positive_inf": "ru rp",
        "no_signed_wrap": "nsw",
        "no_unsigned_wrap": "nuw",
        "relaxed": "monotonic",
        "device": "gpu",
        "tl_blk": "cta block",
        "sys": "system",
    }
)
_ORDERS = {"lt": "less_than", "le": "less_than_or_equal", "gt": "greater_than", "ge": "greater_than_or_equal"}
_ORDER = re.compile(r"[sou]?(lt|le|gt|ge)")


def type_hint(name: str, known: Iterable[str]) -> str | None:
    """Return a hint naming the `known` type that an unknown name may be meant for."""
    names = list(known)
    small = name.lower()
    by_small = {one.lower(): one for one in names}
    signed = _SIGNED.fullmatch(small)
    meant = by_small.get(small) or _TYPES.get(small) or (signed and f"i{signed[1] or signed[2]}")
    return f"did you mean '{meant}'?" if meant in names else did_you_mean(name, names)


def value_type_hint(text: str) -> str | None:
    """Return a hint for the type of a value in another dialect, which `text` begins with."""
    found = _FOREIGN.match(text)
    if found is None:
        return None
    name, extents, element = found[1], found[2] or "", found[3] or "f32"
    if name == "index":
        return "an index is an integer: write 'tile<i64>' or 'tile<i32>'"
    if name == "memref" or "?" in extents:
        return f"memory is passed as a pointer: write 'tile<ptr<{element}>>', of which 'make_tensor_view' makes a view"
    return f"write 'tile<{extents}{element}>'"


def keyword_hint(word: str, known: Iterable[str]) -> str | None:
    """Return a hint naming the `known` keyword that an unknown word may be meant for."""
    names = list(known)
    order = _ORDER.fullmatch(word)
    meant = _ORDERS[order[1]] if order else _KEYWORDS.get(word)
    return f"did you mean '{meant}'?" if meant in names else did_you_mean(word, names)


PREFIX = "cuda_tile."
"""The dialect, which may stand in front of every name."""
_EARLY_PREFIX = "experimental$"


@cache
def spellings() -> dict[str, type[Op]]:
    """Return every name without the dialect's prefix; early documents also write ``experimental.`` for
    ``experimental$``."""
    names = SPELLINGS | {name: op for op in SPELLINGS.values() for _, name in op.spec.spellings}
    dotted = {name.replace("$", "."): op for name, op in names.items() if name.startswith(_EARLY_PREFIX)}
    return names | dotted
