"""A disk that gets full while jobs run loses no answer: recorded ones stay, and the rest is done later."""

from __future__ import annotations

from pathlib import Path

from tests.small_disk import run_on_small_disk

PROGRAM = """
import json, os, subprocess, sys
from pathlib import Path
from tests.farm.test_farm_command import DOUBLE
from tileir.cli import main
disk = Path(sys.argv[1])
os.chdir(disk.parent)
Path("double.mlir").write_text(DOUBLE)
job = {"program": "double.mlir", "grid": [2500], "arguments": ["f32[40000]:randn", "40000"], "keep": ["x"]}
Path("jobs.jsonl").write_text("".join(json.dumps({**job, "seed": seed}) + "\\n" for seed in range(6)))
print(main(["farm", "run", f"{disk}/s.db", "jobs.jsonl", "--workers", "1"]), flush=True)
main(["farm", "status", f"{disk}/s.db", "--json"])
subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True, timeout=60)
print(main(["farm", "resume", f"{disk}/s.db"]), flush=True)
main(["farm", "status", f"{disk}/s.db", "--json"])
"""


def test_a_store_on_a_full_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    lines = run_on_small_disk(tmp_path / "disk", 600, PROGRAM).splitlines()
    assert lines[0] == "2" and '"waiting"' in lines[1], lines
    assert lines[-2:] == ["0", '{"jobs": 6, "done": 6, "conflicts": 0}'], lines


FULL_TEMPORARY_FOLDER = """
import sys, tempfile
from pathlib import Path
from tests.farm.probes import job, register
from tileir.farm.isolation import attempt
from tileir.farm.job import JobLimits
tempfile.tempdir = sys.argv[1]
with open(f"{sys.argv[1]}/fill", "wb", 0) as file:
    try:
        while file.write(bytes(4096)):
            pass
    except OSError:
        pass
register()
one = job(7)
found = attempt(one.kind, one.text, one.content, JobLimits(30.0))
print(found.ending.value, found.reason, found.answer)
"""


def test_an_attempt_that_cannot_keep_what_it_prints_says_so(tmp_path: Path) -> None:
    said = run_on_small_disk(tmp_path / "disk", 100, FULL_TEMPORARY_FOLDER)
    assert said == "crashed OSError: [Errno 28] No space left on device \n"
