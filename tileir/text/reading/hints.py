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
_OPERATIONS = {
    "arith.extf": "ftof",
    "arith.fptosi": "ftoi ... signed",
    "arith.fptoui": "ftoi ... unsigned",
    "arith.index_cast": "exti or trunci",
    "arith.maximumf": "maxf",
    "arith.maxnumf": "maxf",
    "arith.minimumf": "minf",
    "arith.minnumf": "minf",
    "arith.sitofp": "itof ... signed",
    "arith.truncf": "ftof",
    "arith.uitofp": "itof ... unsigned",
    "func.call": "experimental$call",
    "func.func": "entry",
    "gpu.block_id": "get_tile_block_id",
    "gpu.func": "entry",
    "gpu.grid_dim": "get_num_tile_blocks",
    "linalg.matmul": "mmaf or mmai",
    "math.powf": "pow",
    "memref.load": "load_view_tko, which loads a tile",
    "memref.store": "store_view_tko, which stores a tile",
    "scf.condition": "break, in an 'if'",
    "scf.while": "loop",
    "scf.yield": "continue in a 'for' or 'loop', yield in an 'if'",
    "tensor.extract_slice": "extract",
    "tensor.insert_slice": "insert",
    "tt.addptr": "offset",
    "tt.atomic_cas": "atomic_cas_tko",
    "tt.atomic_rmw": "atomic_rmw_tko",
    "tt.bitcast": "bitcast, or ptr_to_ptr for pointers",
    "tt.call": "experimental$call",
    "tt.dot": "mmaf or mmai",
    "tt.expand_dims": "reshape",
    "tt.func": "entry",
    "tt.get_num_programs": "get_num_tile_blocks",
    "tt.get_program_id": "get_tile_block_id",
    "tt.load": "load_ptr_tko",
    "tt.make_range": "iota",
    "tt.make_tensor_ptr": "make_tensor_view and make_partition_view",
    "tt.print": "print_tko",
    "tt.splat": "reshape and broadcast",
    "tt.store": "store_ptr_tko",
    "tt.trans": "permute",
    "vector.load": "load_ptr_tko or load_view_tko",
    "vector.store": "store_ptr_tko or store_view_tko",
}
_WITH_SIGN = re.compile(r"arith\.(div|ext|max|min|rem|shr)([su])i")
"""Operations that state whether integers are signed behind their operands here."""
_HABITS = {
    "abs": "absf and absi",
    "add": "addf and addi",
    "and": "andi",
    "arange": "iota",
    "atomic_add": "atomic_rmw_tko ... add, and addf for floats",
    "block_id": "get_tile_block_id",
    "cast": "ftof, ftoi, itof, exti, trunci and bitcast",
    "cmp": "cmpf and cmpi",
    "concat": "cat",
    "def": "entry",
    "div": "divf and divi",
    "dot": "mmaf and mmai",
    "expand_dims": "reshape",
    "fn": "entry",
    "full": "constant",
    "func": "entry",
    "gather": "make_gather_scatter_view, and load_ptr_tko for a tile of pointers",
    "kernel": "entry",
    "load": "load_view_tko and load_ptr_tko",
    "matmul": "mmaf and mmai",
    "max": "maxf and maxi, and reduce over the elements of a tile",
    "min": "minf and mini, and reduce over the elements of a tile",
    "mma": "mmaf and mmai",
    "mul": "mulf and muli",
    "neg": "negf and negi",
    "not": "xori with -1",
    "or": "ori",
    "program_id": "get_tile_block_id",
    "range": "iota",
    "rem": "remf and remi",
    "scatter": "make_gather_scatter_view, and store_ptr_tko for a tile of pointers",
    "splat": "constant, or reshape and broadcast of a value",
    "store": "store_view_tko and store_ptr_tko",
    "sub": "subf and subi",
    "sum": "reduce",
    "transpose": "permute",
    "where": "select",
    "while": "loop",
    "xor": "xori",
}
"""Tile IR's names for operations that other languages call so."""


def foreign_hint(name: str) -> str | None:
    """Return a hint for an operation of another dialect or language, or of a preview."""
    if name.startswith("preview$"):
        return (
            "it stands in libraries of code for a GPU, which are linked in; 'preview$call' calls such code by its name"
        )
    if name in _HABITS:
        return f"Tile IR has {_HABITS[name]}"
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
    """Return the operation whose name is near: such names are many and short, so one of another length must be
    nearer."""
    same_length = [known for known in spellings() if len(known) == len(name)]
    return did_you_mean(name, spellings(), 0.7) or did_you_mean(name, same_length)


def syntax_hint(spec: OpSpec, syntax: str, word: str) -> str:
    """Return the word of an operation's syntax that `word` is near to, or else the syntax."""
    words = set(_TAKEN.findall(syntax))
    near = None if word in words else did_you_mean(word, sorted(words))
    return near or f"write '{syntax}' ('tileir explain {spec.name}' says more)"


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


_TYPES = {
    "e3m4": "f8E4M3FN",
    "f8e3m4": "f8E4M3FN",
    "f8e4m3": "f8E4M3FN",
    "f8e5m2fn": "f8E5M2",
    "f8e8m0": "f8E8M0FNU",
    "f4e2m1": "f4E2M1FN",
    "index": "i64",
    "double": "f64",
    "float": "f32",
    "half": "f16",
    "int": "i32",
    "bool": "i1",
    "tensor": "tile",
    "memref": "tensor_view",
    "pointer": "ptr",
    "vector": "tile",
    "tt.ptr": "ptr",
    "tt.tensordesc": "tensor_view",
    "llvm.ptr": "ptr",
}
"""Types by names in small letters."""
_FOREIGN = re.compile(r"(index|memref|tensor|vector)\b(?:<((?:[\d?]+x)*)([a-z]\w*))?", re.ASCII)
"""Types of values in other dialects: their names, extents and elements."""
_SIGNED = re.compile(r"[su]i?(\d+)|u?int(\d+)", re.ASCII)
"""Integers, which have no sign of their own here."""
_KEYWORDS = {
    "eq": "equal",
    "oeq": "equal",
    "ueq": "equal",
    "ne": "not_equal",
    "one": "not_equal",
    "une": "not_equal",
    "rn": "nearest_even",
    "rne": "nearest_even",
    "rtne": "nearest_even",
    "rz": "zero",
    "rtz": "zero",
    "rd": "negative_inf",
    "rm": "negative_inf",
    "ru": "positive_inf",
    "rp": "positive_inf",
    "nsw": "no_signed_wrap",
    "nuw": "no_unsigned_wrap",
    "monotonic": "relaxed",
    "gpu": "device",
    "cta": "tl_blk",
    "block": "tl_blk",
    "system": "sys",
}
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
