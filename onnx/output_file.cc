// POSIX calls; the temporary name carries the process id, and O_EXCL settles
// who gets it.
#include "onnx/output_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "ops/status.h"

namespace isomer::onnx {
namespace {

absl::Status FileError(const std::string& path, absl::string_view what) {
  return Invalid(path, ": ", what, ": ", strerror(errno));
}

// One call writes at most this much: what fits a cache is written fastest.
constexpr size_t kMaxWrite = size_t{2} << 20;

// Brings mapped pages in at once; one by one, their faults would take as long
// as the writing itself. Where it does not work, nothing is lost but time.
void Populate(absl::string_view bytes) {
#ifdef MADV_POPULATE_READ
  if (bytes.size() < kMaxWrite) return;
  const uintptr_t page = sysconf(_SC_PAGESIZE);
  const uintptr_t start = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t aligned = start & ~(page - 1);
  madvise(reinterpret_cast<void*>(aligned), start + bytes.size() - aligned,
          MADV_POPULATE_READ);
#else
  static_cast<void>(bytes);
#endif
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(
    const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Invalid(path, ": is not a regular file, so it is not replaced");
  }
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string temporary =
        absl::StrCat(path, ".", getpid(), ".", attempt, ".tmp");
    const int fd =
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      return std::unique_ptr<OutputFile>(
          new OutputFile(path, std::move(temporary), fd));
    }
    if (errno != EEXIST) return FileError(path, "cannot write");
  }
  return Invalid(path, ": too many temporary files beside it");
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const absl::string_view slice = bytes.substr(0, kMaxWrite);
    Populate(slice);
    const ssize_t written = write(fd_, slice.data(), slice.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(path_, "cannot write");
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Finish() {
  const int result = close(fd_);
  fd_ = -1;
  return result == 0 ? absl::OkStatus() : FileError(path_, "cannot write");
}

absl::Status OutputFile::Commit() {
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return FileError(path_, "cannot rename into place");
  }
  temporary_.clear();
  return absl::OkStatus();
}

}  // namespace isomer::onnx
