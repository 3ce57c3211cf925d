// How long a program will take, by what a profile knows of its kernels.
#ifndef ISOMER_CUDA_PREDICTION_H_
#define ISOMER_CUDA_PREDICTION_H_

#include "cost_model/profile.h"
#include "cuda/program.h"

namespace isomer::cuda {

struct Prediction {
  double us = 0;              // on one stream
  double scheduled_us = 0;    // on as many as the program has, if that helps
  double measured_share = 0;  // of the time, from 0 to 1
};

// The sum of the kernels' times. What the profile does not have takes what the
// cost model says, times a factor: that of the kernels of its family that are
// measured, or of all that are, between what they take and what the cost model
// says of them. So a few kernels that are not known do not tip the scales.
Prediction Predict(const Program& program, const cost::Profile& profile);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PREDICTION_H_
