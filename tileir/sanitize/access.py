"""An operation that accesses memory, observed by the sanitizer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp.api import BlockState, Fault
from tileir.interp.atomics import MODES
from tileir.ir.attributes import AtomicMode
from tileir.ir.storage import dtype_of
from tileir.ir.types import F4E2M1FN, TileType, TileViewType, TokenType
from tileir.ops.atomics import AtomicCas, AtomicRmw
from tileir.sanitize.clocks import AccessEvent, Past, Site, union
from tileir.sanitize.session import Session
from tileir.sanitize.shadow import Touched, TouchedBox, TouchedElements
from tileir.sanitize.taint import Marked, Origin, is_marked, merged, plain, with_marks
from tileir.sanitize.weak import PastWrite, value_of

_ADDING = (AtomicMode.ADD, AtomicMode.ADDF, AtomicMode.OR, AtomicMode.XOR)


class WatchedAccess:
    """The rule of an operation that accesses memory; called as the rule is."""

    def __init__(self, session: Session, site: Site, function: Callable[..., object]) -> None:
        op, declared = site.op, site.access.declared
        names = [operand.name for operand in op.spec.operands]
        self._session = session
        self._site = site
        self._function = function
        self._sparse = site.access.sparse_dim is not None
        self._token = _token_position(site)
        self._value, self._mask, self._expected = (
            names.index(name) if name else None for name in (declared.value, declared.mask, declared.expected)
        )
        leading = (declared.through, declared.indices, declared.rows)
        self._leading = [names.index(name) for name in leading if name]
        self._tile = next((result.tile for result in op.results if isinstance(result.type, TileType)), None)
        self._chosen = _names_padding(site)
        value = site.access.value
        self._sharing = 2 if value is not None and value.tile.element is F4E2M1FN else 1
        self._quiet = op in session.quiet
        self._remembers = site.verb == "store" and not self._quiet
        self._older: PastWrite | None = None
        """The write that a load has read from, if it is not the last one."""

    def __call__(self, block: BlockState, *values: object) -> object:
        session, memory = self._session, self._session.memory
        session.here, session.dropped = self._site, False
        memory.begin(self._sparse, self._remembers or session.weak is not None)
        self._older = None
        marked = is_marked(values)
        operands = plain(values) if marked else values
        assert isinstance(operands, tuple), "operands come as a tuple"
        result = self._run(block, operands)
        touched = memory.touched
        tile = result[0] if isinstance(result, tuple) else result
        if marked:
            self._arrivals(values, touched)
        token = self._happen(block, operands, touched, tile)
        if self._tile is None:
            return token if self._site.op.results else None
        if self._older is not None:
            tile = value_of(self._older, tile)
        if not self._site.access.updates:
            tile = self._with_marks(tile, touched, values)
        return (tile, token) if len(self._site.op.results) > 1 else tile

    def _run(self, block: BlockState, operands: tuple[object, ...]) -> object:
        try:
            return self._function(block, *operands)
        except Fault as fault:
            self._session.fault(self._site.op, fault)
            self._session.memory.touched = []
            return None if self._tile is None else np.zeros(self._tile.shape, dtype_of(self._tile.element))[()]

    # ------------------------------------------------------------ events

    def _happen(self, block: BlockState, operands: tuple[object, ...], touched: list[Touched], tile: object) -> Past:
        """Return the event of this execution, and the token that it gives."""
        token = operands[self._token] if self._token is not None else None
        assert token is None or isinstance(token, Past), "tokens carry clocks"
        if not touched:
            return union((token,))
        event = self._session.detector.event(self._site, block.id, token, touched[0].size)
        if self._quiet:
            self._happen_quietly(event, touched)
            return event.past
        if not event.releases or (len(touched) == 1 and touched[0].count == 1):
            for one in touched:
                self._happen_at(event, one, operands, tile)
            return event.with_itself()
        # The release of one element says nothing about the others: each is an event of its own.
        pasts = []
        for element in (element for one in touched for element in one.elements()):
            own = self._session.detector.event(self._site, block.id, token, element.size)
            self._happen_at(own, element, operands, tile)
            pasts.append(own.with_itself())
        return union(pasts)

    def _happen_quietly(self, event: AccessEvent, touched: list[Touched]) -> None:
        """Note an access that conflicts with no other: only its own elements may meet."""
        if not self._site.access.writes:
            return
        for one in touched:
            if isinstance(one, TouchedElements):
                self._session.detector.repeated(event, one, self._sharing)
            one.mark_written()
        self._session.progress += 1

    def _happen_at(self, event: AccessEvent, touched: Touched, operands: tuple[object, ...], tile: object) -> None:
        detector, access, weak = self._session.detector, self._site.access, self._session.weak
        if not access.writes:
            self._session.waits[event.block] = self._site
            self._older = weak.chosen(event, touched) if weak is not None and event.strong else None
            detector.read(event, touched, None if self._older is None else self._older.heads)
            return
        if access.updates:
            self._check_written(touched)
        if isinstance(self._site.op, AtomicCas) and isinstance(touched, TouchedElements):
            stored = self._succeeded(operands, tile)
            detector.read(event, touched.chosen(~stored))
            if weak is not None:
                weak.seen(event, touched.chosen(~stored))
            touched = touched.chosen(stored)
        elif isinstance(touched, TouchedElements) and not access.updates:
            detector.repeated(event, touched, self._sharing)
        if touched.count:
            detector.write(event, touched)
            if weak is not None:
                weak.written(event, touched, detector.heads(touched))
        touched.mark_written()
        self._note_progress(event, touched, operands, tile)

    def _succeeded(self, operands: tuple[object, ...], old: object) -> np.ndarray:
        assert self._expected is not None, "a compare-and-swap has a value to compare with"
        expected, found = np.asarray(operands[self._expected]), np.asarray(old)
        bits = f"u{found.dtype.itemsize}"
        return np.asarray(found.reshape(-1).view(bits) == expected.reshape(-1).view(bits))

    def _check_written(self, touched: Touched) -> None:
        if touched.unwritten() is not None and getattr(self._site.op, "mode", None) is not AtomicMode.XCHG:
            origin = self._unwritten_origin(touched, touched.unwritten())
            self._session.read_unwritten(origin, self._site)

    def _note_progress(self, event: AccessEvent, touched: Touched, operands: tuple[object, ...], old: object) -> None:
        """Note progress, except for an update that leaves memory unchanged, which helps no tile block that waits."""
        op = self._site.op
        cells = touched.shape if isinstance(touched, TouchedBox) else touched.lanes
        if isinstance(op, AtomicRmw) and self._value is not None and np.asarray(old).ndim == 0:
            before, argument = np.atleast_1d(np.asarray(old)), np.atleast_1d(np.asarray(operands[self._value]))
            changed = bool((MODES[op.mode].combine(before, argument) != before).any())
        else:
            changed = not isinstance(touched, TouchedElements) or len(cells) > 0
        if changed:
            self._session.progress += 1
        else:
            self._session.waits[event.block] = self._site

    # ------------------------------------------------------------ marks

    def _with_marks(self, tile: object, touched: list[Touched], values: tuple[object, ...]) -> object:
        """Return a loaded tile with marks on elements that nobody wrote or that lie outside memory."""
        marks: dict[Origin, np.ndarray] = {}
        shape = np.asarray(tile).shape
        if self._tile is None or self._tile.element is F4E2M1FN:
            return tile
        for one in touched:
            found = one.unwritten()
            if found is not None:
                origin = self._unwritten_origin(one, found)
                mask = marks.setdefault(origin, np.zeros(shape, np.bool_))
                one.onto(mask, found)
        count = sum(one.count for one in touched)
        if count < self._tile.count and not self._session.dropped:
            self._mark_padding(tile, touched, marks)
        marks = merged(marks, self._from_addresses(values, touched, shape))
        return with_marks(tile, marks) if marks else tile

    def _mark_padding(self, tile: object, touched: list[Touched], marks: dict[Origin, np.ndarray]) -> None:
        value = np.asarray(tile)
        outside = ~_covered(value.shape, touched)
        padding = value[outside]
        first = padding[0] if padding.size else None
        marks[self._session.origin("padding", self._site, self._chosen, first)] = outside

    def _unwritten_origin(self, touched: Touched, found: np.ndarray | None) -> Origin:
        origin = self._session.origin("uninitialized", self._site, False)
        if origin.index is None and found is not None:
            address = touched.address(int(np.argmax(found)))
            origin.array, origin.index = self._session.place(address, touched.size, self._site.op)
        return origin

    def _from_addresses(
        self, values: tuple[object, ...], touched: list[Touched], shape: tuple[int, ...]
    ) -> dict[Origin, np.ndarray]:
        """Return marks of padding in an address, which pass to what is loaded from there."""
        found: dict[Origin, np.ndarray] = {}
        covered = None
        for value in self._leading_marked(values):
            for origin, mask in value.marks.items():
                covered = _covered(shape, touched) if covered is None else covered
                found = merged(found, {origin: covered & self._lanes_of(mask, shape)})
        return found

    def _lanes_of(self, mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return the elements of the tile whose addresses depend on marked elements of an index or a tile of
        pointers."""
        dim = self._site.access.sparse_dim
        if mask.shape == shape or dim is None or mask.ndim == 0:
            return mask if mask.shape == shape else np.broadcast_to(mask.any(), shape)
        column = (-1,) + (1,) * (len(shape) - dim - 1)
        return np.broadcast_to(mask.reshape(column), shape)

    # ------------------------------------------------------------ arrivals

    def _arrivals(self, values: tuple[object, ...], touched: list[Touched]) -> None:
        """Report marked values that the operation was given and used."""
        session = self._session
        for value in self._leading_marked(values):
            shown = Marked(value.value, {one: mask for one, mask in value.marks.items() if self._tells(one)})
            where = _covered(np.shape(value.value), touched) if self._fits(value) else None
            if touched:
                session.arrives(shown, self._site, "address", where)
        mask = values[self._mask] if self._mask is not None else None
        if isinstance(mask, Marked):
            session.arrives(mask, self._site, "branch")
        stored = values[self._value] if self._value is not None else None
        if isinstance(stored, Marked) and touched:
            session.arrives(stored, self._site, "stored", self._stored(stored, touched))

    def _tells(self, origin: Origin) -> bool:
        """Return whether marks go on: padding in the address of a load passes to what it loads."""
        return origin.kind == "uninitialized" or self._site.access.writes

    def _fits(self, value: Marked) -> bool:
        return not isinstance(self._site.access.address.type, TileViewType) and np.ndim(value.value) > 0

    def _stored(self, value: Marked, touched: list[Touched]) -> np.ndarray:
        covered = _covered(np.shape(value.value), touched)
        if getattr(self._site.op, "mode", None) in _ADDING:
            covered = covered & np.asarray(value.value != 0)
        return covered

    def _leading_marked(self, values: tuple[object, ...]) -> list[Marked]:
        found: list[Marked] = []
        for position in self._leading:
            value = values[position]
            found += [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Marked)]
        return found


def _covered(shape: tuple[int, ...], touched: list[Touched]) -> np.ndarray:
    """Return the elements of a tile that an operation found in memory."""
    covered = np.zeros(shape, np.bool_)
    for one in touched:
        one.onto(covered, np.ones(one.shape if isinstance(one, TouchedBox) else one.lanes.size, np.bool_))
    return covered


def _token_position(site: Site) -> int | None:
    op = site.op
    for position, operand in enumerate(op.spec.operands):
        if any(isinstance(value.type, TokenType) for value in op.operand_group(operand.position)):
            return position
    return None


def _names_padding(site: Site) -> bool:
    """Return whether the program chooses the value of elements out of bounds."""
    type = site.access.address.type
    if isinstance(type, TileViewType):
        return type.padding is not None
    return site.access.padding is not None or site.op.attributes.get("fill_value") is not None
