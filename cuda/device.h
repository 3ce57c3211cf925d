// One GPU: memory, kernels, streams, events and graphs, over the CUDA driver,
// which is opened when it is first asked for. Every call may come from any
// thread. A call that fails says what was asked for and what the driver
// answered; ResourceExhausted means that memory ran out, DataLoss that the
// device is lost.
#ifndef ISOMER_CUDA_DEVICE_H_
#define ISOMER_CUDA_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "cuda/kernel.h"

namespace isomer::cuda {

using DevicePointer = uint64_t;
using Stream = void*;  // a CUstream

class Blas;
class Dnn;

class Device {
 public:
  // Opens the device that `name` ("cuda", "cuda:1") stands for. NotFound where
  // there is no driver or no such device.
  static absl::StatusOr<std::shared_ptr<Device>> Open(absl::string_view name);
  ~Device();

  const std::string& name() const { return name_; }  // "NVIDIA H200"
  // What kernels are compiled for: "sm_90a".
  const std::string& architecture() const { return architecture_; }
  int units() const { return units_; }  // streaming multiprocessors

  absl::StatusOr<DevicePointer> Allocate(int64_t bytes) const;
  void Free(DevicePointer p) const;
  // In the order of the stream; what is written from must stay until then.
  absl::Status FillAsync(DevicePointer to, int value, int64_t bytes,
                         Stream stream) const;
  absl::Status CopyAsync(DevicePointer to, DevicePointer from, int64_t bytes,
                         Stream stream) const;
  absl::Status WriteAsync(DevicePointer to, const void* from, int64_t bytes,
                          Stream stream) const;
  absl::Status ReadAsync(void* to, DevicePointer from, int64_t bytes,
                         Stream stream) const;

  // A kernel of machine code that Compiler made, to be launched in that shape;
  // it lives as long as the device.
  using Function = void*;
  absl::StatusOr<Function> Load(const std::string& code,
                                const KernelSource& shape) const;
  // What a kernel that gains by it is allowed.
  struct Setting {
    bool early = false;  // it is set up while the one before it still runs
    bool apart = false;  // no two blocks share a multiprocessor, if there are
                         // enough of these
  };
  absl::Status Launch(Function f, const KernelSource& shape,
                      const std::vector<DevicePointer>& arguments,
                      Setting setting, Stream stream) const;

  absl::StatusOr<Stream> NewStream() const;
  void FreeStream(Stream stream) const;
  absl::Status Wait(Stream stream) const;

  // What is started on a stream after it waits for an event starts after all
  // that was on the other stream when the event was recorded there.
  using Event = void*;  // a CUevent
  absl::StatusOr<Event> NewEvent() const;
  void FreeEvent(Event event) const;
  absl::Status Record(Event event, Stream stream) const;
  absl::Status WaitFor(Event event, Stream stream) const;

  // What `launches` starts on the given stream, and on others that wait for it
  // and that it waits for in the end, as one graph.
  using Graph = void*;  // a CUgraphExec
  absl::StatusOr<Graph> Capture(
      Stream stream, const std::function<absl::Status(Stream)>& launches) const;
  absl::Status LaunchGraph(Graph graph, Stream stream) const;
  void FreeGraph(Graph graph) const;

  // The microseconds that `work` takes on the stream.
  absl::StatusOr<double> Time(Stream stream,
                              const std::function<absl::Status()>& work) const;

  // What computes products for all who use the device: the first who asks
  // opens it. Opened for each, one that is closed disturbs the others.
  using OpenBlas = std::function<absl::StatusOr<std::shared_ptr<const Blas>>()>;
  absl::StatusOr<std::shared_ptr<const Blas>> SharedBlas(
      const OpenBlas& open) const;
  using OpenDnn = std::function<absl::StatusOr<std::shared_ptr<const Dnn>>()>;
  absl::StatusOr<std::shared_ptr<const Dnn>> SharedDnn(
      const OpenDnn& open) const;

  // Makes the device's context that of the calling thread.
  absl::Status MakeCurrent() const;

 private:
  struct Api;
  Device() = default;
  absl::Status Check(int result, const std::string& what) const;
  // The dynamic shared memory of a block, with what keeps others off.
  int SharedBytes(const KernelSource& shape, bool apart) const;
  // What is kept, opened if it is not yet.
  template <class T, class Opener>
  absl::StatusOr<T> Shared(T& kept, const Opener& open) const;

  std::shared_ptr<const Api> api_;
  int ordinal_ = 0;
  void* context_ = nullptr;
  std::string name_, architecture_;
  int units_ = 0;
  int unit_shared_bytes_ = 0;  // shared memory of a multiprocessor
  mutable absl::Mutex libraries_mutex_;
  mutable std::shared_ptr<const Blas> blas_;
  mutable std::shared_ptr<const Dnn> dnn_;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_DEVICE_H_
