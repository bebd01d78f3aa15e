"""Functions without an exact result."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ops.functions import Cos, Exp, Exp2, Log, Log2, Rsqrt, Sin, Tan, Tanh
from tileir.triton.importer.rules.arithmetic import of_floats
from tileir.triton.importer.rules.table import Table

rules = Table()

ROWS: dict[str, type[Op]] = {
    "math.cos": Cos,
    "math.exp": Exp,
    "math.exp2": Exp2,
    "math.log": Log,
    "math.log2": Log2,
    "math.rsqrt": Rsqrt,
    "math.sin": Sin,
    "math.tan": Tan,
    "math.tanh": Tanh,
}
for _name, _cls in ROWS.items():
    rules(_name)(of_floats(_cls, {}))
