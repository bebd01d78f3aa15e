"""Runs a kernel on the TTIR machine, as a launch on a GPU would.

It supplies the memory of the device and the entry's hidden parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

import tileir
from tests import ttir_machine
from tests.differential import Outcome
from tests.golden.arguments import aligned
from tests.ttir_machine import Allocation, allocation
from tests.ttir_machine.descriptors import Descriptor, checked
from tests.ttir_machine.values import GARBAGE
from tileir.gpu import mailbox
from tileir.gpu.arch import arch_named
from tileir.gpu.descriptors import MAX_EXTENT, DescriptorParameter
from tileir.gpu.executable import BlockMemory, ConstantMemory, GlobalMemory, Mailbox
from tileir.gpu.expressions import evaluated
from tileir.gpu.mailbox import Mail
from tileir.gpu.program import ALIGNED, UNKNOWN, has_facts
from tileir.gpu.ttir.entry import LoweredEntry, lower_entry
from tileir.gpu.ttir.lowering import ParameterFacts
from tileir.host.printing import formatter
from tileir.host.undefined import assertion_text
from tileir.ir import types as t
from tileir.ops.calls import functions_of
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument
from tileir.runtime.arrays import Array
from tileir.runtime.module import bind, target_named

Memory = GlobalMemory | ConstantMemory | BlockMemory | Mailbox


def lowered(
    kernel: tileir.Kernel, arch: str, facts: Sequence[ParameterFacts] = (), by_address: bool = False
) -> LoweredEntry:
    """The TTIR of a kernel. Raises UnsupportedError."""
    functions = functions_of(kernel.module)
    return lower_entry(kernel.entry, functions, arch_named(arch), facts, by_address)


def outcome(
    kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object], arch: str, ordered: bool = False
) -> Outcome:
    """Run on the arrays as they are, and put back what was in them.

    `ordered` holds the code to the order of all accesses. Raises UnsupportedError and MachineFault.
    """
    return outcome_of(partial(run, ordered=ordered), kernel, grid, args, arch)


def outcome_of(
    run: Callable[[tileir.Kernel, tuple[int, ...], Sequence[Argument], str], Mail],
    kernel: tileir.Kernel,
    grid: tuple[int, ...],
    args: Sequence[object],
    arch: str,
) -> Outcome:
    """The outcome of a launch that `run` makes, after which the arrays are as before."""
    arrays = [value for value in args if isinstance(value, np.ndarray)]
    before = [array.copy() for array in arrays]
    kernel.module.require_valid()
    try:
        mail = run(kernel, grid, bind(kernel, args, target_named("interp")), arch)
        return Outcome([array.copy() for array in arrays], printed(mail), trap(mail, kernel))
    finally:
        for array, content in zip(arrays, before):
            array[...] = content


def run(
    kernel: tileir.Kernel,
    grid: tuple[int, ...],
    arguments: Sequence[Argument],
    arch: str,
    ordered: bool = False,
    told_wide: bool = True,
) -> Mail:
    """Run on the memory of the arguments; gives what the blocks left for the host.

    As a launch does, other code is made where an argument is larger than the code expects, unless it is not
    `told_wide`.
    """
    launch = prepared(kernel, grid, arguments, arch, told_wide)
    ttir_machine.run(launch.program.function, grid, launch.values, launch.allocations, ordered)
    return launch.mail()


@dataclass
class PreparedLaunch:
    """Arguments of the machine; `keep` are the arrays that memory lies in."""

    program: LoweredEntry
    values: list[int | np.generic | Descriptor]
    allocations: list[Allocation]
    keep: list[np.ndarray]
    mailbox: np.ndarray | None = None

    def mail(self) -> Mail:
        """Records that the blocks left for the host."""
        if self.mailbox is None:
            return Mail((), 0, None)
        mail = mailbox.read(self.mailbox.tobytes(), self.program.sites)
        assert not mail.lost
        return mail


def printed(mail: Mail) -> str:
    """Text that the host writes of the records."""
    texts = [formatter(found.op.text, [value.type.element for value in found.op.args])[0] for found in mail.printed]
    return "".join(text(found.tiles) for text, found in zip(texts, mail.printed))


def trap(mail: Mail, kernel: tileir.Kernel) -> tileir.Trap | None:
    """The assertion that failed first, if any did."""
    failure = mail.failure
    if failure is None:
        return None
    text = assertion_text(failure.op, failure.block, failure.condition)
    return tileir.Trap(text, kernel=kernel.name, block=failure.block, op=failure.op.spec.name, loc=failure.op.loc)


def number(value: int | np.generic | Descriptor) -> int:
    """A parameter as a number without sign."""
    assert not isinstance(value, Descriptor)
    if isinstance(value, int):
        return value
    raw = np.asarray(value)
    return int(raw.view(f"u{raw.itemsize}")) if raw.dtype != np.bool_ else int(raw)


def _bits(argument: Argument) -> int:
    """An integer or an address as the number without sign that has its bits; 0 for others, which no tensor is of."""
    passed = _passed(argument)
    if isinstance(passed, int):
        return passed
    return int(passed) & ((1 << 8 * passed.itemsize) - 1) if passed.dtype.kind in "iu" else 0


def prepared(
    kernel: tileir.Kernel, grid: tuple[int, ...], arguments: Sequence[Argument], arch: str, told_wide: bool = True
) -> PreparedLaunch:
    """The code that a launch takes, its parameters and the memory that they lead to."""
    facts = [_facts(parameter.type, argument) for parameter, argument in zip(kernel.parameters, arguments)]
    program = lowered(kernel, arch, facts)
    values = [_bits(argument) for argument in arguments]
    if told_wide and not _expected(program, values):
        program = lowered(kernel, arch, facts, by_address=True)
    launch = PreparedLaunch(program, [], [], [])
    for argument in arguments:
        _pass(launch, argument)
    for placed in kernel.module.globals.placed.values():
        launch.allocations.append(Allocation("a global", placed.address, placed.size, not placed.constant))
    for hidden in launch.program.hidden:
        if isinstance(hidden, DescriptorParameter):
            launch.values.append(described(hidden, values))
        else:
            launch.values.append(_address(launch, hidden, kernel, int(np.prod(grid))))
    return launch


def _expected(program: LoweredEntry, values: Sequence[int]) -> bool:
    """Whether the tensors of a launch are such as the code expects."""
    tensors = [hidden for hidden in program.hidden if isinstance(hidden, DescriptorParameter)]
    narrow = all(evaluated(extent, values) <= MAX_EXTENT for extent in program.narrow)
    return narrow and all(tensor.tensor(values) is not None for tensor in tensors)


def described(hidden: DescriptorParameter, values: Sequence[int]) -> Descriptor:
    """The descriptor that a launch makes."""
    tensor = hidden.tensor(values)
    assert tensor is not None
    element = hidden.type.removesuffix(">").rpartition("x")[2]
    strides = (*tensor.strides, hidden.size)
    return checked(Descriptor(tensor.address, element, tensor.extents, strides, hidden.pads_with_nan), hidden.type)


def _facts(type: t.Type, argument: Argument) -> ParameterFacts:
    """Return the facts that a launch without further knowledge states about an argument."""
    return ALIGNED if has_facts(type) and int(_passed(argument)) % ALIGNED.divisor == 0 else UNKNOWN


def _passed(argument: Argument) -> int | np.generic:
    if isinstance(argument, ArrayArgument):
        return argument.array.address
    if isinstance(argument, PointerArgument):
        return argument.pointer.address
    return argument.value


def _pass(launch: PreparedLaunch, argument: Argument) -> None:
    launch.values.append(_passed(argument))
    if isinstance(argument, ArrayArgument):
        for lent in (argument, *argument.reaches):
            launch.allocations.append(_lent(lent.name, lent.array))
    elif isinstance(argument, PointerArgument):
        assert argument.pointer.size is not None
        launch.allocations.append(Allocation(argument.name, argument.pointer.address, argument.pointer.size))


def _lent(name: str, array: Array) -> Allocation:
    """The memory from the first element of an array to the last, whatever lies between them."""
    if 0 in array.shape:
        return Allocation(name, array.address, 0)
    reaches = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides)]
    before = sum(reach for reach in reaches if reach < 0)
    return Allocation(name, array.address + before, sum(map(abs, reaches)) + array.itemsize)


def _address(launch: PreparedLaunch, hidden: Memory, kernel: tileir.Kernel, blocks: int) -> int:
    """The value of a hidden parameter."""
    if isinstance(hidden, GlobalMemory):
        return kernel.module.globals.addresses[hidden.name]
    memory = aligned(np.frombuffer(_content(launch, hidden, blocks), np.uint8))
    if isinstance(hidden, Mailbox):
        launch.mailbox = memory
    found = allocation(type(hidden).__name__, memory)
    launch.allocations.append(replace(found, writable=not isinstance(hidden, ConstantMemory)))
    launch.keep.append(memory)
    return found.address


def _content(launch: PreparedLaunch, hidden: ConstantMemory | BlockMemory | Mailbox, blocks: int) -> bytes:
    """Content of hidden memory before a launch."""
    if isinstance(hidden, ConstantMemory):
        return hidden.content
    if isinstance(hidden, BlockMemory):
        return bytes([GARBAGE]) * hidden.size * blocks
    sites = launch.program.sites
    size = mailbox.size_for(sites, blocks)
    return mailbox.initial(size, sites).ljust(size, b"\0")
