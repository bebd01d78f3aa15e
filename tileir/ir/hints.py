"""Optimization hints and the architectures that they can be given for (spec: hints#text)."""

from __future__ import annotations

from dataclasses import dataclass

ARCHITECTURES = {
    "sm_80": "13.1",
    "sm_86": "13.1",
    "sm_87": "13.1",
    "sm_88": "13.1",
    "sm_89": "13.1",
    "sm_90": "13.1",
    "sm_100": "13.1",
    "sm_103": "13.1",
    "sm_107": "13.4",
    "sm_110": "13.1",
    "sm_120": "13.1",
    "sm_121": "13.1",
}
"""The version that brought each architecture."""
DEFAULT, DEFAULT_SINCE = "default", "13.3"
"""The key of hints for all other architectures."""


@dataclass(frozen=True)
class HintRange:
    """The integers that a hint may have: 1 to `largest`, or the powers of two among them."""

    largest: int
    power_of_two: bool = False
    since: str = "13.1"

    def allows(self, value: int) -> bool:
        return 1 <= value <= self.largest and not (self.power_of_two and value & (value - 1))


HINT_RANGES = {
    "latency": HintRange(10),
    "occupancy": HintRange(32),
    "num_cta_in_cga": HintRange(16, power_of_two=True),
    "num_worker_warps_per_cta": HintRange(32, power_of_two=True, since="13.3"),
}
"""Hints that are integers; `allow_tma` is a boolean."""
