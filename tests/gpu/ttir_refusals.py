"""The golden programs that a GPU cannot run, with architectures and reasons.

The architecture lacks a feature that the program uses, or the program calls code from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.gpu.arch import WAVES


@dataclass(frozen=True)
class Refusal:
    """`message` is a pattern for the error; without `archs` it holds on every architecture."""

    message: str
    archs: tuple[str, ...] = ()


REFUSALS: dict[str, Refusal] = {
    "extensions.calls": Refusal("a function of the host"),
    "preview.linked": Refusal("code of a GPU that is linked in"),
    "multicast_13_5.replicas": Refusal("needs multicast memory", ("sm_80", *WAVES)),
    "multicast_13_5.kinds": Refusal("needs multicast memory", ("sm_80", *WAVES)),
}
"""By ``file.entry``."""


def refusal(place: str, arch: str) -> str | None:
    """Text of the error that is to come of an entry; None if it is to compile."""
    found = REFUSALS.get(place)
    if found is None or (found.archs and arch not in found.archs):
        return None
    return found.message
