"""The code of a walk through the house, run where the page says that it stands.

``python -m tests.docs.walk PAGE``: each block under ``<!-- in: FILE -->`` is run with the names of that file and of the
blocks before; one of rows of a table is a table. A process of its own, because rules are added.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

BLOCK = re.compile(r"<!-- in: (\S+)\.py -->\n```python\n(.*?)```\n", re.DOTALL)


def main(page: str) -> None:
    known: dict[str, object] = {}
    for place, text in BLOCK.findall(Path(page).read_text(encoding="utf-8")):
        names = {**vars(import_module(place.replace("/", "."))), **known}
        before = names.copy()
        code = f"TABLE = {{\n{text}}}" if text.startswith(" ") else text
        exec(compile(code, f"{page}, {place}.py", "exec"), names)
        known |= {name: value for name, value in names.items() if before.get(name) is not value and name[0] != "_"}


main(sys.argv[1])
