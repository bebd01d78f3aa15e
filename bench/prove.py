"""The share of examples and cuTile examples for which `tileir prove` decides whether tile blocks race and whether
accesses stay in their arrays.

    python bench/prove.py

Decided means: for this launch at least, in every order of its tile blocks. The rest says why it is open.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tileir
from tileir.examples.checks import EXAMPLES
from tileir.sanitize.proofs.smt import INSTALLED
from tileir.sanitize.proofs.verdict import ProofReport

SCRIPTS = sorted((Path(tileir.__file__).parent / "examples" / "cutile").glob("*.py"))
AIM = 1.0


def examples() -> Iterator[tuple[str, ProofReport]]:
    for example in EXAMPLES:
        given = example.arguments(example.sizes, np.random.default_rng(0)).values()
        kernel = tileir.load(example.path)[example.kernel]
        yield example.name, tileir.prove(kernel, example.grid(example.sizes), *given, run=False)


def scripts() -> Iterator[tuple[str, ProofReport]]:
    """The kernels of the cuTile examples, each with what holds of all its launches."""
    from tileir import cutile

    for script in SCRIPTS:
        with contextlib.redirect_stdout(io.StringIO()), cutile.on("interp", sanitize=True) as session:
            runpy.run_path(str(script), run_name="__main__")
        assert session is not None, "the session has a sanitizer"
        for proof in session.report.proofs:
            yield f"{script.stem} (cuTile)", proof


def main() -> int:
    found = [*examples(), *scripts()]
    print("| kernel | races | bounds |", "|---|---|---|", sep="\n")
    for name, proof in found:
        print(f"| {name} | {proof.races.scope.value} | {proof.bounds.scope.value} |")
    for subject in ("races", "bounds"):
        decided = sum(getattr(proof, subject).decided for _, proof in found)
        met = "yes" if decided >= AIM * len(found) else "**no**"
        print(f"\n{subject}: {decided} of {len(found)} decided, {decided / len(found):.0%} (aim {AIM:.0%}, met: {met})")
    print(f"\nz3-solver: {'installed' if INSTALLED else 'not installed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
