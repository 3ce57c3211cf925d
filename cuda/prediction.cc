#include "cuda/prediction.h"

#include <map>
#include <string>

namespace isomer::cuda {

namespace {

struct Sums {
  double measured = 0, said = 0;

  double factor() const { return said > 0 ? measured / said : 1; }
};

}  // namespace

Prediction Predict(absl::Span<const PlannedKernel> kernels,
                   const cost::Profile& profile) {
  std::map<std::string, Sums> families;
  Sums all;
  for (const PlannedKernel& k : kernels) {
    const cost::Measurement* m = profile.Find(k.signature);
    if (m == nullptr) continue;
    const double us = static_cast<double>(m->time_ps) * 1e-6;
    for (Sums* s : {&families[k.family], &all}) {
      s->measured += us;
      s->said += k.us;
    }
  }
  Prediction out{all.measured};
  for (const PlannedKernel& k : kernels) {
    if (profile.Find(k.signature) != nullptr) continue;
    const auto it = families.find(k.family);
    out.us += k.us * (it == families.end() ? all : it->second).factor();
  }
  out.measured_share = out.us > 0 ? all.measured / out.us : 0;
  return out;
}

}  // namespace isomer::cuda
