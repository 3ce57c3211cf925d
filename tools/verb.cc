// What the verbs share: dimension flags and progress.
#include "tools/verb.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "ops/status.h"

namespace isomer::cli {

std::vector<Flag> ShapeFlags() {
  return {{"shape", "INPUT:1,3,224,224",
           "the shape of an input whose dimensions the model leaves open"},
          {"dim", "NAME=N", "the size of a named dimension"}};
}

absl::StatusOr<onnx::ImportOptions> ImportOptionsFrom(const Args& args) {
  onnx::ImportOptions options;
  for (const std::string& text : args.All("shape")) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) {
      return Invalid("flag --shape is '", text,
                     "'; expected INPUT:1,3,224,224");
    }
    std::vector<int64_t> shape;
    const std::string sizes = text.substr(colon + 1);
    for (absl::string_view d : absl::StrSplit(sizes, ',', absl::SkipEmpty())) {
      int64_t n = 0;
      if (!absl::SimpleAtoi(d, &n) || n < 0) {
        return Invalid("flag --shape is '", text, "'; '", d, "' is no size");
      }
      shape.push_back(n);
    }
    options.shapes[text.substr(0, colon)] = shape;
  }
  for (const std::string& text : args.All("dim")) {
    const std::vector<std::string> parts = absl::StrSplit(text, '=');
    int64_t n = 0;
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &n) || n < 0) {
      return Invalid("flag --dim is '", text, "'; expected NAME=N");
    }
    options.dims[parts[0]] = n;
  }
  return options;
}

absl::StatusOr<std::shared_ptr<cuda::KernelCache>> CacheFrom(const Args& args) {
  if (!args.Has("cache")) return cuda::KernelCache::InMemory();
  return cuda::KernelCache::Open(args.String("cache"));
}

void PrintFixedDims(const std::vector<std::string>& dims) {
  for (const std::string& dim : dims) {
    absl::PrintF(
        "dimension '%s' is a number now: what is new may depend on it\n", dim);
  }
}

namespace {

std::atomic<bool> interrupted{false};

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)), start_(NowMs()) {
  std::signal(SIGINT, [](int) { interrupted = true; });
}

Progress::~Progress() {
  if (shown_ > 0) std::fprintf(stderr, "\r\033[K");
  std::signal(SIGINT, SIG_DFL);
}

bool Progress::operator()(int64_t done, int64_t total) {
  return Line(absl::StrFormat("%d of %d", done, total));
}

bool Progress::Line(const std::string& text) {
  const int64_t now = NowMs();
  if (isatty(2) && now - start_ > 1000 && now - shown_ > 100) {
    shown_ = now;
    std::fprintf(stderr, "\r\033[K%s: %s, %.1f s", what_.c_str(), text.c_str(),
                 static_cast<double>(now - start_) / 1000);
    std::fflush(stderr);
  }
  return !interrupted;
}

}  // namespace isomer::cli
