"""Coverage-guided fuzzing of one reader, with atheris.

    python -m tests.fuzz.run --seconds 60 --target bytecode

Starts from the files of `corpus`. Exits with 0 if nothing was found; an input that breaks something is left in
`--found` and named in the output.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

CORPUS = Path(__file__).parent / "corpus"
NAMES = ("bytecode", "text")
MEMORY_MB = 2048
LONGEST_RUN_S = 20
"""One input may take no longer."""
_RAW_CHANGES = 0.2
"""Share of files that are changed without regard to their sections."""


def main() -> None:
    options = _options()
    try:
        import atheris
    except ImportError:
        sys.exit("the package atheris is missing: pip install atheris")
    with atheris.instrument_imports(include=["tileir"]):
        from tests.fuzz.targets import TARGETS
    options.found.mkdir(parents=True, exist_ok=True)
    fresh = tempfile.mkdtemp(prefix="tileir-fuzz-")
    arguments = [
        sys.argv[0],
        f"-max_total_time={options.seconds}",
        f"-seed={options.seed}",
        f"-max_len={options.longest}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-timeout={LONGEST_RUN_S}",
        f"-artifact_prefix={options.found}/{options.target}-",
        "-print_final_stats=1",
        fresh,
        str(CORPUS / options.target),
    ]
    mutators = {"bytecode": {"custom_mutator": lambda *given: inside_a_section(atheris.Mutate, *given)}}
    atheris.Setup(arguments, TARGETS[options.target], **mutators.get(options.target, {}))
    atheris.Fuzz()


def inside_a_section(mutate: Callable[[bytes, int], bytes], data: bytes, longest: int, seed: int) -> bytes:
    """Most often change what is in one section of a whole file, and write the file around it anew.

    Changes of the bytes as they are seldom come past the section headers.
    """
    from tileir.bytecode.faults import BytecodeFault
    from tileir.bytecode.sections import read_file, write_file

    random = Random(seed)
    try:
        file = read_file(data)
    except BytecodeFault:
        return mutate(data, longest)
    if random.random() < _RAW_CHANGES:
        return mutate(data, longest)
    payloads = {section: bytes(data[at.at : at.end]) for section, at in file.payloads.items()}
    chosen = random.choice(list(payloads))
    payloads[chosen] = bytes(mutate(payloads[chosen], max(longest - len(data) + len(payloads[chosen]), 1)))
    return write_file(file.version, payloads)[:longest]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--target", choices=NAMES, required=True)
    parser.add_argument("--seed", type=int, default=0, help="0: a new one every time")
    parser.add_argument("--longest", type=int, default=4096, help="bytes of the longest input")
    parser.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()) / "tileir-found")
    return parser.parse_args()


if __name__ == "__main__":
    main()
