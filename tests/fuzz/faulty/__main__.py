"""``python -m tests.fuzz.faulty``: a campaign over a range of seeds, or one program shown."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.faulty.campaign import findings
from tileir.fuzz.faulty.programs import program


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.faulty", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=20_000, help="how many programs")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed, and run nothing")
    options = parser.parse_args()
    if options.show is not None:
        faulty = program(options.show)
        print(faulty.text, faulty.grid, *faulty.arguments, sep="\n")
        return
    found = findings(options.first, options.count, options.jobs)
    for finding in found:
        print(f"seed {finding.seed}: {finding.text}")
    print(f"{options.count} programs, {len(found)} findings")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
