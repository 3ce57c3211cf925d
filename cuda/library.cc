// The dynamic loader, confined.
#include "cuda/library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::cuda {

absl::StatusOr<Library> Library::Open(
    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const char* folder : {"", "/usr/local/cuda/lib64/",
                               "/usr/local/cuda/targets/"
                               "x86_64-linux/lib/"}) {
      Library library;
      library.name_ = absl::StrCat(folder, name);
      library.handle_ = dlopen(library.name_.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library.handle_ != nullptr) return library;
    }
  }
  return absl::NotFoundError(absl::StrCat("CUDA: there is no library ",
                                          absl::StrJoin(names, " or "),
                                          " on this machine"));
}

absl::Status Library::FindSymbol(const char* name, void** found) const {
  *found = dlsym(handle_, name);
  if (*found != nullptr) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("CUDA: ", name_, " has no function ",
                                          name, "; it may be too old"));
}

}  // namespace isomer::cuda
