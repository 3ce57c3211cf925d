#include "cuda/prediction.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace isomer::cuda {

namespace {

struct Sums {
  double measured = 0, said = 0;

  double factor() const { return said > 0 ? measured / said : 1; }
};

// What each step takes. Kernels that one step does take its time together;
// those that several do share it.
std::vector<double> StepTimes(const Program& program,
                              const std::map<std::string, double>& kernels) {
  std::map<std::pair<int, std::string>, int> shares;
  for (const Step& s : program.steps) ++shares[{s.kernel, s.signature}];
  std::vector<double> out;
  for (const Step& s : program.steps) {
    double us = 0;
    for (absl::string_view k : absl::StrSplit(s.signature, "; ")) {
      const auto it = kernels.find(std::string(k));
      if (it != kernels.end()) us += it->second;
    }
    out.push_back(us / shares[{s.kernel, s.signature}]);
  }
  return out;
}

}  // namespace

Prediction Predict(const Program& program, const cost::Profile& profile) {
  std::map<std::string, Sums> families;
  Sums all;
  std::map<std::string, double> times;  // by signature
  for (const PlannedKernel& k : program.planned) {
    const cost::Measurement* m = profile.Find(k.signature);
    if (m == nullptr) continue;
    const double us = static_cast<double>(m->time_ps) * 1e-6;
    times[k.signature] = us;
    for (Sums* s : {&families[k.family], &all}) {
      s->measured += us;
      s->said += k.us;
    }
  }
  Prediction out{all.measured};
  for (const PlannedKernel& k : program.planned) {
    if (profile.Find(k.signature) != nullptr) continue;
    const auto it = families.find(k.family);
    const double us = k.us * (it == families.end() ? all : it->second).factor();
    times[k.signature] = us;
    out.us += us;
  }
  out.measured_share = out.us > 0 ? all.measured / out.us : 0;
  const Schedule& schedule = program.schedule;
  out.scheduled_us = schedule.streams == 1
                         ? out.us
                         : schedule.SideBySide(StepTimes(program, times));
  return out;
}

}  // namespace isomer::cuda
