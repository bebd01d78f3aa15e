"""Accesses that one thread of a tile block makes for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.gpu.ttir.ir.code import I32, TtirType, TtirValue
from tileir.gpu.ttir.lib.transfers import block_memory, load, store
from tileir.gpu.ttir.lowering import TtirLowering

_LETTERS = {32: "r", 64: "l"}
"""The registers of a width."""


def read(lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, type: TtirType) -> TtirValue:
    """Return the result of ``name result, [address]`` for each address where `mask` holds, elsewhere 0; for every
    copy."""
    letter = _LETTERS[type.bits]
    text = f"mov.b{type.bits} $0, 0; setp.ne.b32 %chosen, $2, 0; @%chosen {name} $0, [$1];"
    return _run(lowering, text, f"=&{letter},l,r", [addresses, _flags(lowering, addresses, mask)], type)


def write(lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, value: TtirValue) -> None:
    """Emit ``name [address], value`` where `mask` holds; for every copy."""
    text = f"mov.b32 $0, 0; setp.ne.b32 %chosen, $3, 0; @%chosen {name} [$1], $2;"
    operands = [addresses, value, _flags(lowering, addresses, mask)]
    _run(lowering, text, f"=&r,l,{_LETTERS[value.type.bits]},r", operands, addresses.type.of("i32"))


def read_once(
    lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, type: TtirType
) -> TtirValue:
    """Call `read` once for each element."""
    build, bits = lowering.build, type.bits
    claims, results = _fresh(lowering, addresses.type.of("i32")), _places(lowering, type)
    text = (
        f".reg .b{bits} %found; {_claim(4)} "
        f"@%chosen {name} %found, [$1]; @%chosen st.relaxed.gpu.global.b{bits} [$3], %found;"
    )
    operands = [addresses, _number(lowering, claims), _number(lowering, results), _flags(lowering, addresses, mask)]
    _run(lowering, text, "=&r,l,l,l,r", operands, addresses.type.of("i32"))
    lowering.barrier()
    found = load(lowering, results)
    return found if mask is None else build.select(mask, found, build.integer(type, 0))


def write_once(
    lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, value: TtirValue
) -> None:
    """Call `write` once for each element."""
    claims = _fresh(lowering, addresses.type.of("i32"))
    text = f"{_claim(4)} @%chosen {name} [$1], $3;"
    operands = [addresses, _number(lowering, claims), value, _flags(lowering, addresses, mask)]
    _run(lowering, text, f"=&r,l,l,{_LETTERS[value.type.bits]},r", operands, addresses.type.of("i32"))


def _claim(flag: int) -> str:
    """Set ``%chosen`` where operand `flag` is not 0 and the word at operand 2 was still 0."""
    return (
        f"mov.b32 $0, 1; setp.ne.b32 %chosen, ${flag}, 0; "
        "@%chosen atom.relaxed.gpu.global.exch.b32 $0, [$2], 1; setp.eq.b32 %chosen, $0, 0;"
    )


def _run(
    lowering: TtirLowering, text: str, constraints: str, operands: Sequence[TtirValue], type: TtirType
) -> TtirValue:
    return lowering.build.asm(f"{{ .reg .pred %chosen; {text} }}", constraints, operands, type, pure=False)


def _flags(lowering: TtirLowering, addresses: TtirValue, mask: TtirValue | None) -> TtirValue:
    chosen = lowering.build.truth(True, addresses.type.shape) if mask is None else mask
    return lowering.build.resized(chosen, I32.element, signed=False)


def _fresh(lowering: TtirLowering, type: TtirType) -> TtirValue:
    """Return a word for each element, all 0. In a loop it is that of the iteration before, which must have ended."""
    found = _places(lowering, type)
    lowering.barrier()
    store(lowering, found, lowering.build.integer(type, 0))
    lowering.barrier()
    return found


def _places(lowering: TtirLowering, type: TtirType) -> TtirValue:
    """Return a place in memory for each element of a tensor."""
    build = lowering.build
    base = build.bitcast(block_memory(lowering, type.count * type.bits // 8), f"!tt.ptr<{type.element}>")
    return build.op("tt.addptr", build.splat(base, *type.shape), build.numbers(*type.shape))


def _number(lowering: TtirLowering, pointers: TtirValue) -> TtirValue:
    return lowering.build.cast("tt.ptr_to_int", pointers, "i64")
