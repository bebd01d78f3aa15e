"""The function that CPython calls to launch a kernel with usual arguments, without any Python in between.

    PyObject *direct(PyObject *holder, PyObject *const *args, Py_ssize_t count, PyObject *names)

It is a built-in method (METH_FASTCALL | METH_KEYWORDS) of an object whose first slot is a tuple that begins with the
plan of the kernel (`cpu.emit.direct_record`). The arguments are the grid and those of the kernel.

Knows: which grids and keywords are usual, how the record of a launch is filled, and how its tile blocks are run on the
calling thread, without the interpreter's lock, on a free arena, and by helpers where that is worth while. Does not
know: arguments (`cpu.emit.direct_arguments`), helpers (`cpu.emit.direct_helpers`), and no error.

What is not usual, it leaves to Python before anything has been done: it calls `otherwise` of the plan with the same
arguments, or gives NotImplemented. A launch that finds no free arena, too few helpers or the ticker asleep is for
`shared`, with the record as it is; one that a trap or an interrupt has ended, or whose helpers have not, for `ended`.

It runs with the interpreter's lock but for the tile blocks, so that it alone changes the list of seats; the record is
on the stack. References are counted by CPython's own functions.
"""

from __future__ import annotations

import time

from llvmlite import ir

from tileir.cpu.emit import direct_record, record
from tileir.cpu.emit.direct_arguments import add_number, add_take
from tileir.cpu.emit.direct_code import WordFunction
from tileir.cpu.emit.direct_helpers import Helping, add_helping, add_lists, add_serve, push
from tileir.cpu.emit.direct_record import (
    BYTES_PAYLOAD,
    ENTRY,
    PLAN,
    PLAN_OF_HOLDER,
    ROW,
    ROWS,
    SEAT,
    TABLE,
    TUPLE_ITEMS,
    TUPLE_SIZE,
    TYPE,
    WORD,
)
from tileir.cpu.emit.elements import DOUBLE, I8, I32, I64
from tileir.cpu.emit.ways_out import RARE

MOST_BLOCKS = 1 << 31
"""Tile blocks of a plane of the grid, so that all can be counted."""
_MOST_THREADS = (1 << 31) - 1
_NANOSECONDS = 1e-9


def add_direct_launch(module: ir.Module) -> None:
    """Add the function, by the name `ENTRY`, to a module."""
    number = add_number(module)
    parts = (
        _add_grid(module, number),
        _add_keywords(module, number),
        add_take(module, number),
        _add_apart(module),
        _add_in_python(module),
        add_helping(module),
    )
    _add_entry(module, _Launch(module, *parts).function)
    add_lists(module)
    add_serve(module)


def _add_entry(module: ir.Module, launch: ir.Function) -> None:
    """The function itself: finds the plan, and keeps it for the time of the launch, in which any thread may make the
    object a new one."""
    code = WordFunction(module, ENTRY, 4, internal=False)
    holder, *given = code.arguments
    kept = code.read(holder, PLAN_OF_HOLDER)
    plan = code.build.add(code.read(kept, TUPLE_ITEMS), I64(BYTES_PAYLOAD))
    code.table = code.read(plan, PLAN["table"])
    code.call("Py_IncRef", kept)
    result = code.build.call(launch, [plan, *given])
    code.call("Py_DecRef", kept)
    code.finished(result)


def _add_grid(module: ir.Module, number: ir.Function) -> ir.Function:
    """``grid(table, object, most, record)``: the number of tile blocks of a grid, an integer or a tuple of them."""
    code = WordFunction(module, "grid", 4)
    code.table, given, most, filled = code.arguments
    builder = code.build
    cells, place = [code.cell() for _ in range(3)], code.cell()
    for cell in cells:
        code.write(cell, 0, I64(1))
    blocks = [code.function.append_basic_block(name) for name in ("number", "tuple", "known")]
    is_number = code.equal(code.read(given, TYPE), code.known("int"))
    builder.cbranch(is_number, *blocks[:2])
    builder.position_at_end(blocks[0])
    code.require_all(number, code.table, code.known("int"), I64(1), most, given, cells[0])
    builder.branch(blocks[2])
    builder.position_at_end(blocks[1])
    code.require_equal(code.read(given, TYPE), code.known("tuple"))
    size = code.read(given, TUPLE_SIZE)
    code.require(builder.icmp_unsigned("<", builder.sub(size, I64(1)), I64(3)))
    for axis, cell in enumerate(cells):
        with builder.if_then(builder.icmp_unsigned(">", size, I64(axis))):
            entry = code.read(given, TUPLE_ITEMS + WORD * axis)
            code.require_all(number, code.table, code.known("int"), I64(1), most, entry, place)
            code.write(cell, 0, code.read(place))
    builder.branch(blocks[2])
    builder.position_at_end(blocks[2])
    x, y, z = (code.read(cell) for cell in cells)
    for axis, extent in enumerate((x, y, z)):
        code.write(filled, record.GRID + 4 * axis, builder.trunc(extent, I32))
    plane = builder.mul(x, y)
    code.require(builder.icmp_unsigned("<", plane, I64(MOST_BLOCKS)))
    return code.finished(builder.mul(plane, z))


def _add_keywords(module: ir.Module, number: ir.Function) -> ir.Function:
    """``keywords(table, plan, values, names, place)``: the target of the plan, checks, and a number of threads, which
    goes to `place`."""
    code = WordFunction(module, "keywords", 5)
    code.table, plan, values, names, place = code.arguments
    builder = code.build
    with code.each(code.read(names, TUPLE_SIZE)) as index:
        offset = builder.mul(index, I64(WORD))
        name, value = code.read(names, builder.add(offset, I64(TUPLE_ITEMS))), code.read(values, offset)
        threads, others = code.equal(name, code.known("'threads'")), []
        for word, wanted in (("'target'", code.read(plan, PLAN["target"])), ("'check'", code.known("True"))):
            meant = builder.and_(code.equal(name, code.known(word)), code.equal(value, wanted))
            others.append(builder.and_(meant, code.differ(code.read(plan, PLAN["target"]), 0)))
        code.require(builder.or_(threads, builder.or_(*others)))
        with builder.if_then(threads):
            code.require_all(number, code.table, code.known("int"), I64(1), I64(_MOST_THREADS), value, place)
    return code.finished(I64(1))


def _add_apart(module: ir.Module) -> ir.Function:
    """``apart(record, rows, given)``: whether arrays of rows `LAYOUT` have no memory in common."""
    code = WordFunction(module, "apart", 3)
    filled, rows, given = code.arguments
    builder = code.build

    def bounds(index: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Whether it is an array, and where it begins and ends; elsewhere an empty one."""
        row = builder.add(rows, builder.mul(index, I64(WORD * ROW)))
        there = code.equal(code.read(row), direct_record.LAYOUT)
        place = builder.add(filled, builder.select(there, code.read(row, 2 * WORD), I64(0)))
        return there, code.read(place), code.read(place, WORD)

    with code.each(given) as one:
        is_array, begin, end = bounds(one)
        with code.each(one) as other:
            is_other, first, last = bounds(other)
            common = builder.and_(builder.icmp_unsigned("<", begin, last), builder.icmp_unsigned("<", first, end))
            code.require(builder.not_(builder.and_(builder.and_(is_array, is_other), common)))
    return code.finished(I64(1))


def _add_in_python(module: ir.Module) -> ir.Function:
    """``in_python(table, plan, callable, arguments, count, record, number, object)``: call a function of Python with
    the address of the record, the arguments as a tuple, the number and, if there is one, the object; gives what it
    gives.
    """
    code = WordFunction(module, "in_python", 8)
    code.table, plan, function, arguments, count, filled, number, more = code.arguments
    builder = code.build
    given, words = code.cell(), code.cell(4 * WORD)
    packed = code.read(plan, PLAN["packed"])
    with builder.if_else(code.differ(packed, 0)) as (as_they_are, one_by_one):
        with as_they_are:
            code.write(given, 0, builder.sub(arguments, I64(TUPLE_ITEMS)))
            code.call("Py_IncRef", code.read(given))
        with one_by_one:
            made = code.call("PyTuple_New", count)
            code.require(code.differ(made, 0))
            with code.each(count) as index:
                argument = code.read(arguments, builder.mul(index, I64(WORD)))
                code.call("Py_IncRef", argument)
                code.call("PyTuple_SetItem", made, index, argument, result=I32)
            code.write(given, 0, made)
    code.write(words, WORD, code.read(given))
    for place, value in ((0, filled), (2 * WORD, number)):
        code.write(words, place, code.call("PyLong_FromLongLong", value))
    code.write(words, 3 * WORD, more)
    made_all = builder.and_(code.differ(code.read(words), 0), code.differ(code.read(words, 2 * WORD), 0))
    # Two small integers that cannot be made: what little is not given back here, a process out of memory can spare.
    code.require(made_all)
    many = builder.select(code.differ(more, 0), I64(4), I64(3))
    result = code.call("PyObject_Vectorcall", function, words, many, I64(0))
    for place in range(3):
        code.call("Py_DecRef", code.read(words, WORD * place))
    return code.finished(result)


class _Launch:
    """``launch(plan, args, count, names)`` under construction."""

    def __init__(
        self,
        module: ir.Module,
        grid: ir.Function,
        keywords: ir.Function,
        take: ir.Function,
        apart: ir.Function,
        in_python: ir.Function,
        helping: Helping,
    ) -> None:
        self._code = code = WordFunction(module, "launch", 4)
        self._plan, self._args, self._nargs, self._names = code.arguments
        code.table = self._of_plan("table")
        self._grid, self._keywords, self._take, self._apart = grid, keywords, take, apart
        self._in_python, self._helping = in_python, helping
        blocks = "python", "sit", "run", "ended", "back"
        self._blocks = {name: code.function.append_basic_block(name) for name in blocks}
        self._read_arguments()
        self._fill()
        self._decide()
        self._sit()
        self._run()
        self._end()
        self._leave_to_python()
        self._give_up()
        self.function = code.closed()

    def _of_plan(self, name: str, type: ir.Type = I64) -> ir.Value:
        return self._code.read(self._plan, PLAN[name], type)

    def _read_arguments(self) -> None:
        """Find the arguments, those that came in a tuple too, and the number of threads."""
        code, builder = self._code, self._code.build
        code.require(builder.icmp_signed(">", self._nargs, I64(0)))
        threads, cells = code.cell(), [code.cell() for _ in range(2)]
        code.write(threads, 0, self._of_plan("threads"))
        with builder.if_then(code.differ(self._names, 0)):
            values = builder.add(self._args, builder.mul(self._nargs, I64(WORD)))
            code.require_all(self._keywords, code.table, self._plan, values, self._names, threads)
        self._threads = code.read(threads)
        for cell, value in zip(cells, (builder.add(self._args, I64(WORD)), builder.sub(self._nargs, I64(1)))):
            code.write(cell, 0, value)
        with builder.if_then(code.differ(self._of_plan("packed"), 0)):
            code.require_equal(self._nargs, 2)
            given = code.read(self._args, WORD)
            code.require_equal(code.read(given, TYPE), code.known("tuple"))
            code.write(cells[0], 0, builder.add(given, I64(TUPLE_ITEMS)))
            code.write(cells[1], 0, code.read(given, TUPLE_SIZE))
        self._arguments, self._count = (code.read(cell) for cell in cells)
        code.require_equal(self._count, self._of_plan("given"))

    def _fill(self) -> None:
        """Make the record, on the stack, and fill in what the kernel is given."""
        code, builder = self._code, self._code.build
        size = builder.mul(self._of_plan("words"), I64(WORD))
        memory = builder.alloca(I8, size)
        memory.align = record.LINE
        self._record = builder.ptrtoint(memory, I64)
        copy = builder.module.declare_intrinsic("llvm.memcpy", [memory.type, memory.type, I64])
        builder.call(copy, [memory, code.at(self._of_plan("template")), size, ir.IntType(1)(0)])
        self._total = builder.call(
            self._grid, [code.table, code.read(self._args), self._of_plan("extent"), self._record]
        )
        code.require(code.differ(self._total, 0))
        rows = builder.add(self._plan, I64(ROWS))
        with code.each(self._count) as index:
            row = builder.add(rows, builder.mul(index, I64(ROW * WORD)))
            argument = code.read(self._arguments, builder.mul(index, I64(WORD)))
            code.require_all(self._take, code.table, row, argument, self._record)
        with builder.if_then(builder.icmp_unsigned(">", self._of_plan("arrays"), I64(1))):
            code.require_all(self._apart, self._record, rows, self._count)
        for place in (record.LIMIT, record.CHUNK):
            code.write(self._record, place, self._total)

    def _decide(self) -> None:
        """Run it here if the ticker is awake, there is a large enough free arena, and there are helpers if those are
        worth while."""
        code, builder = self._code, self._code.build
        took = code.read(self._of_plan("seconds"), 0, DOUBLE)
        little = builder.fmul(builder.sitofp(self._total, DOUBLE), took)
        alone = builder.fcmp_ordered("<", little, self._of_plan("worth", DOUBLE))
        few = builder.select(builder.icmp_signed("<", self._total, self._threads), self._total, self._threads)
        self._helped = builder.select(alone, I64(0), builder.sub(few, I64(1)))
        self._seat = code.known("seats")
        awake = code.differ(code.read(code.known("awake")), 0)
        room, helpers = (code.function.append_basic_block(name) for name in ("room", "helpers"))
        builder.cbranch(builder.and_(awake, code.differ(self._seat, 0)), room, self._blocks["python"])
        builder.position_at_end(room)
        large = builder.icmp_unsigned(">=", code.read(self._seat, SEAT["size"]), self._of_plan("arena"))
        builder.cbranch(large, helpers, self._blocks["python"])
        builder.position_at_end(helpers)
        wanted = code.known("helpers"), self._of_plan("arena"), self._helped
        there = code.differ(builder.call(self._helping.available, wanted), 0)
        builder.cbranch(there, self._blocks["sit"], self._blocks["python"])

    def _sit(self) -> None:
        """Take the arena, say that the launch runs, and wake the helpers."""
        code, builder = self._code, self._code.build
        builder.position_at_end(self._blocks["sit"])
        self._object = code.read(self._seat, SEAT["object"])
        added = code.call("PySet_Add", code.known("running"), self._object, result=I32)
        code.require_equal(added, 0)
        code.write(code.table, TABLE["seats"], code.read(self._seat, SEAT["next"]))
        given = {"called": I64(0), "record": self._record, "helped": self._helped, "settled": I64(0)}
        for name, value in given.items():
            code.write(self._seat, SEAT[name], value)
        with builder.if_then(code.differ(self._helped, 0)):
            code.write(self._record, record.CHUNK, self._chunk())
            builder.call(self._helping.wake, [code.table, self._seat, self._record, self._of_plan("driver")])
        builder.branch(self._blocks["run"])

    def _chunk(self) -> ir.Value:
        """How many tile blocks a thread takes at a time: `record.chunk_of`."""
        builder = self._code.build
        parts = builder.mul(builder.add(self._helped, I64(1)), I64(record.CHUNKS_PER_THREAD))
        found = builder.udiv(self._total, parts)
        found = builder.select(builder.icmp_unsigned("<", found, I64(1)), I64(1), found)
        most = I64(record.LARGEST_CHUNK)
        return builder.select(builder.icmp_unsigned("<", most, found), most, found)

    def _run(self) -> None:
        """Run all tile blocks, without the lock of the interpreter, and wait for the helpers."""
        code, builder = self._code, self._code.build
        builder.position_at_end(self._blocks["run"])
        thread = code.call("PyEval_SaveThread")
        begin = self._now()
        arena = code.read(self._seat, SEAT["arena"])
        status = code.call_at(self._of_plan("driver"), self._record, arena, result=I32)
        spent = builder.fsub(self._now(), begin)
        helped = builder.call(self._helping.settle, [code.table, self._seat])
        code.call("PyEval_RestoreThread", thread)
        count = code.read(arena, record.COUNT)
        before = code.read(self._of_plan("seconds"), 0, DOUBLE)
        each = builder.fdiv(spent, builder.sitofp(count, DOUBLE))
        code.write(self._of_plan("seconds"), 0, builder.select(code.equal(count, 0), before, each))
        code.call("PySet_Discard", code.known("running"), self._object, result=I32)
        self._status = builder.sext(status, I64)
        looked = builder.or_(builder.or_(self._status, helped), code.read(self._seat, SEAT["called"]))
        builder.cbranch(code.equal(looked, 0), self._blocks["back"], self._blocks["ended"]).set_weights(RARE[::-1])

    def _now(self) -> ir.Value:
        """Seconds of the monotonic clock, which has a number of its own on each system."""
        code, builder = self._code, self._code.build
        cell = code.cell(2 * WORD)
        code.call_at(code.known("clock_gettime"), I32(time.CLOCK_MONOTONIC), cell, result=I32)
        seconds, rest = (builder.sitofp(code.read(cell, place), DOUBLE) for place in (0, WORD))
        return builder.fadd(seconds, builder.fmul(rest, DOUBLE(_NANOSECONDS)))

    def _end(self) -> None:
        """Give the arena and the helpers back; after a trap or a call Python looks first, and does that."""
        code, builder = self._code, self._code.build
        builder.position_at_end(self._blocks["back"])
        self._give_back()
        none = code.known("None")
        code.call("Py_IncRef", none)
        builder.ret(none)
        builder.position_at_end(self._blocks["ended"])
        result = self._asked("ended", self._status, self._object)
        # What a signal raises where a function begins comes before all that Python could do.
        with builder.if_then(code.equal(code.read(self._seat, SEAT["settled"]), 0)):
            builder.call(self._helping.stop, [code.table, self._seat])
            self._give_back()
        builder.ret(result)

    def _give_back(self) -> None:
        code = self._code
        code.build.call(self._helping.dismiss, [code.table, self._seat])
        push(code, code.build.add(code.table, I64(TABLE["seats"])), self._seat)

    def _leave_to_python(self) -> None:
        self._code.build.position_at_end(self._blocks["python"])
        self._code.build.ret(self._asked("shared", self._threads, I64(0)))

    def _asked(self, name: str, number: ir.Value, more: ir.Value) -> ir.Value:
        function, place = self._of_plan(name), (self._arguments, self._count, self._record)
        given = [self._code.table, self._plan, function, *place, number, more]
        return self._code.build.call(self._in_python, given)

    def _give_up(self) -> None:
        """Leave it all to Python, without an error that may have come of looking."""
        code, builder = self._code, self._code.build
        builder.position_at_end(code.given_up)
        code.call("PyErr_Clear")
        otherwise = self._of_plan("otherwise")
        with builder.if_then(code.differ(otherwise, 0)):
            given = self._args, self._nargs, self._names
            builder.ret(code.call("PyObject_Vectorcall", otherwise, *given))
        unusual = code.known("NotImplemented")
        code.call("Py_IncRef", unusual)
        builder.ret(unusual)
