"""Writes the corpus again: a small file for every operation, and bytecode of every version.

python -m tests.fuzz.make_corpus
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "bytecode"))

from bytecode_programs import INSTRUCTIONS, variants
from test_known_files import debug_module

from tests.fuzz.run import CORPUS
from tileir import bytecode
from tileir.ir.versions import VERSIONS, version_key
from tileir.text.printer import to_text

PER_VERSION = ("for", "if", "reduce", "load_ptr_tko", "load_view_tko", "print_tko", "constant", "assume")


def main() -> None:
    for kind in ("bytecode", "text"):
        (CORPUS / kind).mkdir(parents=True, exist_ok=True)
    for op in INSTRUCTIONS:
        *_, full = variants(op, version_key(VERSIONS[-1]))
        _write("bytecode", op.spec.name, bytecode.encode(full, VERSIONS[-1]))
        _write("text", op.spec.name, to_text(full).encode("utf-8", "replace"))
        for version in VERSIONS if op.spec.name in PER_VERSION else ():
            *_, full = variants(op, version_key(version))
            _write("bytecode", f"{op.spec.name}-{version}", bytecode.encode(full, version))
    _write("bytecode", "debug", bytecode.encode(debug_module(), VERSIONS[-1]))
    _write("text", "debug", to_text(debug_module(), debug=True).encode())


def _write(kind: str, name: str, data: bytes) -> None:
    (CORPUS / kind / name).write_bytes(data)


if __name__ == "__main__":
    main()
