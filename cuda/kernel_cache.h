// What was compiled and what was chosen by timing, kept in a folder, so that a
// program that was loaded before is loaded in a moment, and with the same
// kernels. Programs of several processes may share a folder. Or it is kept in
// memory, for programs of one process that have kernels in common.
#ifndef ISOMER_CUDA_KERNEL_CACHE_H_
#define ISOMER_CUDA_KERNEL_CACHE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace isomer::cuda {

class KernelCache {
 public:
  // Reads what is in the folder, which is made if it is not there.
  static absl::StatusOr<std::shared_ptr<KernelCache>> Open(
      const std::string& folder);

  static std::shared_ptr<KernelCache> InMemory();

  // Machine code, by all that it depends on.
  std::optional<std::string> Image(const std::string& key) const;
  // What cannot be written is compiled again another time.
  void AddImage(const std::string& key, absl::string_view code) const;

  // The variant that was the fastest, by the device, the program and the
  // kernel.
  std::optional<std::string> Choice(absl::string_view key) const;
  void AddChoice(absl::string_view key, const std::string& variant);
  // Writes the choices, with those that others have written since.
  absl::Status Save() const;

 private:
  explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;  // "": in memory
  mutable absl::Mutex mutex_;
  mutable std::map<std::string, std::string> images_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> choices_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_KERNEL_CACHE_H_
