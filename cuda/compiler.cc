// The few functions of NVRTC that are used, declared here so that no toolkit is
// needed to build.
#include "cuda/compiler.h"

#include "absl/strings/str_cat.h"
#include "cuda/library.h"
#include "ops/status.h"

namespace isomer::cuda {

struct Compiler::Api {
  using Program = void*;
  int (*version)(int*, int*);
  int (*create)(Program*, const char* source, const char* name, int headers,
                const char* const*, const char* const*);
  int (*destroy)(Program*);
  int (*compile)(Program, int options, const char* const*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, size_t*);
  int (*cubin)(Program, char*);
};

absl::StatusOr<Compiler> Compiler::Open() {
  ASSIGN_OR_RETURN(const Library library,
                   Library::Open({"libnvrtc.so.13", "libnvrtc.so.12"}));
  auto api = std::make_shared<Api>();
  RETURN_IF_ERROR(library.Find("nvrtcVersion", &api->version));
  RETURN_IF_ERROR(library.Find("nvrtcCreateProgram", &api->create));
  RETURN_IF_ERROR(library.Find("nvrtcDestroyProgram", &api->destroy));
  RETURN_IF_ERROR(library.Find("nvrtcCompileProgram", &api->compile));
  RETURN_IF_ERROR(library.Find("nvrtcGetProgramLogSize", &api->log_size));
  RETURN_IF_ERROR(library.Find("nvrtcGetProgramLog", &api->log));
  RETURN_IF_ERROR(library.Find("nvrtcGetCUBINSize", &api->cubin_size));
  RETURN_IF_ERROR(library.Find("nvrtcGetCUBIN", &api->cubin));
  Compiler compiler;
  compiler.api_ = std::move(api);
  return compiler;
}

absl::StatusOr<std::string> Compiler::Compile(
    const std::string& source, const std::string& architecture) const {
  Api::Program program = nullptr;
  if (api_->create(&program, source.c_str(), "isomer.cu", 0, nullptr,
                   nullptr) != 0) {
    return absl::InternalError("NVRTC: cannot create a program");
  }
  const std::string target = absl::StrCat("--gpu-architecture=", architecture);
  const char* options[] = {target.c_str(), "--std=c++17", "-default-device"};
  const int failed = api_->compile(program, 3, options);
  std::string out;
  size_t size = 0;
  if (failed != 0) {
    api_->log_size(program, &size);
    out.resize(size);
    if (size > 0) api_->log(program, out.data());
  } else if (api_->cubin_size(program, &size) == 0) {
    out.resize(size);
    api_->cubin(program, out.data());
  }
  api_->destroy(&program);
  if (failed != 0) {
    return absl::InternalError(absl::StrCat("NVRTC: ", out.c_str()));
  }
  return out;
}

std::string Compiler::version() const {
  int major = 0, minor = 0;
  api_->version(&major, &minor);
  return absl::StrCat(major, ".", minor);
}

}  // namespace isomer::cuda
