// What the process holds of the machine's memory, as the system counts it: the
// one number that a limit of memory can be held against.
#ifndef ISOMER_XFER_GEN_MEMORY_H_
#define ISOMER_XFER_GEN_MEMORY_H_

#include <cstdint>

namespace isomer::gen {

// The bytes that are resident now; 0 where the system does not say.
int64_t ResidentBytes();

// Gives what was freed back to the system.
void GiveBackFreed();

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_MEMORY_H_
