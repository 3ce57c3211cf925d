// The functions of the CUDA driver that are used, declared here: their names
// and arguments never change, and so no toolkit is needed to build.
#include "cuda/device.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cuda/library.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Of cuda.h.
constexpr int kOutOfMemory = 2, kNoDevice = 100;
// After these a process cannot use the device any more: errors that its memory
// or its links could not mend, what kernels die of, and what nobody knows.
constexpr int kLost[] = {214, 220, 700, 702, 710, 714,
                         715, 716, 717, 718, 719, 999};
// The first CUDA whose driver has all functions.
constexpr int kOldestVersion = 12000;
constexpr int kUnits = 16, kMajor = 75, kMinor = 76, kUnitSharedBytes = 81;
constexpr int kMaxDynamicShared = 8, kNonPortableCluster = 14;
constexpr unsigned kNonBlocking = 1;
constexpr int kThreadLocalCapture = 1;
constexpr unsigned kWithoutTiming = 2;
constexpr int kCaptureInvalidated = 901;
constexpr int kCaptureTries = 100;

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned cluster[3];
    int flag;
  } value;
};
constexpr int kClusterDimension = 4, kEarlyStart = 6;

struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned num_attributes;
};

// A CUtensorMap, and how it is made: of 2-byte elements, with tiles in rows of
// 128 bytes whose pieces are permuted by the row.
struct alignas(64) EncodedMap {
  uint64_t words[16];
};
constexpr int kTwoBytes = 1, kNotInterleaved = 0, kSwizzle128 = 3;
constexpr int kReadAhead256 = 3, kZerosOutside = 0;

}  // namespace

struct Device::Api {
  int (*init)(unsigned);
  int (*error_name)(int, const char**);
  int (*device_count)(int*);
  int (*device_name)(char*, int, int);
  int (*device_attribute)(int*, int attribute, int device);
  int (*retain_context)(void**, int device);
  int (*release_context)(int device);
  int (*set_context)(void*);
  int (*allocate)(DevicePointer*, size_t);
  int (*free)(DevicePointer);
  int (*write_async)(DevicePointer, const void*, size_t, void*);
  int (*read_async)(void*, DevicePointer, size_t, void*);
  int (*fill_async)(DevicePointer, unsigned char, size_t, void*);
  int (*copy_async)(DevicePointer, DevicePointer, size_t, void*);
  int (*load_module)(void**, const void*);
  int (*get_function)(void**, void* module, const char*);
  int (*set_function_attribute)(void*, int, int);
  int (*launch)(const LaunchConfig*, void*, void** parameters, void** extra);
  int (*encode_map)(EncodedMap*, int type, unsigned rank, DevicePointer,
                    const uint64_t* size, const uint64_t* steps,
                    const unsigned* box, const unsigned* element_steps,
                    int interleave, int swizzle, int promotion, int outside);
  int (*new_stream)(void**, unsigned);
  int (*free_stream)(void*);
  int (*wait_stream)(void*);
  int (*stream_wait)(void* stream, void* event, unsigned);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void** graph);
  int (*instantiate)(void** exec, void* graph, unsigned long long);
  int (*launch_graph)(void* exec, void* stream);
  int (*free_graph)(void*);
  int (*free_exec)(void*);
  int (*new_event)(void**, unsigned);
  int (*free_event)(void*);
  int (*record)(void*, void* stream);
  int (*wait_event)(void*);
  int (*elapsed)(float*, void*, void*);

  static absl::StatusOr<std::shared_ptr<const Api>> Open();
};

absl::StatusOr<std::shared_ptr<const Device::Api>> Device::Api::Open() {
  ASSIGN_OR_RETURN(const Library library, Library::Open({"libcuda.so.1"}));
  auto api = std::make_shared<Api>();
  Functions functions(library);
  int (*driver_version)(int*) = nullptr;
  functions.Find("cuDriverGetVersion", &driver_version);
  RETURN_IF_ERROR(functions.status());
  int version = 0;
  driver_version(&version);
  if (version < kOldestVersion) {
    return Unsupported("CUDA: the driver is of CUDA ", version / 1000, ".",
                       version % 1000 / 10, "; ", kOldestVersion / 1000, ".",
                       kOldestVersion % 1000 / 10, " or later is needed");
  }
  functions.Find("cuInit", &api->init);
  functions.Find("cuGetErrorName", &api->error_name);
  functions.Find("cuDeviceGetCount", &api->device_count);
  functions.Find("cuDeviceGetName", &api->device_name);
  functions.Find("cuDeviceGetAttribute", &api->device_attribute);
  functions.Find("cuDevicePrimaryCtxRetain", &api->retain_context);
  functions.Find("cuDevicePrimaryCtxRelease_v2", &api->release_context);
  functions.Find("cuCtxSetCurrent", &api->set_context);
  functions.Find("cuMemAlloc_v2", &api->allocate);
  functions.Find("cuMemFree_v2", &api->free);
  functions.Find("cuMemcpyHtoDAsync_v2", &api->write_async);
  functions.Find("cuMemcpyDtoHAsync_v2", &api->read_async);
  functions.Find("cuMemsetD8Async", &api->fill_async);
  functions.Find("cuMemcpyDtoDAsync_v2", &api->copy_async);
  functions.Find("cuModuleLoadData", &api->load_module);
  functions.Find("cuModuleGetFunction", &api->get_function);
  functions.Find("cuFuncSetAttribute", &api->set_function_attribute);
  functions.Find("cuLaunchKernelEx", &api->launch);
  functions.Find("cuTensorMapEncodeTiled", &api->encode_map);
  functions.Find("cuStreamCreate", &api->new_stream);
  functions.Find("cuStreamDestroy_v2", &api->free_stream);
  functions.Find("cuStreamWaitEvent", &api->stream_wait);
  functions.Find("cuStreamSynchronize", &api->wait_stream);
  functions.Find("cuStreamBeginCapture_v2", &api->begin_capture);
  functions.Find("cuStreamEndCapture", &api->end_capture);
  functions.Find("cuGraphInstantiateWithFlags", &api->instantiate);
  functions.Find("cuGraphLaunch", &api->launch_graph);
  functions.Find("cuGraphDestroy", &api->free_graph);
  functions.Find("cuGraphExecDestroy", &api->free_exec);
  functions.Find("cuEventCreate", &api->new_event);
  functions.Find("cuEventDestroy_v2", &api->free_event);
  functions.Find("cuEventRecord", &api->record);
  functions.Find("cuEventSynchronize", &api->wait_event);
  functions.Find("cuEventElapsedTime", &api->elapsed);
  RETURN_IF_ERROR(functions.status());
  return api;
}

absl::Status Device::Check(int result, const std::string& what) const {
  if (result == 0) return absl::OkStatus();
  const char* name = nullptr;
  api_->error_name(result, &name);
  const std::string text =
      absl::StrCat("CUDA: ", what, ": ", name == nullptr ? "error" : name, " (",
                   result, ")");
  if (result == kOutOfMemory) return absl::ResourceExhaustedError(text);
  if (result == kNoDevice) return absl::NotFoundError(text);
  if (absl::c_linear_search(kLost, result)) {
    return absl::DataLossError(
        absl::StrCat(text, "; the device is lost to this process"));
  }
  return absl::InternalError(text);
}

absl::StatusOr<std::shared_ptr<Device>> Device::Open(absl::string_view name) {
  int ordinal = 0;
  const absl::string_view text =
      name.size() > 5 ? name.substr(5) : absl::string_view("0");
  if (name.substr(0, 4) != "cuda" || (name.size() > 4 && name[4] != ':') ||
      name.size() == 5 || !absl::SimpleAtoi(text, &ordinal) || ordinal < 0) {
    return Invalid("device '", name, "' is not one; expected cuda or cuda:N");
  }
  std::shared_ptr<Device> device(new Device);
  ASSIGN_OR_RETURN(device->api_, Api::Open());
  const Api& api = *device->api_;
  device->ordinal_ = ordinal;
  RETURN_IF_ERROR(device->Check(api.init(0), "cannot start the driver"));
  int count = 0;
  RETURN_IF_ERROR(device->Check(api.device_count(&count), "counting devices"));
  if (ordinal >= count) {
    return absl::NotFoundError(absl::StrCat("CUDA: there is no device ",
                                            ordinal, "; there are ", count));
  }
  int major = 0, minor = 0;
  api.device_attribute(&major, kMajor, ordinal);
  api.device_attribute(&minor, kMinor, ordinal);
  api.device_attribute(&device->units_, kUnits, ordinal);
  api.device_attribute(&device->unit_shared_bytes_, kUnitSharedBytes, ordinal);
  if (major < 9) {
    return Unsupported("CUDA: device ", ordinal, " has compute capability ",
                       major, ".", minor, "; kernels need 9.0 or later");
  }
  char text_name[256] = "";
  api.device_name(text_name, sizeof(text_name) - 1, ordinal);
  device->name_ = text_name;
  device->architecture_ = absl::StrCat("sm_", major, minor, "a");
  RETURN_IF_ERROR(device->Check(api.retain_context(&device->context_, ordinal),
                                "making a context"));
  RETURN_IF_ERROR(device->MakeCurrent());
  return device;
}

Device::~Device() {
  if (context_ == nullptr) return;
  if (MakeCurrent().ok()) {
    blas_ = nullptr;
    dnn_ = nullptr;
  }
  api_->release_context(ordinal_);
}

template <class T, class Opener>
absl::StatusOr<T> Device::Shared(T& kept, const Opener& open) const {
  absl::MutexLock lock(&libraries_mutex_);
  if (kept == nullptr) {
    ASSIGN_OR_RETURN(kept, open());
  }
  return kept;
}

absl::StatusOr<std::shared_ptr<const Blas>> Device::SharedBlas(
    const OpenBlas& open) const {
  return Shared(blas_, open);
}

absl::StatusOr<std::shared_ptr<const Dnn>> Device::SharedDnn(
    const OpenDnn& open) const {
  return Shared(dnn_, open);
}

absl::Status Device::MakeCurrent() const {
  return Check(api_->set_context(context_), "choosing the context");
}

absl::StatusOr<DevicePointer> Device::Allocate(int64_t bytes) const {
  RETURN_IF_ERROR(MakeCurrent());
  DevicePointer p = 0;
  RETURN_IF_ERROR(Check(
      api_->allocate(&p, static_cast<size_t>(std::max<int64_t>(bytes, 256))),
      absl::StrCat("allocating ", bytes, " bytes")));
  return p;
}

void Device::Free(DevicePointer p) const {
  if (MakeCurrent().ok() && p != 0) api_->free(p);
}

absl::Status Device::FillAsync(DevicePointer to, int value, int64_t bytes,
                               Stream stream) const {
  RETURN_IF_ERROR(MakeCurrent());
  return Check(
      api_->fill_async(to, static_cast<unsigned char>(value), bytes, stream),
      absl::StrCat("filling ", bytes, " bytes"));
}

absl::Status Device::CopyAsync(DevicePointer to, DevicePointer from,
                               int64_t bytes, Stream stream) const {
  RETURN_IF_ERROR(MakeCurrent());
  return Check(api_->copy_async(to, from, bytes, stream),
               absl::StrCat("copying ", bytes, " bytes"));
}

absl::Status Device::WriteAsync(DevicePointer to, const void* from,
                                int64_t bytes, Stream stream) const {
  RETURN_IF_ERROR(MakeCurrent());
  return Check(api_->write_async(to, from, bytes, stream),
               absl::StrCat("writing ", bytes, " bytes"));
}

absl::Status Device::ReadAsync(void* to, DevicePointer from, int64_t bytes,
                               Stream stream) const {
  RETURN_IF_ERROR(MakeCurrent());
  return Check(api_->read_async(to, from, bytes, stream),
               absl::StrCat("reading ", bytes, " bytes"));
}

// Blocks that are set up early go where the kernel before ends first, several
// to a multiprocessor while others stand idle: unless two do not fit.
int Device::SharedBytes(const KernelSource& shape, bool apart) const {
  const int64_t blocks = int64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  if (!apart || !shape.apart || blocks > units_) return shape.shared_bytes;
  return std::max(shape.shared_bytes, unit_shared_bytes_ / 2 + 1024);
}

absl::StatusOr<Device::Function> Device::Load(const std::string& code,
                                              const KernelSource& shape) const {
  RETURN_IF_ERROR(MakeCurrent());
  void *module = nullptr, *function = nullptr;
  RETURN_IF_ERROR(
      Check(api_->load_module(&module, code.data()), "loading a kernel"));
  RETURN_IF_ERROR(
      Check(api_->get_function(&function, module, kEntry), "finding a kernel"));
  const int shared_bytes = SharedBytes(shape, true);
  if (shared_bytes > 48 * 1024) {
    RETURN_IF_ERROR(Check(
        api_->set_function_attribute(function, kMaxDynamicShared, shared_bytes),
        absl::StrCat("allowing ", shared_bytes, " bytes of shared memory")));
  }
  api_->set_function_attribute(function, kNonPortableCluster, 1);
  return function;
}

absl::Status Device::Launch(Function f, const KernelSource& shape,
                            const std::vector<DevicePointer>& arguments,
                            Setting setting, Stream stream) const {
  LaunchAttribute attributes[2] = {};
  LaunchConfig config = {};
  for (int d = 0; d < 3; ++d) {
    config.grid[d] = static_cast<unsigned>(shape.grid[d]);
    config.block[d] = 1;
  }
  config.block[0] = static_cast<unsigned>(shape.block);
  config.shared_bytes =
      static_cast<unsigned>(SharedBytes(shape, setting.apart));
  config.stream = stream;
  config.attributes = attributes;
  if (shape.cluster > 1) {
    LaunchAttribute& a = attributes[config.num_attributes++];
    a.id = kClusterDimension;
    a.value.cluster[0] = a.value.cluster[1] = 1;
    a.value.cluster[2] = static_cast<unsigned>(shape.cluster);
  }
  if (setting.early && shape.early) {
    LaunchAttribute& a = attributes[config.num_attributes++];
    a.id = kEarlyStart;
    a.value.flag = 1;
  }
  std::vector<void*> parameters;
  std::vector<EncodedMap> maps(shape.maps.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    const TensorMap& m = shape.maps[i];
    const uint64_t size[2] = {static_cast<uint64_t>(m.size[0]),
                              static_cast<uint64_t>(m.size[1])};
    const uint64_t step = m.step_bytes;
    const unsigned box[2] = {static_cast<unsigned>(m.box[0]),
                             static_cast<unsigned>(m.box[1])};
    const unsigned all[2] = {1, 1};
    RETURN_IF_ERROR(
        Check(api_->encode_map(&maps[i], kTwoBytes, 2,
                               arguments[m.argument] + m.offset_bytes, size,
                               &step, box, all, kNotInterleaved, kSwizzle128,
                               kReadAhead256, kZerosOutside),
              absl::StrCat("describing a matrix of ", m.size[1], " rows of ",
                           m.size[0])));
    parameters.push_back(&maps[i]);
  }
  // A kernel may have fewer than there are.
  std::vector<DevicePointer> values = arguments;
  for (DevicePointer& v : values) parameters.push_back(&v);
  return Check(api_->launch(&config, f, parameters.data(), nullptr),
               absl::StrCat("launching ", shape.grid[0], "x", shape.grid[1],
                            "x", shape.grid[2], " blocks of ", shape.block));
}

absl::StatusOr<Stream> Device::NewStream() const {
  RETURN_IF_ERROR(MakeCurrent());
  void* stream = nullptr;
  RETURN_IF_ERROR(
      Check(api_->new_stream(&stream, kNonBlocking), "making a stream"));
  return stream;
}

void Device::FreeStream(Stream stream) const {
  if (MakeCurrent().ok() && stream != nullptr) api_->free_stream(stream);
}

absl::Status Device::Wait(Stream stream) const {
  RETURN_IF_ERROR(MakeCurrent());
  return Check(api_->wait_stream(stream), "waiting for a stream");
}

absl::StatusOr<Device::Event> Device::NewEvent() const {
  RETURN_IF_ERROR(MakeCurrent());
  void* event = nullptr;
  RETURN_IF_ERROR(
      Check(api_->new_event(&event, kWithoutTiming), "making an event"));
  return event;
}

void Device::FreeEvent(Event event) const {
  if (MakeCurrent().ok() && event != nullptr) api_->free_event(event);
}

absl::Status Device::Record(Event event, Stream stream) const {
  return Check(api_->record(event, stream), "recording an event");
}

absl::Status Device::WaitFor(Event event, Stream stream) const {
  return Check(api_->stream_wait(stream, event, 0),
               "letting a stream wait for an event");
}

absl::StatusOr<Device::Graph> Device::Capture(
    Stream stream, const std::function<absl::Status(Stream)>& launches) const {
  RETURN_IF_ERROR(MakeCurrent());
  void *graph = nullptr, *exec = nullptr;
  // Another thread that waits for the whole device, as libraries do, breaks a
  // recording off: it is made again.
  for (int i = 0; graph == nullptr; ++i) {
    RETURN_IF_ERROR(Check(api_->begin_capture(stream, kThreadLocalCapture),
                          "starting to record a graph"));
    const absl::Status launched = launches(stream);
    const int result = api_->end_capture(stream, &graph);
    if (result == kCaptureInvalidated && i < kCaptureTries) continue;
    if (!launched.ok()) return launched;
    RETURN_IF_ERROR(Check(result, "recording a graph"));
  }
  const absl::Status made =
      Check(api_->instantiate(&exec, graph, 0), "making a graph");
  api_->free_graph(graph);
  if (!made.ok()) return made;
  return exec;
}

absl::Status Device::LaunchGraph(Graph graph, Stream stream) const {
  return Check(api_->launch_graph(graph, stream), "launching a graph");
}

void Device::FreeGraph(Graph graph) const {
  if (MakeCurrent().ok() && graph != nullptr) api_->free_exec(graph);
}

absl::StatusOr<double> Device::Time(
    Stream stream, const std::function<absl::Status()>& work) const {
  RETURN_IF_ERROR(MakeCurrent());
  void* events[2] = {nullptr, nullptr};
  for (void*& e : events) {
    RETURN_IF_ERROR(Check(api_->new_event(&e, 0), "making an event"));
  }
  float ms = 0;
  absl::Status status = Record(events[0], stream);
  if (status.ok()) status = work();
  if (status.ok()) status = Record(events[1], stream);
  if (status.ok()) {
    status = Check(api_->wait_event(events[1]), "waiting for an event");
  }
  if (status.ok()) {
    status = Check(api_->elapsed(&ms, events[0], events[1]), "reading a time");
  }
  for (void* e : events) api_->free_event(e);
  if (!status.ok()) return status;
  return double{ms} * 1e3;
}

}  // namespace isomer::cuda
