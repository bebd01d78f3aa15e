"""Running a launch under the sanitizer, in one or several orders of its tile blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tileir.analysis.effects import access_of, accesses_of, writes
from tileir.analysis.provenance import ANYWHERE, Provenance
from tileir.host.address_space import AccessFault
from tileir.host.allocation import Allocation
from tileir.host.printing import ignored
from tileir.interp.api import BlockState, Coordinates, LaunchState, Options
from tileir.interp.machine import TABLES
from tileir.interp.prepare import prepare
from tileir.interp.program import PreparedFunction
from tileir.interp.scheduler import Running, Watch, coordinates, run_all
from tileir.ir.core import Module, Op
from tileir.ir.diagnostics import Trap
from tileir.ir.loc import Source
from tileir.ops.module import Entry
from tileir.sanitize.findings import Finding
from tileir.sanitize.memory import Layout, WatchedMemory
from tileir.sanitize.report import SanitizerReport
from tileir.sanitize.session import Session
from tileir.sanitize.shadow import LARGEST_CELL
from tileir.sanitize.watch import SanitizerObserver
from tileir.sanitize.weak import WeakOutcomes

WAITING = 1 << 10
"""Iterations of `loop` without a change of memory after which a tile block counts as waiting."""


@dataclass(frozen=True)
class SanitizedLaunch:
    """A launch with its arguments in place: `layouts` say how arrays lie in `memory`, `quiet` are the operations whose
    accesses are proved to conflict with none, `names` those of the parameters, `unwritten` masks of bytes that nobody
    has written before."""

    module: Module
    entry: Entry
    grid: Coordinates
    arguments: Sequence[object]
    memory: WatchedMemory
    layouts: Mapping[str, Layout]
    options: Options
    names: Sequence[str]
    quiet: frozenset[Op] = frozenset()
    unwritten: Sequence[tuple[Allocation, np.ndarray]] = ()


class _Stuck(Exception):
    """No tile block can go on."""


def sanitized(
    launch: SanitizedLaunch, kinds: frozenset[str], schedules: int, seed: int, uninitialized: Sequence[str]
) -> SanitizerReport:
    """Run the launch in one order, and where the order can matter, in one that starts consumers first, and in
    `schedules` less one at random. Memory is left as the first order leaves it, and only that one prints.
    """
    orders = _orders(launch, schedules, seed)
    session = Session(launch.memory, launch.layouts, kinds, _quiet(launch, len(orders)), _parameter_of(launch))
    function = prepare(launch.module, launch.entry, TABLES, True, SanitizerObserver(session)).function
    before = _contents(launch.memory) if len(orders) > 1 else []
    after: list[np.ndarray] = []
    storages: list[tuple[int, int]] = []
    notes: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    for position, order in enumerate(orders):
        if position:
            _restore(launch.memory, before)
            launch.memory.covers = False
            launch = replace(launch, options=replace(launch.options, output=ignored))
        _run(launch, session, function, order, uninitialized)
        if not position:
            notes = tuple(_never_written(launch))
            kept = _kept(launch)
            after = _contents(launch.memory) if len(orders) > 1 else []
            storages = launch.memory.storages
        else:
            _compare(launch, session, after, storages)
    if len(orders) > 1:
        _restore(launch.memory, after)
    sources, findings = _sources(launch.module), session.collector.all()
    if any(finding.severity == "error" for finding in findings):
        notes = ()  # a launch that went wrong may have ended before it wrote the rest
    return SanitizerReport(findings, launch.entry.sym_name, len(orders), sources, kinds, notes, kept)


def clean(launch: SanitizedLaunch, kinds: frozenset[str]) -> SanitizerReport:
    """Return the report of a launch without findings; the shadow of its memory holds what it has written."""
    notes, sources = tuple(_never_written(launch)), _sources(launch.module)
    return SanitizerReport([], launch.entry.sym_name, 1, sources, kinds, notes, _kept(launch))


def _kept(launch: SanitizedLaunch) -> frozenset[str]:
    return frozenset(name for name, value in zip(launch.names, launch.arguments) if _is_kept(launch, value))


def _is_kept(launch: SanitizedLaunch, value: object) -> bool:
    """Return whether an argument leads to memory that the run has left as it was."""
    allocation = launch.memory.find(int(value)) if isinstance(value, np.uint64) else None
    if allocation is None:
        return False
    covered = launch.memory.shadow(allocation, LARGEST_CELL).covered
    return covered is None or not covered.any()


MOST_RANGES = 3


def _never_written(launch: SanitizedLaunch) -> Iterator[str]:
    """Yield a note for each array that the launch has written in part."""
    seen: set[Layout] = set()
    for name, layout in launch.layouts.items():
        allocation = launch.memory.find(layout.address)
        if allocation is None or layout in seen:
            continue
        seen.add(layout)
        shadow = launch.memory.shadow(allocation, LARGEST_CELL)
        if shadow.covered is None:
            continue
        place, shape = layout.address - shadow.base, (*layout.shape, layout.itemsize)
        written = np.ndarray(shape, np.bool_, shadow.covered, place, (*layout.strides, 1)).all(-1)
        missing = np.flatnonzero(~written)
        if missing.size and written.any():
            shown = _ranges_text(missing, layout.shape)
            yield f"{missing.size:,} of {written.size:,} elements of '{name}' were never written, elements {shown}"


def _ranges_text(positions: np.ndarray, shape: tuple[int, ...]) -> str:
    """Return the first ranges of positions in row-major order, which are sorted."""
    breaks = np.flatnonzero(np.diff(positions) > 1)
    firsts, lasts = positions[[0, *(breaks + 1)]], positions[[*breaks, -1]]

    def text(position: int) -> str:
        index = [int(at) for at in np.unravel_index(position, shape)]
        return str(index[0]) if len(index) == 1 else str(index)

    pairs = list(zip(firsts.tolist(), lasts.tolist()))
    texts = [text(first) if first == last else f"{text(first)} to {text(last)}" for first, last in pairs[:MOST_RANGES]]
    more = len(pairs) - MOST_RANGES
    return ", ".join(texts) + (f" and {more:,} more ranges" if more > 0 else "")


def _quiet(launch: SanitizedLaunch, orders: int) -> frozenset[Op]:
    """Return the operations that need not be followed. Of several orders it matters who has stored what differs."""
    return launch.quiet if orders == 1 else frozenset(op for op in launch.quiet if not writes(op))


def _parameter_of(launch: SanitizedLaunch) -> Callable[[Op], str | None]:
    """Return a function that names the parameter through which an operation accesses memory; None if it may be one of
    several, or of any origin."""
    made: list[Provenance] = []

    def name(op: Op) -> str | None:
        if not made:
            made.append(Provenance(launch.entry))
        access = access_of(op)
        found = frozenset() if access is None else made[0].of(access.address)
        return launch.names[next(iter(found))] if len(found) == 1 and ANYWHERE not in found else None

    return name


def _sources(module: Module) -> tuple[Source, ...]:
    return () if module.source is None else (module.source,)


@dataclass(frozen=True)
class _Order:
    """An order of tile blocks: which starts first, and how turns are taken. One at random has weak outcomes too."""

    blocks: Iterable[Coordinates]
    seed: int | None = None


def _orders(launch: SanitizedLaunch, schedules: int, seed: int) -> list[_Order]:
    orders = [_Order(coordinates(launch.grid))]
    if schedules > 1 or any(access.is_strong for access in accesses_of(launch.entry)):
        orders.append(_Order(list(coordinates(launch.grid))[::-1]))
    orders += [_Order(coordinates(launch.grid), seed + number) for number in range(schedules - 1)]
    return orders


# ------------------------------------------------------------ one run


class _Block(BlockState):
    """A tile block whose broken promises are findings, and whose warnings are not given."""

    __slots__ = ("begun", "seen", "session")

    def __init__(self, id: Coordinates, launch: LaunchState, session: Session) -> None:
        super().__init__(id, launch)
        self.session = session
        self.seen = -1
        self.begun = 0

    def undefined(self, op: Op, message: str, array: str | None = None, index: object = None) -> None:
        promised = any(op.attributes.get("inbounds") or ())
        self.session.undefined(op, message, "out-of-bounds" if promised else "undefined")

    def overflowed(self, op: Op, message: str) -> None:
        self.session.undefined(op, message)

    def overclaimed(self, op: Op, fault: AccessFault) -> None:
        self.session.overclaimed(op, fault)

    def warn(self, op: Op, message: str) -> None:
        """Ignore warnings: unspecified values are reported when they are stored."""

    def is_idle(self) -> bool:
        """True if it has gone round long enough without any change."""
        if self.seen != self.session.progress:
            self.seen, self.begun = self.session.progress, self.iterations
        return self.iterations - self.begun >= WAITING


def _run(
    launch: SanitizedLaunch, session: Session, function: PreparedFunction, order: _Order, uninitialized: Sequence[str]
) -> None:
    launch.memory.forget()
    _mark_unwritten(launch, uninitialized)
    session.start(None if order.seed is None else WeakOutcomes(order.seed))
    state = LaunchState(launch.entry.sym_name, launch.grid, launch.memory, launch.options, launch.module.source)
    live: dict[Coordinates, _Block] = {}
    total = launch.grid[0] * launch.grid[1] * launch.grid[2]
    started = 0

    def start(id: Coordinates) -> Running:
        nonlocal started
        started += 1
        session.progress += 1
        block = live[id] = _Block(id, state, session)
        return block, turns(block)

    def turns(block: _Block) -> Generator[None, None, None]:
        flow = function.body.run(function.frame(launch.arguments), block)
        while True:
            session.block = block
            try:
                next(flow)
            except StopIteration:
                break
            if started == total and block.is_idle() and all(one.is_idle() for one in live.values()):
                raise _Stuck
            yield
        del live[block.id]
        session.progress += 1

    try:
        with np.errstate(all="ignore"):
            run_all(order.blocks, start, Watch(state), order.seed)
    except _Stuck:
        session.stuck(list(live))
    except Trap as trap:
        _stopped(session, trap)
    finally:
        session.running = False


def _stopped(session: Session, trap: Trap) -> None:
    """Report a fault after which the run cannot continue."""
    kind = "deadlock" if trap.message.startswith(("hang", "deadlock")) else "undefined"
    blocks = () if trap.block is None else (trap.block,)
    session.collector.add(Finding(kind, trap.message, loc=trap.loc, op=trap.op, blocks=blocks), str(trap.loc))


def _mark_unwritten(launch: SanitizedLaunch, names: Sequence[str]) -> None:
    for allocation, mask in launch.unwritten:
        launch.memory.shadow(allocation, LARGEST_CELL).mark_unwritten(mask)
    for name in names:
        layout = launch.layouts[name]
        found = launch.memory.find(layout.address)
        if found is not None:
            launch.memory.shadow(found, layout.itemsize).mark_unwritten()


# ------------------------------------------------------------ several runs


def _contents(memory: WatchedMemory) -> list[np.ndarray]:
    return [one.copy() for one in memory.writable_bytes()]


def _restore(memory: WatchedMemory, contents: list[np.ndarray]) -> None:
    for one, before in zip(memory.writable_bytes(), contents):
        one[...] = before


def _compare(
    launch: SanitizedLaunch, session: Session, first: list[np.ndarray], storages: Sequence[tuple[int, int]]
) -> None:
    """Report arrays that end up different from what the first order has left, where the `storages` were allocated."""
    for one, expected in zip(launch.memory.writable_bytes(), first):
        different = np.flatnonzero(one != expected)
        if different.size and storages:
            addresses = _in_storage(one, launch.memory.storages) & _in_storage(expected, storages)
            different = different[~addresses[different]]
        if different.size:
            _report_order(session, one.__array_interface__["data"][0] + int(different[0]), int(different.size))


def _in_storage(content: np.ndarray, storages: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return a mask of the bytes that are part of the address of storage of an `alloca`."""
    whole = content.size // 8 * 8
    words = content[:whole].copy().view(np.uint64)
    bases, sizes = (np.array(part, np.uint64) for part in zip(*sorted(storages)))
    at = np.maximum(np.searchsorted(bases, words, "right"), 1) - 1
    inside = (words >= bases[at]) & (words - bases[at] < sizes[at])
    return np.append(np.repeat(inside, 8), np.zeros(content.size - whole, np.bool_))


def _report_order(session: Session, address: int, count: int) -> None:
    site = session.last_writer(address)
    array, index = session.place(address, 1, None if site is None else site.op)
    found = Finding(
        "order-dependent",
        f"'{array}'{list(index)} depends on the order in which tile blocks run",
        severity="warning",
        hint="let one tile block combine what the others have stored, in a fixed order, if results must repeat",
        array=array,
        indices=(index,),
        because="two orders of the same tile blocks left different bytes",
        count=count,
    )
    if site is not None:
        found.loc, found.op = site.op.loc, site.op.spec.name
    session.collector.add(found, array)
