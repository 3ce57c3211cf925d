// POSIX mmap behind a shared pointer whose deleter unmaps.
#include "onnx/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "ops/status.h"

namespace isomer::onnx {
namespace {

absl::Status FileError(const std::string& path, absl::string_view what) {
  std::string message = absl::StrCat(path, ": ", what, ": ", strerror(errno));
  return errno == ENOENT ? absl::NotFoundError(message)
                         : absl::InvalidArgumentError(message);
}

absl::StatusOr<SharedBytes> MapOpenFile(const std::string& path, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return FileError(path, "cannot read");
  if (!S_ISREG(info.st_mode)) return Invalid(path, ": is not a regular file");
  const size_t size = info.st_size;
  if (size == 0) return SharedBytes{};
  void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) return FileError(path, "cannot map into memory");
  std::shared_ptr<const void> owner(
      start, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return SharedBytes{std::move(owner), {static_cast<char*>(start), size}};
}

}  // namespace

absl::StatusOr<SharedBytes> MapFile(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for its other end.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return FileError(path, "cannot open");
  absl::StatusOr<SharedBytes> bytes = MapOpenFile(path, fd);
  close(fd);  // the mapping stays
  return bytes;
}

}  // namespace isomer::onnx
