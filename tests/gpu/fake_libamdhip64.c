/* A HIP runtime without a GPU: two devices whose memory is that of the process. It is compiled with HIP's own header, so
 * functions and structures are those of the runtime. `fake_run` is given each launch; without it kernels do nothing, and
 * every call that matters is written to standard error, one line each. FAKE_INIT, FAKE_COUNT, FAKE_LAUNCH and FAKE_ARCH
 * are errors to be returned, the number of devices and their architecture. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) (fake_run ? 0 : (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr)))

typedef int Run(const void *code, size_t size, const char *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned threads,
                unsigned shared, size_t stream, void **parameters);
Run *fake_run;

struct Piece { void *address; size_t size; } fake_pieces[4096];
unsigned fake_count;
struct ihipModule_t { void *code; size_t size; };
struct ihipModuleSymbol_t { struct ihipModule_t *module; char name[512]; };
static __thread int current;

static int number(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value ? atoi(value) : otherwise;
}

static hipError_t memory(void **address, size_t size) {
  if (size > 1u << 30 || fake_count == 4096) return hipErrorOutOfMemory;
  *address = aligned_alloc(256, (size + 255) / 256 * 256);
  memset(*address, 0xAA, size);
  fake_pieces[fake_count++] = (struct Piece){*address, size};
  return hipSuccess;
}

static hipError_t forget(void *address) {
  for (unsigned i = 0; i < fake_count; i++)
    if (fake_pieces[i].address == address) {
      fake_pieces[i] = fake_pieces[--fake_count];
      free(address);
      return hipSuccess;
    }
  return hipErrorInvalidValue;
}

hipError_t hipInit(unsigned flags) { return number("FAKE_INIT", 0); }
hipError_t hipRuntimeGetVersion(int *version) { return *version = 60443484, hipSuccess; }
hipError_t hipGetDeviceCount(int *count) {
  return *count = number("FAKE_COUNT", 2), *count ? hipSuccess : hipErrorNoDevice;
}
hipError_t hipGetDevice(int *device) { return *device = current, hipSuccess; }
hipError_t hipSetDevice(int device) { return device < 2 ? (current = device, hipSuccess) : hipErrorInvalidDevice; }
hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device) {
  return snprintf(name, length, "Fake GPU %d", device), hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) { /* the header calls it ...R0600 */
  memset(properties, 0, sizeof *properties);
  const char *arch = getenv("FAKE_ARCH");
  return strcpy(properties->gcnArchName, arch ? arch : "gfx1100:sramecc+:xnack-"), hipSuccess;
}
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  switch (attribute) {
    case hipDeviceAttributeMaxGridDimX: *value = 0x7fffffff; break;
    case hipDeviceAttributeMaxGridDimY: case hipDeviceAttributeMaxGridDimZ: *value = 65536; break;
    case hipDeviceAttributeMultiprocessorCount: *value = 132; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: *value = 64 << 10; break;
    case hipDeviceAttributeMemoryPoolsSupported: *value = getenv("FAKE_NO_POOLS") == 0; break;
    default: return SAY("unexpected attribute %d", attribute), hipErrorInvalidValue;
  }
  return hipSuccess;
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  const Elf64_Ehdr *head = image;
  if (memcmp(head->e_ident, ELFMAG, SELFMAG)) return hipErrorInvalidImage;
  size_t size = head->e_shoff + (size_t)head->e_shentsize * head->e_shnum;
  *module = malloc(sizeof **module);
  **module = (struct ihipModule_t){memcpy(malloc(size), image, size), size};
  return SAY("load on %d", current), hipSuccess;
}
hipError_t hipModuleUnload(hipModule_t module) { return SAY("unload"), free(module->code), free(module), hipSuccess; }
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  if (!strcmp(name, "missing")) return hipErrorNotFound;
  *function = malloc(sizeof **function);
  (*function)->module = module;
  return snprintf((*function)->name, sizeof (*function)->name, "%s", name), hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared, hipStream_t stream, void **parameters, void **extra) {
  if (by != 1 || bz != 1 || extra) return hipErrorInvalidValue;
  if (fake_run)
    return fake_run(f->module->code, f->module->size, f->name, gx, gy, gz, bx, shared, (size_t)stream, parameters);
  SAY("launch %s over %u %u %u of %u, shared %u, on %zu: %lu", f->name, gx, gy, gz, bx, shared, (size_t)stream,
      (unsigned long)*(uint64_t *)parameters[0]);
  return number("FAKE_LAUNCH", 0);
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
                                            void **parameters) {
  if (!fake_run) fputs("together: ", stderr);
  return hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, 0);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t f, int threads, size_t shared) {
  if (!fake_run) SAY("room for %s of %d, shared %zu", f->name, threads, shared);
  return *blocks = 2, hipSuccess;
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  return *status = (size_t)stream == 9 ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone, hipSuccess;
}

hipError_t hipMalloc(void **address, size_t size) { return SAY("allocate %zu", size), memory(address, size); }
hipError_t hipFree(void *address) { return SAY("free"), forget(address); }
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *wanted) {
  SAY("pool of type %d at %d %d, %zu bytes", wanted->allocType, wanted->location.type, wanted->location.id,
      wanted->maxSize);
  return *pool = malloc(1), hipSuccess;
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value) {
  if (attribute != hipMemPoolAttrReleaseThreshold) return hipErrorInvalidValue;
  return SAY("pool keeps %lu", (unsigned long)*(uint64_t *)value), hipSuccess;
}
hipError_t hipMallocFromPoolAsync(void **address, size_t size, hipMemPool_t pool, hipStream_t stream) {
  return SAY("borrow %zu on %zu", size, (size_t)stream), memory(address, size);
}
hipError_t hipFreeAsync(void *address, hipStream_t stream) {
  return SAY("give back on %zu", (size_t)stream), forget(address);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t address, unsigned char value, size_t count, hipStream_t stream) {
  return memset(address, value, count), hipSuccess;
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t size, hipStream_t stream) {
  return SAY("up %zu on %zu", size, (size_t)stream), memcpy(to, from, size), hipSuccess;
}
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t size, hipStream_t stream) {
  return SAY("down %zu on %zu", size, (size_t)stream), memcpy(to, from, size), hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) { return SAY("wait on %zu", (size_t)stream), hipSuccess; }
hipError_t hipDeviceSynchronize(void) { return SAY("drain"), hipSuccess; }
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) { return *event = malloc(1), hipSuccess; }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { return hipSuccess; }
hipError_t hipEventSynchronize(hipEvent_t event) { return hipSuccess; }
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t begin, hipEvent_t end) {
  return *milliseconds = 1.5f, hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) { return free(event), hipSuccess; }

const char *hipGetErrorName(hipError_t error) {
  switch (error) {
    case hipErrorOutOfMemory: return "hipErrorOutOfMemory";
    case hipErrorNoBinaryForGpu: return "hipErrorNoBinaryForGpu";
    case hipErrorInvalidImage: return "hipErrorInvalidImage";
    case hipErrorNotFound: return "hipErrorNotFound";
    case hipErrorNotInitialized: return "hipErrorNotInitialized";
    case hipErrorIllegalAddress: return "hipErrorIllegalAddress";
    case hipErrorLaunchOutOfResources: return "hipErrorLaunchOutOfResources";
    case hipErrorLaunchTimeOut: return "hipErrorLaunchTimeOut";
    default: return "hipErrorUnknown";
  }
}
const char *hipGetErrorString(hipError_t error) { return "what went wrong"; }
