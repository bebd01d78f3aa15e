/* Files in memory that are cut while a kernel uses them.

An access to a page whose part of the file is gone raises SIGBUS, which ends the process. Between `guard` and `unguard`
of a mapping such a page, and all behind it, becomes memory with zeros instead, and `unguard` says so. Other faults go to
the handler that was there before. Handlers may only use what is safe in them: `mmap` is a plain system call, and the
table is changed by one thread at a time (that with the GIL). */

#define _GNU_SOURCE
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 256 }; /* mappings that are guarded at a time; others are not guarded */

static struct {
    volatile uintptr_t begin, end; /* `end` is 0 in a free entry */
    volatile sig_atomic_t lost;
} guarded[MOST];
static struct sigaction before;
static uintptr_t page_size;
static int guards;

static void on_fault(int number, siginfo_t *info, void *context) {
    uintptr_t at = (uintptr_t)info->si_addr, page = at & ~(page_size - 1);
    int error = errno;
    (void)number, (void)context;
    for (int entry = 0; entry < MOST; entry++) {
        uintptr_t end = guarded[entry].end;
        if (guarded[entry].begin > at || at >= end)
            continue;
        for (int other = 0; other < MOST; other++) /* of other launches too, before any of them can read zeros */
            if (guarded[other].begin < end && page < guarded[other].end)
                guarded[other].lost = 1;
        if (mmap((void *)page, end - page, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
            break;
        errno = error;
        return;
    }
    sigaction(SIGBUS, &before, NULL); /* to which the same access leads again */
}

/* guard(address, size) -> entry: the number to unguard by, or -1 if there are too many. */
static PyObject *guard(PyObject *Py_UNUSED(module), PyObject *given) {
    unsigned long long address, size;
    int entry = 0;
    if (!PyArg_ParseTuple(given, "KK", &address, &size))
        return NULL;
    while (entry < MOST && guarded[entry].end != 0)
        entry++;
    if (entry == MOST)
        return PyLong_FromLong(-1);
    guarded[entry].lost = 0;
    guarded[entry].begin = (uintptr_t)address;
    guarded[entry].end = (uintptr_t)(address + size);
    if (guards++ == 0) {
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        sigaction(SIGBUS, &action, &before);
    }
    return PyLong_FromLong(entry);
}

/* unguard(entry) -> bool: whether memory was lost. */
static PyObject *unguard(PyObject *Py_UNUSED(module), PyObject *given) {
    int entry;
    if (!PyArg_ParseTuple(given, "i", &entry))
        return NULL;
    if (entry < 0 || entry >= MOST || guarded[entry].end == 0)
        Py_RETURN_FALSE;
    guarded[entry].end = 0;
    if (--guards == 0)
        sigaction(SIGBUS, &before, NULL);
    return PyBool_FromLong(guarded[entry].lost);
}

static PyMethodDef functions[] = {
    {"guard", guard, METH_VARARGS, NULL},
    {"unguard", unguard, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int start(PyObject *Py_UNUSED(module)) {
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, start}, {0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_mappings", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__mappings(void) { return PyModuleDef_Init(&module); }
