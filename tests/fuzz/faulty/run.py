"""Runs programs on both targets and compares: the child process of a campaign.

Each seed gives one line of JSON: the seed first alone (`begin`), so that a death names its program, then the verdict.
"""

from __future__ import annotations

import json
import sys

from tileir.fuzz.faulty.outcomes import difference
from tileir.fuzz.faulty.programs import program


def main() -> None:
    first, count = map(int, sys.argv[1:3])
    for seed in range(first, first + count):
        print(json.dumps({"begin": seed}), flush=True)
        print(json.dumps({"seed": seed, "difference": difference(program(seed))}), flush=True)


if __name__ == "__main__":
    main()
