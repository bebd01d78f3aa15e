"""Small concurrent programs in the notation of the litmus tests, and the same as Tile IR.

A tile block is a line of steps, each ``KIND[.ordering][@scope] place...``; ``->`` hands the token of a step to the next
one, ``|`` does not:

    W x=1                 a store; ``W x=%r`` of what was read as r; ``W v[0,1]=1,2`` of a tile
    R.acq y:f             a load, as f
    U.ar c+1:r            an atomic add, ``U.rel y:=1:r`` an exchange
    C.acq L 0>1:r         a compare-and-swap
    ?f=1 R x:d            this and all that follow only if f is 1; ``?f[1]=1`` looks at an element
    a,b> W.rel y=1        waits for the steps labelled ``a#`` and ``b#``; ``>`` for none
    a# W x=1              a label
    M W x=1               masked off

The scope is ``device`` unless ``@blk`` or ``@sys`` is said. Places are parameters of one i32, or elements of one array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ORDERINGS = {"": "weak", "rlx": "relaxed", "acq": "acquire", "rel": "release", "ar": "acq_rel"}
SCOPES = {"": "device", "blk": "tl_blk", "dev": "device", "sys": "sys"}
STEP = re.compile(
    r"(?:(?P<label>\w+)#\s*)?(?:(?P<after>[\w,]*)>\s*)?(?P<guards>(?:\?\w+(?:\[\d+\])?=\d+\s*)*)(?P<masked>M\s+)?"
    r"(?P<kind>[RWUC])(?:\.(?P<ordering>\w+))?(?:@(?P<scope>\w+))?\s+(?P<place>\w+(?:\[[\d,]+\])?)\s*"
    r"(?:(?P<add>\+\d+)|:=(?P<swap>\d+)|=(?P<store>[%\w,]+)|(?P<compare>\d+>\d+))?(?::(?P<register>\w+))?$"
)
GUARD = re.compile(r"\?(\w+)(?:\[(\d+)\])?=(\d+)")


@dataclass(frozen=True)
class Guard:
    register: str
    lane: int
    value: int


@dataclass(frozen=True)
class Step:
    """One operation: `number` in its tile block, `after` the steps whose tokens it waits for.

    `stored` are the values of the lanes, of numbers or registers; for an update `mode` is ``add``, ``xchg`` or ``cas``.
    """

    number: int
    kind: str
    ordering: str
    scope: str
    array: str
    lanes: tuple[int, ...]
    stored: tuple[int | str, ...] = ()
    mode: str = ""
    expected: int = 0
    register: str = ""
    after: tuple[int, ...] = ()
    guards: tuple[Guard, ...] = ()
    masked: bool = False

    @property
    def scalar(self) -> bool:
        return len(self.lanes) == 1


@dataclass(frozen=True)
class Program:
    """A program: the steps of each tile block."""

    blocks: tuple[tuple[Step, ...], ...]

    @property
    def arrays(self) -> dict[str, int]:
        """Return how many elements each array has."""
        sizes: dict[str, int] = {}
        for step in (step for block in self.blocks for step in block):
            sizes[step.array] = max(sizes.get(step.array, 1), max(step.lanes) + 1)
        return dict(sorted(sizes.items()))

    @property
    def launch(self) -> str:
        """The grid and the arguments, in the words of the command line."""
        words = [f"{name}=i32[{size}]:zeros" for name, size in self.arrays.items()]
        return " ".join(["--grid", str(len(self.blocks)), *words])


def program(*blocks: str) -> Program:
    return Program(tuple(tuple(_steps(block)) for block in blocks))


def _steps(text: str) -> Iterator[Step]:
    labels: dict[str, int] = {}
    guards: tuple[Guard, ...] = ()
    pieces = list(re.split(r"(->|\|)", text))
    for number, piece in enumerate(pieces[::2]):
        found = STEP.match(piece.strip())
        assert found is not None, f"cannot read step '{piece.strip()}'"
        chained = number > 0 and pieces[2 * number - 1] == "->"
        after: tuple[int, ...] = (number - 1,) if chained else ()
        if found["after"] is not None:
            after = tuple(labels[label] for label in found["after"].split(",") if label)
        if found["label"]:
            labels[found["label"]] = number
        new = GUARD.findall(found["guards"])
        guards += tuple(Guard(register, int(lane or 0), int(value)) for register, lane, value in new)
        yield _step(number, found, after, guards)


def _step(number: int, found: re.Match[str], after: tuple[int, ...], guards: tuple[Guard, ...]) -> Step:
    array, _, lanes = found["place"].partition("[")
    positions = tuple(int(lane) for lane in lanes.rstrip("]").split(",")) if lanes else (0,)
    stored: tuple[int | str, ...] = ()
    mode, expected = "", 0
    if found["store"]:
        stored = tuple(_operand(word) for word in found["store"].split(","))
    if found["add"]:
        mode, stored = "add", (int(found["add"]),)
    elif found["swap"]:
        mode, stored = "xchg", (int(found["swap"]),)
    elif found["compare"]:
        before, _, after_swap = found["compare"].partition(">")
        mode, expected, stored = "cas", int(before), (int(after_swap),)
    if len(stored) == 1:
        stored *= len(positions)
    return Step(
        number,
        found["kind"],
        ORDERINGS[found["ordering"] or ""],
        SCOPES[found["scope"] or ""],
        array,
        positions,
        stored,
        mode,
        expected,
        found["register"] or ("" if found["kind"] == "W" else f"r{number}"),
        after,
        guards,
        bool(found["masked"]),
    )


def _operand(word: str) -> int | str:
    return word.removeprefix("%") if word.startswith("%") else int(word)


# ---------------------------------------------------------------- Tile IR


def text(found: Program, name: str = "litmus", outputs: bool = False) -> str:
    """The program as an entry. With `outputs` each tile block stores in the end what it has read, in array ``out``."""
    parameters = [f"%{array}: tile<ptr<i32>>" for array in found.arrays]
    if outputs:
        parameters.append("%out: tile<ptr<i32>>")
    lines = ["cuda_tile.module @m {", f"  entry @{name}({', '.join(parameters)}) {{"]
    lines += [f"    {line}" for line in _body(found, outputs)]
    return "\n".join([*lines, "  }", "}", ""])


def _body(found: Program, outputs: bool) -> Iterator[str]:
    if len(found.blocks) > 1:
        yield "%block, %block_y, %block_z = get_tile_block_id : tile<i32>"
    yield from _constants(found)
    for number, steps in enumerate(found.blocks):
        writer = BlockText(steps, number, outputs)
        if len(found.blocks) == 1:
            yield from writer.lines()
            continue
        yield f"%is_{number} = cmpi equal %block, %c{number}, signed : tile<i32> -> tile<i1>"
        yield f"if %is_{number} {{"
        yield from (f"  {line}" for line in writer.lines())
        yield "}"


def _constants(found: Program) -> Iterator[str]:
    steps = [step for block in found.blocks for step in block]
    numbers = {value for step in steps for value in step.stored if isinstance(value, int) and step.scalar}
    numbers |= {step.expected for step in steps if step.mode == "cas"}
    numbers |= {guard.value for step in steps for guard in step.guards}
    numbers |= {guard.lane for step in steps for guard in step.guards if guard.lane}
    numbers |= set(range(len(found.blocks))) if len(found.blocks) > 1 else set()
    for number in sorted(numbers):
        yield f"%c{number} = constant <i32: {number}> : tile<i32>"


class BlockText:
    """The lines of one tile block."""

    def __init__(self, steps: tuple[Step, ...], number: int, outputs: bool) -> None:
        self._steps = steps
        self._number = number
        self._outputs = outputs
        self._fresh = 0

    def lines(self) -> Iterator[str]:
        yield from self._from(0, ())

    def _from(self, begin: int, guards: tuple[Guard, ...]) -> Iterator[str]:
        """The steps from `begin` on; those with more guards stand in a region of their own."""
        for number in range(begin, len(self._steps)):
            step = self._steps[number]
            if len(step.guards) > len(guards):
                guard = step.guards[len(guards)]
                yield from self._tested(guard)
                yield f"if %go{self._fresh} {{"
                yield from (f"  {line}" for line in self._from(number, (*guards, guard)))
                yield "}"
                return
            yield from self._step(step)

    def _tested(self, guard: Guard) -> Iterator[str]:
        self._fresh += 1
        flag, step = guard.register, next(one for one in self._steps if one.register == guard.register)
        if not step.scalar:
            count = len(step.lanes)
            lane = f"%c{guard.lane}" if guard.lane else "%zero"
            if not guard.lane:
                yield "%zero = constant <i32: 0> : tile<i32>"
            yield f"%one{self._fresh} = extract %{flag}[{lane}] : tile<{count}xi32> -> tile<1xi32>"
            flag = f"flag{self._fresh}"
            yield f"%{flag} = reshape %one{self._fresh} : tile<1xi32> -> tile<i32>"
        yield f"%go{self._fresh} = cmpi equal %{flag}, %c{guard.value}, signed : tile<i32> -> tile<i1>"

    def _step(self, step: Step) -> Iterator[str]:
        pointer = f"%{step.array}"
        shape = "" if step.scalar else f"{len(step.lanes)}x"
        if step.lanes != (0,):
            yield from self._pointers(step, shape)
            pointer = f"%at{step.number}"
        yield from self._joined(step)
        yield from self._access(step, pointer, shape)
        if self._outputs and step.register:
            yield from self._kept(step, shape)

    def _pointers(self, step: Step, shape: str) -> Iterator[str]:
        lanes, at = ", ".join(map(str, step.lanes)), f"%at{step.number}"
        content = lanes if step.scalar else f"[{lanes}]"
        yield f"%lanes{step.number} = constant <i32: {content}> : tile<{shape}i32>"
        base = f"%{step.array}"
        if not step.scalar:
            yield f"%row{step.number} = reshape {base} : tile<ptr<i32>> -> tile<1xptr<i32>>"
            base = f"%all{step.number}"
            yield f"{base} = broadcast %row{step.number} : tile<1xptr<i32>> -> tile<{shape}ptr<i32>>"
        types = f"tile<{shape}ptr<i32>>, tile<{shape}i32> -> tile<{shape}ptr<i32>>"
        yield f"{at} = offset {base}, %lanes{step.number} : {types}"

    def _joined(self, step: Step) -> Iterator[str]:
        if len(step.after) > 1:
            yield f"%j{step.number} = join_tokens {', '.join(f'%t{one}' for one in step.after)} : token"

    def _access(self, step: Step, pointer: str, shape: str) -> Iterator[str]:
        token = ""
        if step.after:
            token = f" token=%j{step.number}" if len(step.after) > 1 else f" token=%t{step.after[0]}"
        how = step.ordering if step.ordering == "weak" else f"{step.ordering} {step.scope}"
        pointers, values = f"tile<{shape}ptr<i32>>", f"tile<{shape}i32>"
        mask = mask_type = ""
        if step.masked:
            yield f"%off{step.number} = constant <i1: false> : tile<{shape}i1>"
            mask, mask_type = f", %off{step.number}", f", tile<{shape}i1>"
        if step.kind == "R":
            results = f"%{step.register}, %t{step.number}"
            yield f"{results} = load_ptr_tko {how} {pointer}{token} : {pointers} -> {values}, token"
            return
        yield from self._stored(step, shape)
        value = self._value(step)
        if step.kind == "W":
            rest = f"{pointer}, {value}{mask}{token} : {pointers}, {values}{mask_type} -> token"
            yield f"%t{step.number} = store_ptr_tko {how} {rest}"
        elif step.mode == "cas":
            rest = f"{pointer}, %c{step.expected}, {value}{token} : {pointers}, {values} -> {values}, token"
            yield f"%{step.register}, %t{step.number} = atomic_cas_tko {how} {rest}"
        else:
            rest = f"{pointer}, {step.mode}, {value}{token} : {pointers}, {values} -> {values}, token"
            yield f"%{step.register}, %t{step.number} = atomic_rmw_tko {how} {rest}"

    def _stored(self, step: Step, shape: str) -> Iterator[str]:
        if not step.scalar:
            content = f"[{', '.join(map(str, step.stored))}]"
            yield f"%new{step.number} = constant <i32: {content}> : tile<{shape}i32>"

    def _value(self, step: Step) -> str:
        if not step.scalar:
            return f"%new{step.number}"
        (value,) = step.stored
        return f"%{value}" if isinstance(value, str) else f"%c{value}"

    def _kept(self, step: Step, shape: str) -> Iterator[str]:
        """Store what was read, plus one, so that a step that was not made leaves 0."""
        n = step.number
        content = slots(self._number, step)
        values = f"tile<{shape}i32>"
        one = "1" if step.scalar else f"[{', '.join('1' for _ in step.lanes)}]"
        where = str(content[0]) if step.scalar else f"[{', '.join(map(str, content))}]"
        base = "%out"
        if not step.scalar:
            yield f"%orow{n} = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>"
            base = f"%oall{n}"
            yield f"{base} = broadcast %orow{n} : tile<1xptr<i32>> -> tile<{shape}ptr<i32>>"
        yield f"%oat{n} = constant <i32: {where}> : {values}"
        yield f"%oone{n} = constant <i32: {one}> : {values}"
        yield f"%ovalue{n} = addi %{step.register}, %oone{n} : {values}"
        yield f"%oto{n} = offset {base}, %oat{n} : tile<{shape}ptr<i32>>, {values} -> tile<{shape}ptr<i32>>"
        yield f"%ot{n} = store_ptr_tko weak %oto{n}, %ovalue{n} : tile<{shape}ptr<i32>>, {values} -> token"


SLOTS = 16
"""Elements of ``out`` for each tile block."""


def slots(block: int, step: Step) -> list[int]:
    """Return the places in ``out`` for the lanes of a step."""
    return [block * SLOTS + 2 * step.number + lane for lane in range(len(step.lanes))]


def registers(found: Program) -> Iterable[tuple[int, Step]]:
    """The steps that read, with their tile block."""
    return [(block, step) for block, steps in enumerate(found.blocks) for step in steps if step.register]
