"""Mathematical functions as straight-line code on floats in registers, one file a family.

Each function takes and gives `cpu.emit.algebra.Real`s. The f32 ones that kernels spend their time in (exp, exp2, log,
log2, sin, cos, tanh) stay in f32; the others compute in f64 with polynomials just long enough for f32. The f64 ones
carry a low part through the critical steps. Errors stay within the bounds of the specification
(spec: functions#accuracy), corner cases are exact (spec: functions#semantics). Polynomials are minimax (Remez), with
coefficients rounded to the type one after the other.
"""
