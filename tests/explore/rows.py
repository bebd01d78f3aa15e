"""The litmus tests of the language reference in the notation of `programs` (spec: litmus#tests).

A verdict is ``F``, ``A`` or ``UB``, as in the reference; the condition is the outcome asked about, in the words of a
verdict line. Rows that need a loop, or that ask two things, have suffixes: ``CoWR6-untokened``.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.explore.programs import Program, program


class Row(NamedTuple):
    verdict: str
    outcome: str
    blocks: tuple[str, ...]

    @property
    def program(self) -> Program:
        return program(*self.blocks)

    @property
    def lines(self) -> list[str]:
        """The verdict lines of the file."""
        if self.verdict == "UB":
            return ["exists: race"]
        return [f"{'forbidden' if self.verdict == 'F' else 'exists'}: {self.outcome}", "never: race"]


STALE = "1:%f = 1 and 1:%d = 0"
BOTH_0 = "0:%r = 0 and 1:%r = 0"
BOTH_1 = "0:%r = 1 and 1:%r = 1"
IRIW = "2:%a = 1 and 2:%b = 0 and 3:%a = 1 and 3:%b = 0"
PRODUCER = "W x=1 -> W.rel y=1"
CONSUMER = "R.acq y:f -> ?f=1 R x:d"

ROWS = {
    "MP1": Row("F", STALE, (PRODUCER, CONSUMER)),
    "MP2": Row("UB", "", (PRODUCER, "R.acq y:f -> R x:d")),
    "MP3": Row("UB", "", ("W x=1 | W.rel y=1", CONSUMER)),
    "MP4": Row("UB", "", (PRODUCER, "R.acq y:f | ?f=1 R x:d")),
    "MP5": Row("UB", "", ("W x=1 -> W.rlx y=1", "R.rlx y:f -> ?f=1 R x:d")),
    "MP6": Row("UB", "", (PRODUCER, "R.rlx y:f -> ?f=1 R x:d")),
    "MP7": Row("UB", "", ("W x=1 -> W.rlx y=1", CONSUMER)),
    "MP8": Row("UB", "", ("W x=1 -> W.rel@blk y=1", "R.acq@blk y:f -> ?f=1 R x:d")),
    "MP9": Row("UB", "", (PRODUCER, "R.acq@blk y:f -> ?f=1 R x:d")),
    "MP10": Row("F", STALE, (PRODUCER, "R.acq@sys y:f -> ?f=1 R x:d")),
    "MP11": Row("UB", "", ("W x=1 -> W y=1", "R y:f -> ?f=1 R x:d")),
    "MP12": Row("F", STALE, ("W.rlx x=1 -> W.rel y=1", "R.acq y:f -> R.rlx x:d")),
    "MP13": Row("A", STALE, ("W.rlx x=1 -> W.rlx y=1", "R.rlx y:f -> R.rlx x:d")),
    "MP14": Row("A", STALE, ("W.rlx x=1 | W.rel y=1", "R.acq y:f -> R.rlx x:d")),
    "MP15": Row("A", STALE, ("W.rlx x=1 -> W.rel y=1", "R.acq y:f | R.rlx x:d")),
    "MP16": Row("A", STALE, ("W.rlx x=1 | W.rlx y=1", "R.rlx y:f | R.rlx x:d")),
    "MP17": Row("F", STALE, ("W x=1 -> U.rel y:=1:u", CONSUMER)),
    "MP18": Row("UB", "", ("W x=1 -> U.rlx y+1:u", CONSUMER)),
    "MP19": Row("F", STALE, (PRODUCER, "C.acq y 2>3:f -> ?f=1 R x:d")),
    "MP20": Row("UB", "", (PRODUCER, "C.rlx y 2>3:f -> ?f=1 R x:d")),
    "MP21": Row("UB", "", ("a# W x=1 | W z=1 | a> W.rel y=1", "a# R.acq y:f -> ?f=1 R x:d | a> R z:e")),
    "MP22": Row("UB", "", ("W x=1 -> W.rel@blk y=1 | R.acq@blk y:f -> ?f=1 R x:d",)),
    "SB1": Row("A", BOTH_0, ("W.rlx x=1 | R.rlx y:r", "W.rlx y=1 | R.rlx x:r")),
    "SB2": Row("A", BOTH_0, ("W.rlx x=1 -> R.rlx y:r", "W.rlx y=1 -> R.rlx x:r")),
    "SB3": Row("A", BOTH_0, ("W.rel x=1 -> R.acq y:r", "W.rel y=1 -> R.acq x:r")),
    "SB4": Row("UB", "", ("W x=1 -> R y:r", "W y=1 -> R x:r")),
    "SB5": Row("F", BOTH_0, ("U.ar x:=1:u -> U.ar y+0:r", "U.ar y:=1:u -> U.ar x+0:r")),
    "SB6": Row("A", BOTH_0, ("U.ar x:=1:u -> R.acq y:r", "U.ar y:=1:u -> R.acq x:r")),
    "SB7": Row("A", BOTH_0, ("U.rlx x:=1:u -> U.rlx y+0:r", "U.rlx y:=1:u -> U.rlx x+0:r")),
    "LB1": Row("A", BOTH_1, ("R.rlx x:r | W.rlx y=1", "R.rlx y:r | W.rlx x=1")),
    "LB2": Row("A", BOTH_1, ("R.rlx x:r -> W.rlx y=1", "R.rlx y:r -> W.rlx x=1")),
    "LB3": Row("F", BOTH_1, ("R.acq x:r -> W.rel y=1", "R.acq y:r -> W.rel x=1")),
    "LB4": Row("A", BOTH_1, ("R.acq x:r | W.rel y=1", "R.acq y:r | W.rel x=1")),
    "LB5": Row("A", BOTH_1, ("R.acq x:r -> W.rel y=1", "R.acq y:r | W.rel x=1")),
    "LB6": Row("A", BOTH_1, ("R.rlx x:r -> W.rel y=1", "R.rlx y:r -> W.rel x=1")),
    "LB7": Row("A", BOTH_1, ("R.acq x:r -> W.rlx y=1", "R.acq y:r -> W.rlx x=1")),
    "LB8": Row("UB", "", ("R x:r -> W y=1", "R y:r -> W x=1")),
    "CoWR1": Row("F", "0:%r = 0", ("W x=1 -> R x:r",)),
    "CoWR2": Row("UB", "", ("W x=1 | R x:r",)),
    "CoWR3": Row("A", "0:%r = 0", ("W.rlx@blk x=1 | R.rlx@blk x:r",)),
    "CoWR4": Row("F", "0:%r = 0", ("W.rlx@blk x=1 -> R.rlx@blk x:r",)),
    "CoWR5": Row("UB", "", ("W x=1 | R.rlx@blk x:r",)),
    "CoWR6": Row("F", "1:%r = 1 and x = 2", ("W.rlx x=1", "W.rlx x=2 -> R.rlx x:r")),
    "CoWR6-untokened": Row("A", "1:%r = 1 and x = 2", ("W.rlx x=1", "W.rlx x=2 | R.rlx x:r")),
    "CoRW1": Row("F", "0:%r = 1", ("R x:r -> W x=1",)),
    "CoRW2": Row("UB", "", ("R x:r | W x=1",)),
    "CoRW3": Row("A", "0:%r = 1", ("R.rlx@blk x:r | W.rlx@blk x=1",)),
    "CoRW4": Row("F", "1:%r = 1 and x = 1", ("W.rlx x=1", "R.rlx x:r -> W.rlx x=2")),
    "CoRW4-untokened": Row("A", "1:%r = 1 and x = 1", ("W.rlx x=1", "R.rlx x:r | W.rlx x=2")),
    "CoWW1": Row("F", "x = 1", ("W x=1 -> W x=2",)),
    "CoWW2": Row("UB", "", ("W x=1 | W x=2",)),
    "CoWW3": Row("A", "x = 1", ("W.rlx@blk x=1 | W.rlx@blk x=2",)),
    "CoWW4": Row("UB", "", ("W v[0,0]=1,2",)),
    "CoWW4-equal": Row("UB", "", ("W v[0,0]=1,1",)),
    "CoWW5": Row("A", "v = 1", ("W.rlx@blk v[0,0]=1,2",)),
    "CoWW5-last": Row("A", "v = 2", ("W.rlx@blk v[0,0]=1,2",)),
    "CoWW6": Row("UB", "", ("W x=1", "W x=1")),
    "CoRR1": Row("F", "1:%a = 1 and 1:%b = 0", ("W.rlx x=1", "R.rlx x:a -> R.rlx x:b")),
    "CoRR2": Row("A", "1:%a = 1 and 1:%b = 0", ("W.rlx x=1", "R.rlx x:a | R.rlx x:b")),
    "CoRR3": Row("A", "1:%a = 1 and 1:%b = 0", ("W.rel x=1", "R.acq x:a | R.acq x:b")),
    "CoRR4": Row("UB", "", ("W.rlx x=1", "R x:a -> R x:b")),
    "CoRR5": Row(
        "F",
        "2:%a = 1 and 2:%b = 2 and 3:%a = 2 and 3:%b = 1",
        ("W.rlx x=1", "W.rlx x=2", "R.rlx x:a -> R.rlx x:b", "R.rlx x:a -> R.rlx x:b"),
    ),
    "CoRR6": Row("F", "0:%r != 0 or 1:%r != 0", ("R x:r", "R x:r")),
    "IRIW1": Row("A", IRIW, ("W.rlx x=1", "W.rlx y=1", "R.rlx x:a -> R.rlx y:b", "R.rlx y:a -> R.rlx x:b")),
    "IRIW2": Row("A", IRIW, ("W.rel x=1", "W.rel y=1", "R.acq x:a -> R.acq y:b", "R.acq y:a -> R.acq x:b")),
    "2+2W-1": Row("A", "x = 1 and y = 1", ("W.rlx x=1 -> W.rlx y=2", "W.rlx y=1 -> W.rlx x=2")),
    "2+2W-2": Row("A", "x = 1 and y = 1", ("W.rel x=1 -> W.rel y=2", "W.rel y=1 -> W.rel x=2")),
    "2+2W-3": Row("UB", "", ("W x=1 -> W y=2", "W y=1 -> W x=2")),
    "2+2W-4": Row("F", "x = 1 and y = 1", ("U.ar x:=1:a -> U.ar y:=2:b", "U.ar y:=1:a -> U.ar x:=2:b")),
    "S1": Row("F", "1:%f = 1 and x = 2", ("W.rlx x=2 -> W.rel y=1", "R.acq y:f -> W.rlx x=1")),
    "S2": Row("A", "1:%f = 1 and x = 2", ("W.rlx x=2 -> W.rel y=1", "R.acq y:f | W.rlx x=1")),
    "S3": Row("F", "1:%f = 1 and x = 2", ("W x=2 -> W.rel y=1", "R.acq y:f -> ?f=1 W x=1")),
    "R1": Row("A", "y = 2 and 1:%r = 0", ("W.rlx x=1 -> W.rel y=1", "W.rel y=2 -> R.acq x:r")),
    "R2": Row("F", "y = 2 and 1:%r = 0", ("W.rlx x=1 -> U.ar y:=1:u", "U.ar y:=2:u -> R.rlx x:r")),
    "WRC1": Row(
        "F",
        "1:%a = 1 and 2:%b = 1 and 2:%c = 0",
        ("W.rlx x=1", "R.rlx x:a -> W.rel y=1", "R.acq y:b -> R.rlx x:c"),
    ),
    "WRC2": Row(
        "F",
        "2:%g = 1 and 2:%d = 0",
        ("W x=1 -> W.rel z=1", "R.acq z:f -> ?f=1 W.rel y=1", "R.acq y:g -> ?g=1 R x:d"),
    ),
    "WRC3": Row("UB", "", ("W x=1 -> W.rel z=1", "R.acq z:f | ?f=1 W.rel y=1", "R.acq y:g -> ?g=1 R x:d")),
    "ISA2-1": Row(
        "F",
        "2:%g = 1 and 2:%d = 0",
        ("W x=1 -> W.rel y=1", "R.acq y:f -> ?f=1 W.rel z=1", "R.acq z:g -> ?g=1 R x:d"),
    ),
    "ISA2-2": Row(
        "A",
        "1:%f = 1 and 2:%g = 1 and 2:%d = 0",
        ("W.rlx x=1 -> W.rel y=1", "R.rlx y:f -> ?f=1 W.rel z=1", "R.acq z:g -> R.rlx x:d"),
    ),
    "JOIN": Row(
        "F",
        "2:%f = 1 and 2:%g = 1 and 2:%d = 0",
        ("W x=1 -> W.rel y=1", "W z=1 -> W.rel q=1", "a# R.acq y:f | b# R.acq q:g | a,b> ?f=1 ?g=1 R x:d"),
    ),
    "WAR1": Row("F", "0:%r = 1", ("R x:r -> W.rel y=1", "R.acq y:f -> ?f=1 W x=1")),
    "WAR2": Row("UB", "", ("R x:r | W.rel y=1", "R.acq y:f -> ?f=1 W x=1")),
    "RS1": Row("F", "2:%f = 2 and 2:%d = 0", (PRODUCER, "U.rlx y+1:u", "R.acq y:f -> ?f=2 R x:d")),
    "RS2": Row("UB", "", (PRODUCER, "R.rlx y:u -> ?u=1 W.rlx y=2", "R.acq y:f -> ?f=2 R x:d")),
    "RS3": Row("UB", "", ("W x=1 -> W.rel y=1 -> W.rlx y=2", "R.acq y:f -> ?f=2 R x:d")),
    "RS4": Row("F", "1:%u = 1 and 1:%d = 0", (PRODUCER, "R.rlx y:u -> R.acq y:f -> ?u=1 R x:d")),
    "RS5": Row("UB", "", (PRODUCER, "U.rlx@blk y+1:u", "R.acq y:f -> ?f=2 R x:d")),
    "RMW1": Row("F", BOTH_0, ("U.rlx x+1:r", "U.rlx x+1:r")),
    "RMW2": Row("F", "0:%r = 0 and x = 1", ("U.rlx x+1:r", "W.rlx x=10")),
    "RMW3": Row("UB", "", ("U.rlx x+1:r", "W x=10")),
    "RMW4": Row("UB", "", ("U.rlx x+1:r", "U.rlx@blk x+1:r")),
    "RMW5": Row("F", "v != 2", ("U.rlx v[0,0]+1:r",)),
    "RMW6": Row("UB", "", ("U.rlx x+1:r | R x:s",)),
    "CNT1": Row(
        "F",
        "(0:%r = 1 and 0:%p = 0) or (1:%r = 1 and 1:%p = 0)",
        ("W a=1 -> U.ar c+1:r -> ?r=1 R b:p", "W b=1 -> U.ar c+1:r -> ?r=1 R a:p"),
    ),
    "CNT2": Row("UB", "", ("W a=1 -> U.rel c+1:r -> ?r=1 R b:p", "W b=1 -> U.rel c+1:r -> ?r=1 R a:p")),
    "CNT3": Row("UB", "", ("W a=1 -> U.rlx c+1:r -> ?r=1 R b:p", "W b=1 -> U.rlx c+1:r -> ?r=1 R a:p")),
    "LOCK1": Row(
        "F",
        BOTH_0,
        ("C.acq L 0>1:l -> ?l=0 R x:r -> W x=1 -> W.rel L=0", "C.acq L 0>1:l -> ?l=0 R x:r -> W x=2 -> W.rel L=0"),
    ),
    "LOCK2": Row(
        "UB",
        "",
        ("C.rlx L 0>1:l -> ?l=0 R x:r -> W x=1 -> W.rel L=0", "C.rlx L 0>1:l -> ?l=0 R x:r -> W x=2 -> W.rel L=0"),
    ),
    "LOCK3": Row(
        "UB",
        "",
        ("C.acq L 0>1:l -> ?l=0 R x:r -> W x=1 -> W.rlx L=0", "C.acq L 0>1:l -> ?l=0 R x:r -> W x=2 -> W.rlx L=0"),
    ),
    "LOCK4": Row(
        "F",
        BOTH_0,
        (
            "C.acq L 0>1:l -> ?l=0 R x:r -> W x=1 -> U.rel L:=0:u",
            "C.acq L 0>1:l -> ?l=0 R x:r -> W x=2 -> U.rel L:=0:u",
        ),
    ),
    "LOCK5": Row(
        "UB",
        "",
        ("C.acq L 0>1:l | ?l=0 R x:r | W x=1 | W.rel L=0", "C.acq L 0>1:l | ?l=0 R x:r | W x=2 | W.rel L=0"),
    ),
    "TILE1": Row("A", "1:%r[0] = 1 and 1:%r[1] = 0", ("W.rlx v[0,1]=1", "R.rlx v[0,1]:r")),
    "TILE2": Row("UB", "", ("W.rel v[0,1]=1", "R.acq v[1]:f -> ?f=1 R v[0]:d")),
    "TILE3": Row("A", STALE, ("W.rel v[0,1]=1", "R.acq v[1]:f -> ?f=1 R.rlx v[0]:d")),
    "TILE4": Row("F", STALE, ("W x=1 -> W.rel v[0,1]=1", "R.acq v[1]:f -> ?f=1 R x:d")),
    "TILE5": Row("F", "1:%f[1] = 1 and 1:%d = 0", ("W x=1 -> W.rel v[1]=1", "R.acq v[0,1]:f -> ?f[1]=1 R x:d")),
    "TOK1": Row("F", "0:%r = 0", ("W x=1 -> R z:s -> R x:r",)),
    "TOK2": Row("UB", "", ("a# R z:r -> W x=1 | a> W x=2",)),
    "TOK3": Row("F", "0:%r = 0", ("a# W x=1 | b# W y=1 | a,b> R x:r",)),
    "TOK4": Row("UB", "", (PRODUCER, "a# R z:s -> R.acq y:f | a> ?f=1 R x:d")),
    "TOK5": Row("F", "0:%r = 0", ("W x=1 -> M W z=1 -> R x:r",)),
}
