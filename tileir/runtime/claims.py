"""Views that claim more than their arrays have, or step through them otherwise than they are laid out, as far as a
launch tells without running."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tileir.host.address_space import AddressSpace
from tileir.host.kernel_warnings import KernelWarning, issue
from tileir.ir.core import Value
from tileir.ops.misc import Assume
from tileir.ops.module import Entry
from tileir.ops.views import MakeTensorView
from tileir.runtime.arguments import Argument, ArrayArgument, ScalarArgument
from tileir.runtime.memory import allocation_of

_FIRST = (0, 0, 0)


@dataclass(frozen=True)
class PlainView:
    """A view that every tile block makes of parameters alone: `positions` are those of the operands."""

    op: MakeTensorView
    positions: Mapping[Value, int]

    @property
    def base(self) -> int:
        """The position of the parameter that is the address."""
        return self.positions[self.op.base]

    def layout(self, arguments: Sequence[Argument]) -> tuple[list[int], list[int]]:
        """Return the extents and the strides, in elements."""
        type = self.op.result.type

        def filled(static: Sequence[int | None], dynamic: Sequence[Value]) -> list[int]:
            operands = iter(dynamic)
            return [arguments[self.positions[next(operands)]].bits if one is None else one for one in static]

        return filled(type.shape, self.op.dynamicShape), filled(type.strides, self.op.dynamicStrides)

    def reach(self, arguments: Sequence[Argument]) -> int:
        """Return the number of elements from the first to the last one in memory; 0 if there are none."""
        extents, strides = self.layout(arguments)
        return 1 + sum((n - 1) * stride for n, stride in zip(extents, strides)) if all(extents) else 0

    def misreading(self, arguments: Sequence[Argument]) -> str | None:
        """Return the words for a view of a whole array whose strides are others; None for all other views."""
        given = arguments[self.base]
        if not isinstance(given, ArrayArgument) or given.array.contiguous:
            return None
        (extents, strides), array = self.layout(arguments), given.array
        steps = [*array.steps]
        if extents != [*array.shape] or all(n < 2 or a == b for n, a, b in zip(extents, strides, steps)):
            return None
        return f"the view has strides {strides}, but those of '{given.name}' are {steps}: its elements are mixed up"


def warn_of_claims(kernel: str, plain: Sequence[PlainView], arguments: Sequence[Argument]) -> None:
    """Warn of each view of a kernel that claims more than its array has, though accesses may still be inside, or that
    mixes up its elements."""
    if not plain:
        return
    space = AddressSpace(allocation_of(argument) for argument in arguments if isinstance(argument, ArrayArgument))
    for view in plain:
        element = view.op.result.type.element
        wrong = space.overclaim(arguments[view.base].bits, element.memory_size(view.reach(arguments)), element)
        for message in (wrong and wrong.message, view.misreading(arguments)):
            if message:
                issue(KernelWarning(message, kernel, _FIRST, view.op.spec.name, view.op.loc))


def layout_notes(plain: Sequence[PlainView], arguments: Sequence[Argument]) -> Iterator[str]:
    """Yield a note for each array that is not laid out row by row, of which the kernel is not told."""
    yield from filter(None, (view.misreading(arguments) for view in plain))
    viewed = {view.base for view in plain}
    numbers = {argument.bits for argument in arguments if isinstance(argument, ScalarArgument)}
    for position, argument in enumerate(arguments):
        if position in viewed or not isinstance(argument, ArrayArgument) or argument.array.contiguous:
            continue
        shape, steps = argument.array.shape, [*argument.array.steps]
        if numbers.isdisjoint(step for n, step in zip(shape, steps) if n > 1 and step > 1):
            yield f"the strides of '{argument.name}' are {steps}, and no argument is one of them"


def plain_views(entry: Entry) -> list[PlainView]:
    """Return the views that every tile block of an entry makes and that are known from the launch's arguments."""
    given = {argument: position for position, argument in enumerate(entry.body.args)}
    found = []
    for op in (op for op in entry.body.ops if isinstance(op, MakeTensorView)):
        origins = [_promised(value) for value in op.operands]
        if all(origin in given for origin in origins):
            found.append(PlainView(op, {value: given[origin] for value, origin in zip(op.operands, origins)}))
    return found


def _promised(value: Value) -> Value:
    """Return the value that promises are about, or the value itself."""
    while isinstance(value.op, Assume):
        value = value.op.value
    return value
