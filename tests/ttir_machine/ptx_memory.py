"""PTX instructions on memory: loads, stores, atomic updates, fences.

Lanes take part one after the other. One memory for all blocks makes orders and scopes void.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tests.ttir_machine.memory import Memory
from tests.ttir_machine.ptx_instructions import FLOATS, Call, called, pattern, view
from tests.ttir_machine.values import Array

Rule = Callable[[Memory, Call, Sequence[Array], Array], "Array | None"]


def _element(call: Call) -> str:
    """The machine's element that has the size of the type."""
    bits = FLOATS[call.type].bits if call.type in FLOATS else int(call.type[1:])
    return f"i{bits}"


def _load(memory: Memory, call: Call, operands: Sequence[Array], active: Array) -> Array:
    (addresses,) = operands
    result = np.zeros(addresses.shape, f"u{int(_element(call)[1:]) // 8}")
    result[active] = memory.load(addresses[active], _element(call))
    return result


def _store(memory: Memory, call: Call, operands: Sequence[Array], active: Array) -> None:
    addresses, values = operands
    memory.store(addresses[active], pattern(view(values[active], call.type)), _element(call))


def _atomic(memory: Memory, call: Call, operands: Sequence[Array], active: Array) -> Array:
    addresses, *values = operands
    element = _element(call)
    result = np.zeros(addresses.shape, f"u{int(element[1:]) // 8}")
    for lane in zip(*np.nonzero(np.atleast_1d(active))):
        place = lane if addresses.shape else ()
        address = addresses[place].reshape(1)
        old = memory.load(address, element)
        given = [value[place].reshape(1) for value in values]
        if "cas" not in call.modifiers or old[0] == given[0][0]:
            memory.store(address, _updated(call, old, given), element)
        result[place] = old[0]
    return result


def _updated(call: Call, old: Array, values: list[Array]) -> Array:
    if "exch" in call.modifiers:
        return values[0]
    if "cas" in call.modifiers:
        return np.where(old == values[0], values[1], old)
    name = next(part for part in ("add", "min", "max", "and", "or", "xor") if part in call.modifiers)
    mode = ".rn" if call.type in FLOATS and name == "add" else ""
    return called(Call.parse(f"{name}{mode}.{call.type}"), [old, values[0]])


def _reduce(memory: Memory, call: Call, operands: Sequence[Array], active: Array) -> None:
    _atomic(memory, call, operands, active)


def _nothing(memory: Memory, call: Call, operands: Sequence[Array], active: Array) -> None:
    """Orders what other blocks see, who see everything anyway."""


def _replicated(memory: Memory, call: Call, operands: Sequence[Array], active: Array) -> Array | None:
    """Multicast memory, of one replica; of the two elements in a word each is added to for itself."""
    if "ld_reduce" in call.modifiers:
        return _load(memory, _whole(call), operands, active)
    if "st" in call.modifiers:
        return _store(memory, call, operands, active)
    if not call.text.endswith("x2"):
        return _reduce(memory, call, operands, active)
    addresses, words = operands
    for half in range(2):
        places, values = addresses + np.uint64(2 * half), (words >> np.uint32(16 * half)).astype(np.uint16)
        _reduce(memory, Call.parse(call.text.removesuffix("x2")), [places, values], active)
    return None


def _whole(call: Call) -> Call:
    """The call with the word that holds a pair for a type."""
    return Call.parse(f"{call.text}.b32") if call.text.endswith("x2") else call


MEMORY_RULES: dict[str, Rule] = {
    "ld": _load,
    "st": _store,
    "atom": _atomic,
    "red": _reduce,
    "multimem": _replicated,
    "fence": _nothing,
    "membar": _nothing,
    "bar": _nothing,
    "griddepcontrol": _nothing,
    "nanosleep": _nothing,
}
