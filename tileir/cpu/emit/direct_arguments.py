"""Native code that looks at one argument of a launch, and writes what the kernel is given into the record.

Knows: which arguments are usual: integers and floats of Python and NumPy that fit, NumPy arrays that are writable, not
empty and do not run backwards, torch tensors likewise on the CPU, or with just the looks that a plan names. Does not
know: any other argument, and no error: it gives up. Nothing is remembered of an argument, and none is kept.

    i64 number(table, type, least, most, object, place)     an exact integer, or truth value, in a range
    i64 take(table, row, object, record)                     an argument; 1 if it is as its row wants it
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.direct_code import WordFunction
from tileir.cpu.emit.direct_record import (
    ALIGNMENT,
    ARRAY,
    ARRAY_DATA,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_RANK,
    ARRAY_SHAPE,
    ARRAY_STRIDES,
    CONSTANT,
    CPU_DEVICE,
    DOUBLE,
    INTEGER,
    LAYOUT,
    SINGLE,
    TENSOR_CODE,
    TENSOR_DATA,
    TENSOR_DEVICE,
    TENSOR_OFFSET,
    TENSOR_RANK,
    TENSOR_SHAPE,
    TENSOR_SIZE,
    TENSOR_STRIDES,
    TYPE,
    WARNS,
    WORD,
    WRITABLE,
)
from tileir.cpu.emit.elements import DOUBLE as F64
from tileir.cpu.emit.elements import FLOAT, I32, I64

_BY_OFFSET = -(1 << 63)
"""Tells a function that is given arguments of a call that it may use the word in front of them."""
_EQUAL = 2


def add_number(module: ir.Module) -> ir.Function:
    code = WordFunction(module, "number", 6)
    code.table, kind, least, most, given, place = code.arguments
    code.require_equal(code.read(given, TYPE), kind)
    overflow = code.cell()
    value = code.call("PyLong_AsLongLongAndOverflow", given, overflow)
    code.require_equal(code.read(overflow, 0, I32), 0)
    code.require(code.build.icmp_signed(">=", value, least))
    code.require(code.build.icmp_signed("<=", value, most))
    code.write(place, 0, value)
    return code.finished(I64(1))


def add_take(module: ir.Module, number: ir.Function) -> ir.Function:
    """`take`; `number` is the function of that name."""
    array, array_layout = _add_array(module), _add_array_layout(module)
    tensor, tensor_layout = _add_tensor(module), _add_tensor_layout(module)
    code = WordFunction(module, "take", 4)
    code.table, row, _, _ = code.arguments
    names = {kind: name for name, kind in _ROWS.items()}
    blocks = {kind: code.function.append_basic_block(name) for kind, name in names.items()}
    taken = code.function.append_basic_block("taken")
    code.choose(code.read(row), blocks)
    for kind, block in blocks.items():
        code.build.position_at_end(block)
        if kind in (INTEGER, CONSTANT):
            _take_integer(code, row, number, kind is CONSTANT)
        elif kind in (SINGLE, DOUBLE):
            _take_float(code, row, kind is SINGLE)
        else:
            functions = (array, tensor) if kind is ARRAY else (array_layout, tensor_layout)
            _take_memory(code, *functions)
        code.build.branch(taken)
    code.build.position_at_end(taken)
    return code.finished(I64(1))


_ROWS = {"integer": INTEGER, "single": SINGLE, "double": DOUBLE, "constant": CONSTANT, "array": ARRAY, "layout": LAYOUT}


def _take_integer(code: WordFunction, row: ir.Value, number: ir.Function, constant: bool) -> None:
    table, _, given, record = code.arguments
    place = code.cell()
    least = code.read(row, 4 * WORD)
    most = least if constant else code.read(row, 5 * WORD)
    looked = table, code.read(row, 3 * WORD), least, most
    if constant:
        code.require_all(number, *looked, given, place)
        return
    with code.build.if_else(_is_of_numpy(code, row, "integer")) as (of_numpy, of_python):
        with of_numpy:
            made = code.call("PyNumber_Index", given)
            code.require(code.differ(made, 0))
            fits = code.build.call(number, [*looked, made, place])
            code.call("Py_DecRef", made)
            code.require(code.differ(fits, 0))
        with of_python:
            code.require_all(number, *looked, given, place)
    value = code.build.and_(code.read(place), code.read(row, 6 * WORD))
    code.write(record, code.read(row, WORD), value)


def _is_of_numpy(code: WordFunction, row: ir.Value, kind: str) -> ir.Value:
    """Whether the argument is a number of NumPy of a kind, and the row takes them."""
    found = code.cell()
    code.write(found, 0, code.read(row, 2 * WORD))
    with code.build.if_then(code.differ(code.read(found), 0)):
        type = code.read(code.arguments[2], TYPE)
        subtype = code.call("PyType_IsSubtype", type, code.known(kind), result=I32)
        code.write(found, 0, code.build.zext(subtype, I64))
    return code.differ(code.read(found), 0)


def _take_float(code: WordFunction, row: ir.Value, single: bool) -> None:
    """A float that is a number, and becomes no infinity when it is rounded."""
    _, _, given, record = code.arguments
    builder = code.build
    is_float = code.equal(code.read(given, TYPE), code.known("float"))
    code.require(builder.or_(is_float, _is_of_numpy(code, row, "floating")))
    value = code.call("PyFloat_AsDouble", given, result=F64)
    code.require(builder.fcmp_ordered("ord", value, value))
    bits = builder.bitcast(value, I64)
    if single:
        rounded = builder.fptrunc(value, FLOAT)
        kept = builder.or_(_is_finite(builder, rounded), builder.not_(_is_finite(builder, value)))
        code.require(kept)
        bits = builder.zext(builder.bitcast(rounded, I32), I64)
    code.write(record, code.read(row, WORD), bits)


def _is_finite(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Whether a number is no infinity."""
    infinities = [value.type(sign * float("inf")) for sign in (1, -1)]
    one, other = (builder.fcmp_ordered("!=", value, infinity) for infinity in infinities)
    return builder.and_(one, other)


def _take_memory(code: WordFunction, array: ir.Function, tensor: ir.Function) -> None:
    """An array by one function, or else a tensor by the other, of which both give up for a null pointer's type."""
    _, _, given, _ = code.arguments
    builder = code.build
    kind = code.read(given, TYPE)
    blocks = [code.function.append_basic_block(name) for name in ("of_numpy", "of_torch", "memory")]
    builder.cbranch(code.equal(kind, code.known("ndarray")), *blocks[:2])
    for function, block in zip((array, tensor), blocks):
        builder.position_at_end(block)
        if function is tensor:
            code.require_equal(kind, code.known("tensor"))
        code.require_all(function, *code.arguments)
        builder.branch(blocks[2])
    builder.position_at_end(blocks[2])


# ---------------------------------------------------------------- memory


def _put(code: WordFunction, begin: ir.Value, size: ir.Value) -> None:
    """Write the address of memory, and its bounds, into the record."""
    _, row, _, record = code.arguments
    end = code.build.add(begin, size)
    code.write(record, code.read(row, WORD), begin)
    bounds = code.build.add(record, code.read(row, 2 * WORD))
    for number, word in enumerate((begin, end, end)):
        code.write(bounds, WORD * number, word)


def _add_array(module: ir.Module) -> ir.Function:
    """A NumPy array for a row `ARRAY`."""
    code = WordFunction(module, "array", 4)
    code.table, row, given, _ = code.arguments
    _require_writable(code)
    _require_dtype(code, code.read(row, 4 * WORD))
    rank = code.build.zext(code.read(given, ARRAY_RANK, I32), I64)
    places = code.read(given, ARRAY_SHAPE), code.read(given, ARRAY_STRIDES)
    size = code.build.add(_reach(code, rank, *places), code.read(row, 5 * WORD))
    _put(code, code.read(given, ARRAY_DATA), size)
    return code.finished(I64(1))


def _reach(code: WordFunction, rank: ir.Value, shape: ir.Value, strides: ir.Value) -> ir.Value:
    """From the first to the last element of memory, in units of strides; it is not empty, nor does it run backwards."""
    builder, reach = code.build, code.cell()
    code.write(reach, 0, I64(0))
    with code.each(rank) as axis:
        place = builder.mul(axis, I64(WORD))
        extent, stride = code.read(shape, place), code.read(strides, place)
        code.require(builder.icmp_signed(">", extent, I64(0)))
        code.require(builder.icmp_signed(">=", stride, I64(0)))
        moved = builder.mul(builder.sub(extent, I64(1)), stride)
        code.write(reach, 0, builder.add(code.read(reach), moved))
    return code.read(reach)


def _require_writable(code: WordFunction) -> None:
    flags = code.read(code.arguments[2], ARRAY_FLAGS, I32)
    code.require_equal(code.build.and_(flags, I32(WRITABLE | WARNS)), WRITABLE)


def _require_dtype(code: WordFunction, dtypes: ir.Value | None) -> None:
    """That of the row, the same object or, of these others, an equal one; of the row likewise if there are none."""
    _, row, given, _ = code.arguments
    builder = code.build
    dtype, wanted = code.read(given, ARRAY_DTYPE), code.read(row, 3 * WORD)
    with builder.if_then(code.differ(dtype, wanted)):
        if dtypes is None:
            found = code.call("PyObject_RichCompareBool", dtype, wanted, I32(_EQUAL), result=I32)
        else:
            found = code.call("PySequence_Contains", dtypes, dtype, result=I32)
        code.require_equal(found, 1)


def _add_array_layout(module: ir.Module) -> ir.Function:
    """A NumPy array for a row `LAYOUT`."""
    code = WordFunction(module, "array_layout", 4)
    code.table, row, given, _ = code.arguments
    code.require(code.differ(code.read(row, 3 * WORD), 0))
    _require_writable(code)
    _require_dtype(code, None)
    rank = code.build.zext(code.read(given, ARRAY_RANK, I32), I64)
    shape, strides = code.read(given, ARRAY_SHAPE), code.read(given, ARRAY_STRIDES)
    _require_layout(code, rank, shape, strides)
    _put_aligned(code, code.read(given, ARRAY_DATA))
    return code.finished(I64(1))


def _require_layout(code: WordFunction, rank: ir.Value, shape: ir.Value, strides: ir.Value) -> None:
    """Just the extents and strides of the row."""
    row, builder = code.arguments[1], code.build
    code.require_equal(rank, code.read(row, 5 * WORD))
    extents = code.read(row, 6 * WORD)
    with code.each(rank) as axis:
        place = builder.mul(axis, I64(WORD))
        code.require_equal(code.read(shape, place), code.read(extents, place))
        after = builder.add(place, builder.mul(rank, I64(WORD)))
        code.require_equal(code.read(strides, place), code.read(extents, after))


def _put_aligned(code: WordFunction, begin: ir.Value) -> None:
    row, builder = code.arguments[1], code.build
    aligned = code.equal(builder.and_(begin, I64(ALIGNMENT - 1)), 0)
    code.require_equal(builder.zext(aligned, I64), code.read(row, 8 * WORD))
    _put(code, begin, code.read(row, 7 * WORD))


# ---------------------------------------------------------------- tensors


def _add_tensor(module: ir.Module) -> ir.Function:
    """A torch tensor for a row `ARRAY`."""
    code = WordFunction(module, "tensor", 4)
    code.table, row, _, _ = code.arguments
    builder = code.build
    seen = _described(code)
    kind = code.read(seen, TENSOR_CODE, I32)
    codes = [code.read(row, 6 * WORD + 4 * number, I32) for number in range(4)]
    first, *others = (code.equal(kind, accepted) for accepted in codes)
    for other in others:
        first = builder.or_(first, other)
    code.require(first)
    _put(code, _begin(code, seen), _size(code, seen, code.read(row, 5 * WORD)))
    _require_false(code, code.call("PyObject_GetAttr", code.arguments[2], code.known("'requires_grad'")))
    _require_not_negated(code)
    return code.finished(I64(1))


def _described(code: WordFunction) -> ir.Value:
    """What DLPack says of a tensor in the memory of this process."""
    seen = code.cell(TENSOR_SIZE)
    described = code.call_at(code.known("to_dlpack"), code.arguments[2], seen, result=I32)
    code.require_equal(described, 0)
    code.require_equal(code.read(seen, TENSOR_DEVICE, I32), CPU_DEVICE)
    code.require(code.differ(code.read(seen, TENSOR_STRIDES), 0))
    return seen


def _begin(code: WordFunction, seen: ir.Value) -> ir.Value:
    return code.build.add(code.read(seen, TENSOR_DATA), code.read(seen, TENSOR_OFFSET))


def _size(code: WordFunction, seen: ir.Value, itemsize: ir.Value) -> ir.Value:
    """The bytes of a tensor."""
    rank = code.build.zext(code.read(seen, TENSOR_RANK, I32), I64)
    reach = _reach(code, rank, code.read(seen, TENSOR_SHAPE), code.read(seen, TENSOR_STRIDES))
    return code.build.mul(code.build.add(reach, I64(1)), itemsize)


def _require_false(code: WordFunction, answer: ir.Value) -> None:
    """What was asked must have been answered, and with False, which is not kept."""
    code.require(code.differ(answer, 0))
    code.call("Py_DecRef", answer)
    code.require_equal(answer, code.known("False"))


def _require_not_negated(code: WordFunction) -> None:
    """A tensor must not be one whose elements have the other sign than those in memory."""
    asked = code.cell(2 * WORD)
    code.write(asked, WORD, code.arguments[2])
    given = code.build.add(asked, I64(WORD))
    answer = code.call("PyObject_VectorcallMethod", code.known("'is_neg'"), given, I64(_BY_OFFSET + 1), I64(0))
    _require_false(code, answer)


def _add_tensor_layout(module: ir.Module) -> ir.Function:
    """A torch tensor for a row `LAYOUT`."""
    code = WordFunction(module, "tensor_layout", 4)
    code.table, row, _, _ = code.arguments
    code.require_equal(code.read(row, 3 * WORD), 0)
    seen = _described(code)
    kind = code.build.zext(code.read(seen, TENSOR_CODE, I32), I64)
    code.require_equal(kind, code.read(row, 4 * WORD))
    rank = code.build.zext(code.read(seen, TENSOR_RANK, I32), I64)
    _require_layout(code, rank, code.read(seen, TENSOR_SHAPE), code.read(seen, TENSOR_STRIDES))
    _put_aligned(code, _begin(code, seen))
    _require_not_negated(code)
    return code.finished(I64(1))
