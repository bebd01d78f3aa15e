"""The exact numerics of the reference interpreter: pure functions from arrays to arrays.

One file per subject: `bits` and `error_free` are the tools, `formats` knows the float encodings, `wide` does float
arithmetic in 128-bit integers; `rounding`, `functions`, `selection`, `integers` and `conversion` give the operations
their values.

Values are held as `ir.storage` says. The functions follow the table of undefined and unspecified behaviour
(spec: undefined#catalogue) and expect to run under ``numpy.errstate(all="ignore")``: the machine enters it once, not
each operation. Operands are never written to; a result may be a NumPy scalar when the operands have rank 0.
"""
