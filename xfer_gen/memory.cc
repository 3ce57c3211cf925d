#include "xfer_gen/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

namespace isomer::gen {

int64_t ResidentBytes() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(
      std::fopen("/proc/self/statm", "r"), std::fclose);
  int64_t mapped = 0, resident = 0;
  if (file == nullptr ||
      std::fscanf(file.get(), "%ld %ld", &mapped, &resident) != 2) {
    return 0;
  }
  return resident * sysconf(_SC_PAGESIZE);
}

void GiveBackFreed() { malloc_trim(0); }

}  // namespace isomer::gen
