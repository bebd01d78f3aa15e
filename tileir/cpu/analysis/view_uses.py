"""Uses of a tensor view: whether memory is read through it, or written.

Knows: how a view goes from operation to operation. Does not know: memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileir.analysis.effects import access_of
from tileir.ir.core import Op, Value
from tileir.ops import views

_MADE_OF = (views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
_ASKING = (views.GetTensorShape, views.GetIndexSpaceShape)


def accesses_through(users: Callable[[Value], Sequence[Op]], view: Value) -> tuple[bool, bool]:
    """Whether memory is read through a view, and whether it is written; both where it goes somewhere else."""
    reads = writes = False
    for user in users(view):
        access = access_of(user)
        if isinstance(user, _MADE_OF):
            found = accesses_through(users, user.results[0])
        elif access is not None:
            found = access.reads, access.writes
        else:
            found = (False, False) if isinstance(user, _ASKING) else (True, True)
        reads, writes = reads or found[0], writes or found[1]
    return reads, writes
