// What a kernel that the CPU runs asks of the emulator. Both sides include it.
#ifndef ISOMER_CUDA_EMULATOR_HOST_H_
#define ISOMER_CUDA_EMULATOR_HOST_H_

// Names are those of CUDA on the kernel's side, so they stand in no namespace.
struct IsoIndex {
  unsigned x, y, z;
};

// An operand of an asm statement: where it is written, or what is read.
struct IsoOperand {
  void* at;  // null: it is read only
  unsigned size;
  unsigned long long value;
};

struct IsoHost {
  IsoIndex thread, block, block_size, grid_size;
  void (*sync_threads)();
  void (*sync_warp)();
  unsigned (*to_shared)(const void*);
  // What another lane of the warp gives.
  unsigned long long (*shuffle)(unsigned long long bits, int lane);
  // Dynamic shared memory; what is declared at `site`.
  void* (*dynamic_shared)();
  void* (*shared)(const void* site, unsigned size, unsigned alignment);
  // Does what an asm statement says. `parsed` is the statement's own, null at
  // first.
  void (*run)(const char* text, const void** parsed, IsoOperand*);
};

#endif  // ISOMER_CUDA_EMULATOR_HOST_H_
