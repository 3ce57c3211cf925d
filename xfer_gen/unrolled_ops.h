// The code of operators at given types, which several templates may use: a
// convolution alone, and one with a function after it. The last few are kept.
#ifndef ISOMER_XFER_GEN_UNROLLED_OPS_H_
#define ISOMER_XFER_GEN_UNROLLED_OPS_H_

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/expand.h"
#include "ops/op_def.h"
#include "ops/tensor_type.h"
#include "xfer_gen/unroll.h"

namespace isomer::gen {

// May be used from several threads.
class UnrolledOps {
 public:
  // What Unroll gives.
  absl::StatusOr<std::shared_ptr<const Code>> Of(
      const OpDef& op, absl::Span<const TensorType> types, const Attrs& attrs);

  // The graph that a composite operator stands for.
  absl::StatusOr<std::shared_ptr<const ir::Graph>> Expand(
      const OpDef& op, absl::Span<const TensorType> types, const Attrs& attrs);

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<const Code> code;
  };

  std::mutex mutex_;
  std::deque<Kept> kept_;  // the oldest first
  ir::Expansions expansions_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_UNROLLED_OPS_H_
