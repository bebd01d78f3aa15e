/* A CUDA driver without a GPU: two devices whose memory is that of the process. Every call that matters is written to
 * standard error, one line each; kernels do nothing. FAKE_INIT, FAKE_LAUNCH and FAKE_ENCODE are errors to be returned,
 * FAKE_VERSION is the version of the driver. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef uint64_t Address;

#define SAY(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))

static int contexts[2];
static __thread int *current, *stack[16];
static __thread int depth;

static Result error_of(const char *name) {
  const char *value = getenv(name);
  return value ? atoi(value) : 0;
}

static Address memory(size_t size) { return (Address)aligned_alloc(256, (size + 255) / 256 * 256); }

Result cuInit(unsigned flags) { return error_of("FAKE_INIT"); }
Result cuDriverGetVersion(int *version) {
  return *version = error_of("FAKE_VERSION") ? error_of("FAKE_VERSION") : 13010, 0;
}
Result cuDeviceGetCount(int *count) { return *count = 2, 0; }
Result cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal < 2 ? 0 : 101; }
Result cuDeviceGetName(char *name, int length, int device) { return snprintf(name, length, "Fake GPU %d", device), 0; }

Result cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
    case 75: *value = error_of("FAKE_MAJOR") ? error_of("FAKE_MAJOR") : 9; break;
    case 76: *value = 0; break;
    case 97: *value = 227 << 10; break;
    case 16: *value = 132; break;
    case 5: *value = 0x7fffffff; break;
    case 6: case 7: *value = 65535; break;
    case 115: *value = getenv("FAKE_NO_POOLS") == 0; break;
    default: SAY("unexpected attribute %d", attribute); return 1;
  }
  return 0;
}

Result cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &contexts[device], 0; }
Result cuCtxGetCurrent(void **context) { return *context = current, 0; }
Result cuCtxSetCurrent(void *context) { return current = context, 0; }
Result cuCtxPushCurrent(void *context) { return stack[depth++] = current, current = context, 0; }
Result cuCtxPopCurrent(void **context) { return *context = current, current = stack[--depth], 0; }
Result cuCtxGetDevice(int *device) { return current ? (*device = current - contexts, 0) : 201; }

Result cuLibraryLoadData(void **library, const void *code, void *o, void *v, unsigned n, void *p, void *w, unsigned m) {
  SAY("load %s, options %u %u", (const char *)code, n, m);
  return *library = malloc(1), strcmp(code, "damaged") ? 0 : 200;
}
Result cuLibraryUnload(void *library) { return SAY("unload"), free(library), 0; }
Result cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  return *kernel = strdup(name), strcmp(name, "missing") ? 0 : 500;
}
Result cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
  return SAY("attribute %d of %s is %d on %d", attribute, (char *)kernel, value, device), 0;
}

Result cuMemAlloc(Address *address, size_t size) {
  SAY("allocate %zu", size);
  return size > 1u << 30 ? 2 : (*address = memory(size), 0);
}
Result cuMemFree(Address address) { return SAY("free"), free((void *)address), 0; }
Result cuMemPoolCreate(void **pool, const int *wanted) {
  SAY("pool of type %d at %d %d", wanted[0], wanted[2], wanted[3]);
  return *pool = malloc(1), 0;
}
Result cuMemPoolSetAttribute(void *pool, int attribute, Address *value) {
  return SAY("pool attribute %d is %lu", attribute, (unsigned long)*value), 0;
}
Result cuMemAllocFromPoolAsync(Address *address, size_t size, void *pool, void *stream) {
  return SAY("borrow %zu on %zu", size, (size_t)stream), *address = memory(size), 0;
}
Result cuMemFreeAsync(Address address, void *stream) {
  return SAY("give back on %zu", (size_t)stream), free((void *)address), 0;
}
Result cuMemsetD8Async(Address address, unsigned char value, size_t size, void *stream) {
  return memset((void *)address, value, size), 0;
}
Result cuMemcpyHtoDAsync(Address to, const void *from, size_t size, void *stream) {
  return SAY("up %zu on %zu", size, (size_t)stream), memcpy((void *)to, from, size), 0;
}
Result cuMemcpyDtoHAsync(void *to, Address from, size_t size, void *stream) {
  return SAY("down %zu on %zu", size, (size_t)stream), memcpy(to, (void *)from, size), 0;
}

Result cuStreamIsCapturing(void *stream, int *status) { return *status = (size_t)stream == 9, 0; }
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *kernel, int threads, size_t shared) {
  return SAY("room for %s of %d, shared %zu", (char *)kernel, threads, shared), *blocks = 2, 0;
}
Result cuStreamSynchronize(void *stream) { return SAY("wait on %zu", (size_t)stream), 0; }
Result cuCtxSynchronize(void) { return SAY("drain"), 0; }
Result cuEventCreate(void **event, unsigned flags) { return *event = malloc(1), 0; }
Result cuEventRecord(void *event, void *stream) { return 0; }
Result cuEventSynchronize(void *event) { return 0; }
Result cuEventElapsedTime(float *milliseconds, void *begin, void *end) { return *milliseconds = 1.5f, 0; }
Result cuEventDestroy(void *event) { return free(event), 0; }
Result cuGetErrorString(int error, const char **text) { return *text = "what went wrong", 0; }

static void say_parameters(void **parameters) {
  for (int position = 0; position < 2; position++)
    fprintf(stderr, " %lu", (unsigned long)*(Address *)parameters[position]);
  fputc('\n', stderr);
}

Result cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **parameters, void **extra) {
  fprintf(stderr, "launch %s over %u %u %u of %u %u %u, shared %u, on %zu:", (char *)kernel, gx, gy, gz, bx, by, bz,
          shared, (size_t)stream);
  say_parameters(parameters);
  return error_of("FAKE_LAUNCH");
}

Result cuLaunchCooperativeKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared, void *stream, void **parameters) {
  fputs("together: ", stderr);
  return cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters, 0);
}

struct Attribute { unsigned id, padding, value[16]; };
struct Config { unsigned grid[3], block[3], shared; void *stream; struct Attribute *attributes; unsigned count; };

Result cuLaunchKernelEx(const struct Config *config, void *kernel, void **parameters, void **extra) {
  fprintf(stderr, "launch %s over %u %u %u of %u, shared %u, on %zu", (char *)kernel, config->grid[0], config->grid[1],
          config->grid[2], config->block[0], config->shared, (size_t)config->stream);
  for (unsigned i = 0; i < config->count; i++)
    fprintf(stderr, ", attribute %u is %u", config->attributes[i].id, config->attributes[i].value[0]);
  fputc(':', stderr);
  say_parameters(parameters);
  return 0;
}

static void say_longs(const char *what, const uint64_t *numbers, unsigned count) {
  fprintf(stderr, ", %s", what);
  for (unsigned i = 0; i < count; i++) fprintf(stderr, " %lu", (unsigned long)numbers[i]);
}
static void say_words(const char *what, const unsigned *numbers, unsigned count) {
  fprintf(stderr, ", %s", what);
  for (unsigned i = 0; i < count; i++) fprintf(stderr, " %u", numbers[i]);
}

Result cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *extents,
                              const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave,
                              int swizzle, int promotion, int fill) {
  if ((Address)map % 64 || error_of("FAKE_ENCODE")) return 1;
  fprintf(stderr, "describe type %d at %zu", type, (size_t)address);
  say_longs("extents", extents, rank);
  say_longs("strides", strides, rank - 1);
  say_words("box", box, rank);
  say_words("steps", steps, rank);
  SAY(", how %d %d %d %d", interleave, swizzle, promotion, fill);
  return memset(map, 0xff, 128), 0;
}

Result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
  Dl_info own;
  dladdr((void *)cuInit, &own);
  if (version >= 12000 && strcmp(name, "cuGetProcAddress") == 0) name = "cuGetProcAddress_v2";
  *function = dlsym(dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
  if (status) *status = *function ? 0 : 1;
  return *function ? 0 : 500;
}
Result cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, 0);
}
