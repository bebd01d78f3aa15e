"""``tt.elementwise_inline_asm`` for AMD: the AMDGCN that rules write.

Values are handed on, and f64 arithmetic runs with the rounding mode set around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from tests.ttir_machine.values import Array, Lanes, MachineFault
from tileir.gpu.ttir.ir.code import Instruction
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics import rounding

_SET_MODE = re.compile(r"s_setreg_imm32_b32 hwreg\(HW_REG_MODE, 2, 2\), (\d)")
_ARITHMETIC = re.compile(r"v_(add|mul|fma)_f64 \$0, (.*)")
_MODES = (Rounding.NEAREST_EVEN, Rounding.POSITIVE_INF, Rounding.NEGATIVE_INF, Rounding.ZERO)
_FUNCTIONS: dict[str, Callable[[t.ElementType, Rounding], Callable[..., Array]]] = {
    "add": rounding.add,
    "mul": rounding.mul,
    "fma": rounding.fma,
}


def is_gcn(constraints: str) -> bool:
    return "v" in constraints


def inline_asm(instruction: Instruction, *operands: Lanes) -> list[Lanes]:
    """The result of code that hands its operand on, or computes in f64."""
    text = instruction.attributes["asm_string"]
    assert isinstance(text, str)
    if text == "; $0" and instruction.attributes["constraints"] == "=v,0":
        return [operands[0]]
    mode, found = Rounding.NEAREST_EVEN, None
    for line in text.split("\n"):
        if (chosen := _SET_MODE.fullmatch(line)) is not None:
            mode = _MODES[int(chosen[1])]
        elif (computed := _ARITHMETIC.fullmatch(line)) is not None:
            given = [_operand(name, operands) for name in computed[2].split(", ")]
            found = _FUNCTIONS[computed[1]](t.F64, mode)(*given)
        else:
            raise MachineFault(f"the machine does not know the AMDGCN '{line}'")
    if found is None or mode is not Rounding.NEAREST_EVEN:
        raise MachineFault("the AMDGCN gives nothing, or leaves another rounding mode behind")
    return [Lanes(found).tainted(*operands)]


def _operand(name: str, operands: tuple[Lanes, ...]) -> Array:
    number = int(name.removeprefix("-").removeprefix("$")) - 1
    data = operands[number].data
    return np.negative(data) if name.startswith("-") else data
