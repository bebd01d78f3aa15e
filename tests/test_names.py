"""A public class has a name of its own: no two packages give one name to two things."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import tileir

PACKAGE = Path(tileir.__file__).parent
CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
SHARED = {
    "Module": "of `runtime`, as users see it, around that of `ir`, the operations",
    "Region": "of `analysis`, the memory that an access touches; of `interp`, a region of the language, ready to run",
}
"""Names that two classes may have, with the reason."""


def public_classes() -> dict[str, set[str]]:
    """The modules that define a public class, by its name."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for name in CLASS.findall(path.read_text(encoding="utf-8")):
            found[name].add(module)
    return found


def test_a_name_means_one_class() -> None:
    repeated = {name: sorted(modules) for name, modules in public_classes().items() if len(modules) > 1}
    assert {name: repeated[name] for name in repeated.keys() - SHARED.keys()} == {}
    assert SHARED.keys() <= repeated.keys(), "a name that stands here no longer has two classes"
