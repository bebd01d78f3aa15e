/* Short launches of native code, without Python's price for each argument.

A Launcher belongs to one kernel. Called with a grid and arguments of the usual kinds (contiguous arrays and tensors,
numbers that fit, or bound ones), it writes them into the record of the launch (`tileir.cpu.emit.record`), runs the
native code on this thread and returns True. It returns False, and has done nothing, for anything else, for work that is
worth several threads, and while it is at work already: then `tileir.runtime.native` launches, which also says what is
wrong. Only the limited interface of CPython is used, and arrays and tensors are asked by the names of their attributes.
*/

#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <float.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { LIMIT = 64, CHUNK = 128, FUEL = 136, GRID = 144, SLOTS = 232 };

/* Python objects of a Launcher: types and torch.strided, what a launch uses, what is called where one went wrong. */
enum { ARRAY, TENSOR, STRIDED, BOUND, LAUNCH, ANSWER, ARENAS, TICKER, RUNNING, ENDED, HELD };

/* Attributes by name, as strings that live as long as the process: a lookup with a new string is slow. */
#define FOR_EACH_NAME(X)                                                                                     \
    X(dtype) X(layout) X(is_cpu) X(is_contiguous) X(requires_grad) X(is_neg) X(data_ptr) X(nbytes) X(size)   \
    X(address) X(total) X(raised) X(answer) X(main) X(awake) X(wake) X(warnings) X(usable) X(free)    \
    X(untyped_storage) X(is_nested)
#define AS_CONSTANT(name) A_##name,
#define AS_TEXT(name) #name,
enum { FOR_EACH_NAME(AS_CONSTANT) NAMES };
static const char *const spelling[NAMES] = {FOR_EACH_NAME(AS_TEXT)};
static PyObject *names[NAMES];

enum { MAX_EXTENT = (1 << 24) - 1, KEPT = 8 /* free arenas of a thread */ };
static const uint64_t SELDOM = (uint64_t)1 << 40; /* tensors below may have lost their storage */

typedef struct {
    char kind; /* 'p' pointer, 's' pointer into a whole storage, 'i' integer, 'f' f32, 'x' other number */
    Py_ssize_t bounds;
    long long lowest;
    unsigned long long mask;
    PyObject *dtypes;
} Parameter;

typedef struct {
    PyObject_HEAD
    Py_ssize_t count;
    Parameter *parameters;
    unsigned char *record;
    int32_t (*driver)(void *, void *);
    int64_t fuel;
    Py_ssize_t arena_size;
    double *seconds, *worth; /* of a tile block in the last launch; of work that deserves several threads */
    int busy;
    PyObject *given; /* what it was made from, which owns all objects below and those of the parameters */
    PyObject *held[HELD];
} Launcher;

static void put(Launcher *self, Py_ssize_t slot, uint64_t word) {
    memcpy(self->record + SLOTS + 8 * slot, &word, 8);
}

/* The value of an attribute or, with `call`, of a method. */
static PyObject *ask(PyObject *value, int name, int call) {
    return call ? PyObject_CallMethodObjArgs(value, names[name], NULL) : PyObject_GetAttr(value, names[name]);
}

/* -1 with an error. */
static int is_true(PyObject *value, int name, int call) {
    PyObject *found = ask(value, name, call);
    Py_XDECREF(found);
    return found == NULL ? -1 : found == Py_True;
}

static uint64_t number_of(PyObject *value, int name, int call) {
    PyObject *found = ask(value, name, call);
    uint64_t number = found == NULL ? 0 : PyLong_AsUnsignedLongLong(found);
    Py_XDECREF(found);
    return number;
}

/* Whether the element type is one that the parameter takes; -1 with an error. */
static int takes(Parameter *parameter, PyObject *value) {
    PyObject *dtype = PyObject_GetAttr(value, names[A_dtype]);
    int found = dtype == NULL ? -1 : PySet_Contains(parameter->dtypes, dtype);
    Py_XDECREF(dtype);
    return found;
}

/* Put an address of memory that the code may use from `begin` on. */
static int put_address(Launcher *self, Py_ssize_t slot, Parameter *parameter, uint64_t address, uint64_t begin,
                       uint64_t size) {
    put(self, slot, address);
    put(self, parameter->bounds, begin);
    for (Py_ssize_t word = 1; word < 4; word++)
        put(self, parameter->bounds + word, begin + size);
    return 1;
}

/* Put an array, or a tensor whose elements lie side by side and may be written. */
static int put_pointer(Launcher *self, Py_ssize_t slot, Parameter *parameter, PyObject *value) {
    uint64_t begin = 0, size = 0;
    if ((PyObject *)Py_TYPE(value) == self->held[ARRAY]) {
        Py_buffer view;
        if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE | PyBUF_WRITABLE) < 0)
            return 0;
        begin = (uint64_t)(uintptr_t)view.buf;
        size = (uint64_t)view.len;
        PyBuffer_Release(&view);
    } else if ((PyObject *)Py_TYPE(value) == self->held[TENSOR]) {
        PyObject *layout = PyObject_GetAttr(value, names[A_layout]);
        int strided = layout == self->held[STRIDED];
        Py_XDECREF(layout);
        if (!strided || is_true(value, A_is_cpu, 0) != 1 || is_true(value, A_is_contiguous, 1) != 1 ||
            is_true(value, A_requires_grad, 0) || is_true(value, A_is_neg, 1) || is_true(value, A_is_nested, 0))
            return 0;
        begin = number_of(value, A_data_ptr, 1);
        size = begin < SELDOM ? 0 : number_of(value, A_nbytes, 0);
    }
    if (size == 0 || PyErr_Occurred() || takes(parameter, value) != 1)
        return 0;
    return put_address(self, slot, parameter, begin, begin, size);
}

/* Put the place of a tensor in its storage, all of which may be used. */
static int put_in_storage(Launcher *self, Py_ssize_t slot, Parameter *parameter, PyObject *value) {
    if ((PyObject *)Py_TYPE(value) != self->held[TENSOR] || is_true(value, A_is_cpu, 0) != 1)
        return 0;
    PyObject *storage = is_true(value, A_is_neg, 1) ? NULL : ask(value, A_untyped_storage, 1);
    if (storage == NULL)
        return 0;
    uint64_t address = number_of(value, A_data_ptr, 1);
    uint64_t begin = number_of(storage, A_data_ptr, 1), size = number_of(storage, A_nbytes, 1);
    Py_DECREF(storage);
    if (PyErr_Occurred() || begin < SELDOM || address - begin >= size)
        return 0;
    return put_address(self, slot, parameter, address, begin, size);
}

static int put_integer(Launcher *self, Py_ssize_t slot, Parameter *parameter, PyObject *value) {
    int overflow = 0;
    if (!PyLong_CheckExact(value))
        return 0;
    int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow || number < parameter->lowest || number > ~parameter->lowest)
        return 0;
    put(self, slot, (uint64_t)number & parameter->mask);
    return 1;
}

/* Whether this thread rounds to nearest and keeps subnormal numbers. */
static int converts_as_usual(void) {
    static volatile const double above_half = 1 + 0x1.8p-24, below_half = 1 + 0x1p-25, subnormal = 0x1p-140;
    return (float)above_half > 1 && (float)below_half == 1 && (float)subnormal > 0;
}

static int put_float(Launcher *self, Py_ssize_t slot, Parameter *parameter, PyObject *value) {
    double number = parameter->kind == 'f' && PyFloat_CheckExact(value) ? PyFloat_AsDouble(value) : DBL_MAX;
    if (!(-FLT_MAX <= number && number <= FLT_MAX) || !converts_as_usual())
        return 0;
    float rounded = (float)number;
    uint32_t word;
    memcpy(&word, &rounded, sizeof word);
    put(self, slot, word);
    return 1;
}

/* Put an `Argument`: a named tuple whose second item is a word, and the third of a pointer's its bounds. */
static int put_bound(Launcher *self, Py_ssize_t slot, Parameter *parameter, PyObject *value) {
    uint64_t words[4];
    PyObject *bounds = PyTuple_GetItem(value, 2), *reaches = PyTuple_GetItem(value, PyTuple_Size(value) - 1);
    put(self, slot, PyLong_AsUnsignedLongLong(PyTuple_GetItem(value, 1)));
    if (parameter->kind != 'p' && parameter->kind != 's')
        return !PyErr_Occurred();
    if (!PyTuple_Check(bounds) || PyTuple_Size(bounds) != 4 || PyTuple_Size(reaches) != 0)
        return 0;
    for (Py_ssize_t word = 0; word < 4; word++) {
        words[word] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(bounds, word));
        put(self, parameter->bounds + word, words[word]);
    }
    return words[1] == words[3] && !PyErr_Occurred(); /* else the array has gaps */
}

static int put_arguments(Launcher *self, PyObject *arguments) {
    if (PyTuple_Size(arguments) != self->count)
        return 0;
    for (Py_ssize_t slot = 0; slot < self->count; slot++) {
        Parameter *parameter = &self->parameters[slot];
        PyObject *value = PyTuple_GetItem(arguments, slot);
        int bound = PySet_Contains(self->held[BOUND], (PyObject *)Py_TYPE(value)) == 1;
        int fits = bound                    ? put_bound(self, slot, parameter, value)
                   : parameter->kind == 'p' ? put_pointer(self, slot, parameter, value)
                   : parameter->kind == 's' ? put_in_storage(self, slot, parameter, value)
                   : parameter->kind == 'i' ? put_integer(self, slot, parameter, value)
                                            : put_float(self, slot, parameter, value);
        if (!fits) {
            PyErr_Clear();
            return 0;
        }
    }
    return 1;
}

/* Write the grid; the number of its tile blocks, or 0. */
static int64_t put_grid(Launcher *self, PyObject *grid) {
    uint32_t extents[3] = {1, 1, 1};
    int64_t total = 1;
    Py_ssize_t axes = PyTuple_CheckExact(grid) ? PyTuple_Size(grid) : 1;
    if (axes < 1 || axes > 3)
        return 0;
    for (Py_ssize_t axis = 0; axis < axes; axis++) {
        int overflow = 0;
        PyObject *extent = PyTuple_CheckExact(grid) ? PyTuple_GetItem(grid, axis) : grid;
        int64_t number = PyLong_CheckExact(extent) ? PyLong_AsLongLongAndOverflow(extent, &overflow) : 0;
        if (overflow || number < 1 || number > MAX_EXTENT || total > ((int64_t)1 << 62) / number)
            return 0;
        extents[axis] = (uint32_t)number;
        total *= number;
    }
    memcpy(self->record + GRID, extents, sizeof extents);
    return total;
}

/* Take the last free arena of this thread; NULL without an error if it is too small or there is none. */
static PyObject *take_arena(Launcher *self, PyObject *free) {
    Py_ssize_t last = free == NULL ? 0 : PyList_Size(free);
    if (last < 1)
        return NULL;
    PyObject *arena = Py_NewRef(PyList_GetItem(free, last - 1));
    if (number_of(arena, A_size, 0) < (uint64_t)self->arena_size || PyList_SetSlice(free, last - 1, last, NULL) < 0)
        Py_CLEAR(arena);
    return arena;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int begin(Launcher *self, PyObject *arena, int64_t total) {
    PyObject *launch = self->held[LAUNCH], *count = PyLong_FromLongLong(total), *woken = NULL;
    int begun = count != NULL && PyObject_SetAttr(launch, names[A_total], count) == 0 &&
                PyObject_SetAttr(arena, names[A_raised], Py_None) == 0 &&
                PyObject_SetAttr(arena, names[A_answer], self->held[ANSWER]) == 0 &&
                PyObject_SetAttr(launch, names[A_main], arena) == 0 && PySet_Add(self->held[RUNNING], launch) == 0;
    if (begun && is_true(self->held[TICKER], A_awake, 0) == 0)
        begun = (woken = ask(self->held[TICKER], A_wake, 1)) != NULL;
    Py_XDECREF(woken);
    Py_XDECREF(count);
    return begun;
}

/* Whether nothing is left to be said of a launch that ended with this status. */
static int is_clean(Launcher *self, PyObject *arena, int32_t status) {
    PyObject *raised = PyObject_GetAttr(arena, names[A_raised]);
    PyObject *warnings = PyObject_GetAttr(self->held[LAUNCH], names[A_warnings]);
    int warned = warnings == NULL || PyObject_IsTrue(warnings) != 0;
    int clean = status == 0 && raised == Py_None && !warned && is_true(arena, A_usable, 0) == 1;
    Py_XDECREF(raised);
    Py_XDECREF(warnings);
    return clean;
}

/* Run the tile blocks on an arena. -1 with an error. */
static int run(Launcher *self, PyObject *free, PyObject *arena, int64_t total, PyObject *grid, PyObject *arguments) {
    unsigned char *address = (unsigned char *)(uintptr_t)number_of(arena, A_address, 0);
    memset(self->record, 0, 8);
    memcpy(self->record + LIMIT, &total, 8);
    memcpy(self->record + CHUNK, &total, 8);
    memcpy(self->record + FUEL, &self->fuel, 8);
    int32_t status = 0;
    int begun = begin(self, arena, total);
    if (begun) {
        Py_BEGIN_ALLOW_THREADS
        double start = now();
        status = self->driver(self->record, address);
        *self->seconds = (now() - start) / (double)total;
        Py_END_ALLOW_THREADS
    }
    if (PySet_Discard(self->held[RUNNING], self->held[LAUNCH]) < 0 ||
        PyObject_SetAttr(self->held[LAUNCH], names[A_main], Py_None) < 0 || !begun)
        return -1;
    if (is_clean(self, arena, status))
        return PyList_Size(free) < KEPT ? PyList_Append(free, arena) : 0;
    PyErr_Clear();
    PyObject *done = PyObject_CallFunction(self->held[ENDED], "iOOO", (int)status, arena, grid, arguments);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static PyObject *launcher_call(PyObject *object, PyObject *given, PyObject *Py_UNUSED(keywords)) {
    Launcher *self = (Launcher *)object;
    PyObject *grid, *arguments;
    if (!PyArg_ParseTuple(given, "OO", &grid, &arguments))
        return NULL;
    if (self->busy || !PyTuple_CheckExact(arguments))
        return Py_NewRef(Py_False);
    self->busy = 1;
    int ran = 0;
    int64_t total = put_grid(self, grid);
    if (total > 0 && (total == 1 || (double)total * *self->seconds < *self->worth) && put_arguments(self, arguments)) {
        PyObject *free = PyObject_GetAttr(self->held[ARENAS], names[A_free]);
        PyObject *arena = take_arena(self, free);
        if (arena != NULL)
            ran = run(self, free, arena, total, grid, arguments) < 0 ? -1 : 1;
        else
            PyErr_Clear();
        Py_XDECREF(arena);
        Py_XDECREF(free);
    }
    self->busy = 0;
    return ran < 0 ? NULL : Py_NewRef(ran ? Py_True : Py_False);
}

static int set_parameters(Launcher *self, PyObject *parameters) {
    Py_ssize_t count = PyTuple_Size(parameters);
    self->parameters = PyMem_Calloc((size_t)count + 1, sizeof *self->parameters);
    if (self->parameters == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Parameter *one = self->parameters; self->count < count; self->count++, one++)
        if (!PyArg_ParseTuple(PyTuple_GetItem(parameters, self->count), "cnLKO", &one->kind, &one->bounds, &one->lowest,
                              &one->mask, &one->dtypes))
            return -1;
    return 0;
}

static int launcher_init(PyObject *object, PyObject *given, PyObject *Py_UNUSED(keywords)) {
    Launcher *self = (Launcher *)object;
    unsigned long long record, driver, seconds, worth;
    PyObject *parameters, *held;
    if (self->parameters != NULL)
        return 0; /* it is made once */
    if (!PyArg_ParseTuple(given, "O!KKLnKKO!", &PyTuple_Type, &parameters, &record, &driver, &self->fuel,
                          &self->arena_size, &seconds, &worth, &PyTuple_Type, &held))
        return -1;
    for (Py_ssize_t at = 0; at < HELD; at++)
        if ((self->held[at] = PyTuple_GetItem(held, at)) == NULL)
            return -1;
    self->given = Py_NewRef(given);
    self->record = (unsigned char *)(uintptr_t)record;
    self->seconds = (double *)(uintptr_t)seconds, self->worth = (double *)(uintptr_t)worth;
    self->driver = (int32_t(*)(void *, void *))(uintptr_t)driver;
    return set_parameters(self, parameters);
}

static int launcher_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Launcher *)object)->given);
    return 0;
}

static int launcher_clear(PyObject *object) {
    Launcher *self = (Launcher *)object;
    self->busy = 1; /* calls return False from now on */
    Py_CLEAR(self->given);
    return 0;
}

static void launcher_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    launcher_clear(object);
    PyMem_Free(((Launcher *)object)->parameters);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyType_Slot launcher_slots[] = {
    {Py_tp_init, launcher_init},
    {Py_tp_call, launcher_call},
    {Py_tp_traverse, launcher_traverse},
    {Py_tp_clear, launcher_clear},
    {Py_tp_dealloc, launcher_dealloc},
    {0, NULL},
};

static PyType_Spec launcher_spec = {
    "tileir.cpu.run._launcher.Launcher", sizeof(Launcher), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, launcher_slots};

static int add_types(PyObject *module) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) { /* `names` are of one interpreter */
        PyErr_SetString(PyExc_ImportError, "only the main interpreter launches directly");
        return -1;
    }
    for (int at = 0; at < NAMES; at++)
        if ((names[at] = PyUnicode_InternFromString(spelling[at])) == NULL)
            return -1;
    PyObject *type = PyType_FromSpec(&launcher_spec);
    int added = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return added;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, add_types}, {0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_launcher", NULL, 0, NULL, module_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__launcher(void) { return PyModuleDef_Init(&module); }
