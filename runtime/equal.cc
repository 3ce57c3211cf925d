// In double precision an error of rounding and a wrong result are far apart.
#include "runtime/equal.h"

#include <map>
#include <string>
#include <vector>

#include "graph/evaluate.h"
#include "runtime/compare.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"

namespace isomer::runtime {

namespace {

constexpr double kTolerance = 1e-7;

}  // namespace

bool EqualInDouble(const ir::Graph& a, const ir::Graph& b) {
  absl::StatusOr<std::map<std::string, Tensor>> inputs = RandomInputs(a, 1);
  if (!inputs.ok()) return false;
  for (auto& [name, tensor] : *inputs) {
    absl::StatusOr<Tensor> exact = Reinterpret(tensor, Interp::kReal);
    if (!exact.ok()) return false;
    tensor = *std::move(exact);
  }
  const ir::EvaluateOptions how{.interp = Interp::kReal, .run = FastKernels()};
  const absl::StatusOr<std::vector<Tensor>> x = ir::Evaluate(a, *inputs, how),
                                            y = ir::Evaluate(b, *inputs, how);
  if (!x.ok() || !y.ok() || x->size() != y->size()) return false;
  for (size_t i = 0; i < x->size(); ++i) {
    if (!(RelativeError((*y)[i], (*x)[i]) <= kTolerance)) return false;
  }
  return true;
}

}  // namespace isomer::runtime
