"""The memory that Python and the direct launcher share: what it knows of CPython, of a kernel, and of a free arena.

Knows: what lies where. Does not know: who fills it (`cpu.run.direct`), what is done with it (`cpu.emit.direct_launch`).

All are words of 8 bytes; objects are their addresses, kept alive by who has made the table or the plan.

The table, one for a process: the addresses of the functions and the objects of `TABLE`, by name.

The plan of a kernel, the payload of a ``bytes`` object: `PLAN` by name, then a row of `ROW` words for each argument:

    INTEGER    slot, numpy, type, least, most, mask                 `type` is that of Python; `numpy`: integers of NumPy
                                                                    are taken, too
    SINGLE     slot, numpy                                          a float, rounded to f32; DOUBLE likewise
    CONSTANT   -, -, type, value                                    of type int or bool; passes nothing
    ARRAY      slot, bounds, dtype, dtypes, itemsize, codes, codes  `codes` are DLPack's, four of 32 bits
    LAYOUT     slot, bounds, dtype, code, rank, extents, reach, aligned
                                                                    with just this shape and strides, whose address is
                                                                    (1) or is not (0) divisible by `ALIGNMENT`; `dtype`
                                                                    is 0 for a tensor
    UNUSUAL                                                         no argument at all

`slot` and `bounds` are places in the record of a launch (`cpu.emit.record`), in bytes.
"""

from __future__ import annotations

ENTRY = "tileir.direct"
"""The function that Python calls."""
SERVE, PUSH, POP = "tileir.serve", "tileir.push", "tileir.pop"
"""The functions of helpers, and of the lists of free seats (`cpu.emit.direct_helpers`)."""
WORD = 8
FUNCTIONS = (
    *("PyLong_AsLongLongAndOverflow", "PyFloat_AsDouble", "PySequence_Contains", "PyObject_RichCompareBool"),
    *("PyObject_GetAttr", "PyObject_VectorcallMethod", "PyObject_Vectorcall", "PyTuple_New", "PyTuple_SetItem"),
    *("PyLong_FromLongLong", "PySet_Add", "PySet_Discard", "PyEval_SaveThread", "PyEval_RestoreThread"),
    *("PyErr_Clear", "Py_IncRef", "Py_DecRef", "PyNumber_Index", "PyType_IsSubtype"),
)
"""Functions of CPython: all are of its stable interface but those that call, which are of the public one."""
OBJECTS = (
    *("int", "float", "tuple", "ndarray", "integer", "floating", "True", "False", "None", "NotImplemented"),
    *("'target'", "'check'", "'threads'", "'requires_grad'", "'is_neg'", "running"),
)
"""`running` is the set of the launches that run (`host.running`)."""
CLOCK, SEMAPHORES = "clock_gettime", ("sem_wait", "sem_timedwait", "sem_post")
"""Functions of the system; it need not have semaphores, without which there are no helpers."""
STATE = CLOCK, *SEMAPHORES, "awake", "seats", "helpers", "tensor", "to_dlpack"
"""These functions; the address of the word that says whether the ticker is awake; the first free seat, and that of a
helper; torch's class of tensors, and the function that describes one for DLPack, 0 as long as none has come."""
TABLE = {name: WORD * index for index, name in enumerate((*FUNCTIONS, *OBJECTS, *STATE))}

_PLAN = (
    *("table", "given", "words", "template", "arena", "driver", "seconds", "worth", "threads", "otherwise"),
    *("shared", "ended", "target", "packed", "arrays", "extent"),
)
PLAN = {name: WORD * index for index, name in enumerate(_PLAN)}
"""`given`: how many arguments; `words` of the record, which begins as `template`; `arena`: bytes that the kernel needs;
`seconds`: where it stands what a tile block took; `worth`: seconds of work from which on others help (f64);
`otherwise`, `shared`, `ended`: what is called for arguments that are not usual, for launches that Python has to run,
and after one that has to be looked at; `target`: the word for it, 0 if there are no keywords; `packed`: arguments come
in a tuple; `arrays`: how many must have no memory in common; `extent`: tile blocks along an axis, at most."""
ROWS = WORD * len(_PLAN)
ROW = 9
KINDS = UNUSUAL, INTEGER, SINGLE, DOUBLE, CONSTANT, ARRAY, LAYOUT = range(7)
ALIGNMENT = 16

_SEAT = (
    *("next", "arena", "size", "object", "called", "record", "helped", "helpers", "settled"),
    *("driver", "state", "status", "wake", "ended"),
)
SEAT = {name: WORD * index for index, name in enumerate(_SEAT)}
"""A free arena: the next seat, the arena and its size, the object that is asked to look up, and whether it has been;
the record of the launch that runs on it; how many helpers this has, and the first of them; whether Python has given all
back. Of a helper also: the driver that it runs; its state, and the status with which it has ended; two semaphores, on
which it sleeps, and who waits until it has ended."""
IDLE, POSTED, AT_WORK, AWAITED, DONE, GONE = range(6)
"""States of a helper: it has nothing to do; a record is posted; it runs tile blocks; somebody sleeps until it has
ended; it has; its thread is to end."""

TYPE, TUPLE_SIZE, TUPLE_ITEMS, BYTES_PAYLOAD, PLAN_OF_HOLDER = 8, 16, 24, 32, 16
"""Places in CPython's objects, as its macros read them: the type, the items of a tuple, the payload of ``bytes``, and
the first slot of an object."""
ARRAY_DATA, ARRAY_RANK, ARRAY_SHAPE, ARRAY_STRIDES, ARRAY_DTYPE, ARRAY_FLAGS = 16, 24, 32, 40, 56, 64
"""Places in a NumPy array, likewise."""
WRITABLE, WARNS = 0x400, 1 << 31
"""Flags of a NumPy array; of one that warns when it is written, the warning is Python's to give."""
TENSOR_DATA, TENSOR_DEVICE, TENSOR_RANK, TENSOR_CODE, TENSOR_SHAPE, TENSOR_STRIDES, TENSOR_OFFSET, TENSOR_SIZE = (
    *(0, 8, 16, 20, 24, 32, 40, 48),
)
"""Places in what DLPack says of a tensor."""
CPU_DEVICE = 1
