// The fast CPU evaluator: products and convolutions go to OpenBLAS, all else to
// the reference kernels. It is what checks, comparisons and the folding of
// constants use; the reference decides what is right.
#ifndef ISOMER_RUNTIME_FAST_H_
#define ISOMER_RUNTIME_FAST_H_

#include "graph/evaluate.h"

namespace isomer::runtime {

// Runs operators for ir::Evaluate; `threads` bounds the cores used (0: all).
ir::RunNode FastKernels(int threads = 0);

}  // namespace isomer::runtime

#endif  // ISOMER_RUNTIME_FAST_H_
