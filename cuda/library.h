// A shared library that is opened by name while the program runs, so that one
// program starts on every machine, whether the library is there or not.
#ifndef ISOMER_CUDA_LIBRARY_H_
#define ISOMER_CUDA_LIBRARY_H_

#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace isomer::cuda {

class Library {
 public:
  // Opens the first of the names that exists, here or in one of the places
  // where CUDA is usually installed. It stays open for good.
  static absl::StatusOr<Library> Open(std::initializer_list<const char*> names);

  // Points `function` at the function of that name.
  template <class F>
  absl::Status Find(const char* name, F** function) const {
    void* found = nullptr;
    absl::Status status = FindSymbol(name, &found);
    *function = reinterpret_cast<F*>(found);
    return status;
  }

 private:
  absl::Status FindSymbol(const char* name, void** found) const;

  std::string name_;
  void* handle_ = nullptr;
};

// Finds functions one after the other, up to the first that is missing.
class Functions {
 public:
  explicit Functions(const Library& library) : library_(library) {}

  template <class F>
  void Find(const char* name, F** function) {
    if (status_.ok()) status_ = library_.Find(name, function);
  }
  const absl::Status& status() const { return status_; }

 private:
  const Library& library_;
  absl::Status status_;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_LIBRARY_H_
