#include "cuda/prediction.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace isomer::cuda {

namespace {

struct Sums {
  double measured = 0, said = 0;

  double factor() const { return said > 0 ? measured / said : 1; }
};

// The share of the device that a step wants, if it runs as it did when it was
// measured. Nothing is known of libraries.
double ShareOf(const Step& step, absl::string_view measured, int units) {
  constexpr double kOfLibraries = 0.5;
  if (step.variants.empty()) return 1;
  auto it = absl::c_find_if(
      step.variants, [&](const Variant& v) { return v.name == measured; });
  if (it == step.variants.end()) it = step.variants.begin();
  if (it->library || it->dnn) return kOfLibraries;
  const absl::StatusOr<KernelSource> kernel = it->source();
  if (!kernel.ok()) return 1;
  const auto [x, y, z] = kernel->grid;
  return std::min(1.0, 1.0 * x * y * z / (kernel->fill * units));
}

// Kernels that one step does take its time together; those that several do
// share it.
std::vector<Schedule::Load> Loads(const Program& program,
                                  const cost::Profile& profile,
                                  const std::map<std::string, double>& us) {
  std::map<std::pair<int, std::string>, int> shares;
  for (const Step& s : program.steps) ++shares[{s.kernel, s.signature}];
  std::vector<Schedule::Load> out;
  for (const Step& s : program.steps) {
    Schedule::Load load;
    absl::string_view variant;
    for (absl::string_view k : absl::StrSplit(s.signature, "; ")) {
      const auto it = us.find(std::string(k));
      if (it != us.end()) load.us += it->second;
      const cost::Measurement* m = profile.Find(k);
      if (m != nullptr) variant = m->what;
    }
    load.us /= shares[{s.kernel, s.signature}];
    load.share = ShareOf(s, variant, program.units);
    out.push_back(load);
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
                         : schedule.SideBySide(Loads(program, profile, times));
  return out;
}

}  // namespace isomer::cuda
