// A CUDA driver without a GPU, for tests of what goes wrong with one: a library
// that is put before the real one. Its device's memory is the machine's, and
// its kernels do nothing. ISOMER_FAKE_GPU says what it has and when it fails:
//
//   version=11040     the driver is of CUDA 11.4
//   devices=0         there is no device
//   capability=8      the device's compute capability is 8.0
//   memory=1000000    bytes that it has
//   lost=wait         it is lost when somebody waits for a stream, or launches
//   lost=graph        a graph; from then on every call fails
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// Of cuda.h.
constexpr int kOutOfMemory = 2, kNoDevice = 100, kNotFound = 500;
constexpr int kLaunchFailure = 719;
constexpr int kUnits = 16, kMajor = 75, kUnitSharedBytes = 81;

// The value of `key`, or `otherwise`.
std::string Setting(const std::string& key, const std::string& otherwise) {
  const char* given = std::getenv("ISOMER_FAKE_GPU");
  const std::string text = given == nullptr ? "" : given;
  if (text.compare(0, key.size() + 1, key + "=") != 0) return otherwise;
  return text.substr(key.size() + 1);
}

std::atomic<bool> lost{false};
std::atomic<int64_t> used{0};

// What a call returns that does nothing.
int Done() { return lost ? kLaunchFailure : 0; }

// The same of one that may be the last.
int DoneOrLost(const std::string& call) {
  if (Setting("lost", "") == call) lost = true;
  return Done();
}

int Make(void** what) {
  static char something;
  *what = &something;
  return Done();
}

int Copy(void* to, const void* from, size_t bytes) {
  if (!lost) std::memcpy(to, from, bytes);
  return Done();
}

void* At(uint64_t pointer) { return reinterpret_cast<void*>(pointer); }

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = std::stoi(Setting("version", "13000"));
  return 0;
}
int cuGetErrorName(int error, const char** name) {
  *name = error == kOutOfMemory     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kNoDevice      ? "CUDA_ERROR_NO_DEVICE"
          : error == kLaunchFailure ? "CUDA_ERROR_LAUNCH_FAILED"
                                    : nullptr;
  return 0;
}

// NVRTC asks for what is not documented, and does without.
int cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return kNotFound;
}

int cuInit(unsigned) { return Setting("devices", "1") == "0" ? kNoDevice : 0; }
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "a fake GPU", static_cast<size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == kUnits   ? 132
           : attribute == kMajor ? std::stoi(Setting("capability", "9"))
           : attribute == kUnitSharedBytes ? 233472
                                           : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return Make(context); }
int cuDevicePrimaryCtxRelease_v2(int) { return Done(); }
int cuCtxSetCurrent(void*) { return Done(); }

int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  const int64_t most = std::stoll(Setting("memory", "1000000000000"));
  if (used + static_cast<int64_t>(bytes) > most) return kOutOfMemory;
  used += static_cast<int64_t>(bytes);
  *pointer = reinterpret_cast<uint64_t>(std::malloc(bytes));
  return Done();
}
int cuMemFree_v2(uint64_t pointer) {
  std::free(At(pointer));
  return Done();
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
  if (!lost) std::memset(At(to), value, bytes);
  return Done();
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  return Copy(At(to), from, bytes);
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  return Copy(to, At(from), bytes);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  return Copy(At(to), At(from), bytes);
}

int cuModuleLoadData(void** module, const void*) { return Make(module); }
int cuModuleGetFunction(void** function, void*, const char*) {
  return Make(function);
}
int cuFuncSetAttribute(void*, int, int) { return Done(); }
int cuLaunchKernelEx(const void*, void*, void**, void**) { return Done(); }
int cuTensorMapEncodeTiled(void*, int, unsigned, uint64_t, const uint64_t*,
                           const uint64_t*, const unsigned*, const unsigned*,
                           int, int, int, int) {
  return Done();
}

int cuStreamCreate(void** stream, unsigned) { return Make(stream); }
int cuStreamDestroy_v2(void*) { return Done(); }
int cuStreamWaitEvent(void*, void*, unsigned) { return Done(); }
int cuStreamSynchronize(void*) { return DoneOrLost("wait"); }
int cuStreamBeginCapture_v2(void*, int) { return Done(); }
int cuStreamEndCapture(void*, void** graph) { return Make(graph); }
int cuGraphInstantiateWithFlags(void** exec, void*, uint64_t) {
  return Make(exec);
}
int cuGraphLaunch(void*, void*) { return DoneOrLost("graph"); }
int cuGraphDestroy(void*) { return Done(); }
int cuGraphExecDestroy(void*) { return Done(); }

int cuEventCreate(void** event, unsigned) { return Make(event); }
int cuEventDestroy_v2(void*) { return Done(); }
int cuEventRecord(void*, void*) { return Done(); }
int cuEventSynchronize(void*) { return Done(); }
int cuEventElapsedTime(float* ms, void*, void*) {
  *ms = 1;
  return Done();
}

}  // extern "C"
