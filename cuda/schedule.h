// Which steps of a program may run side by side: on which of a few streams each
// one runs, and which steps on other streams it waits for.
#ifndef ISOMER_CUDA_SCHEDULE_H_
#define ISOMER_CUDA_SCHEDULE_H_

#include "cuda/program.h"

namespace isomer::cuda {

// Places steps one by one where they can start first, if they take as long as
// the cost model says. One stream where more would save next to nothing.
Schedule MakeSchedule(const Program& program, int max_streams);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_SCHEDULE_H_
