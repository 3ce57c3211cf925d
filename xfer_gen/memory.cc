#include "xfer_gen/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

// Of jemalloc, where the program is linked with it.
extern "C" int mallctl(const char* name, void* old, size_t* old_size,
                       void* value, size_t size) __attribute__((weak));

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

void GiveBackFreed() {
  if (mallctl == nullptr) {
    malloc_trim(0);
    return;
  }
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // of all arenas
}

}  // namespace isomer::gen
