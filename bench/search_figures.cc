// What the search finds on a model, as one line of a table; and what each part
// of it contributes, measured by leaving that part out.
//
//   search_figures [--ablation] [--threads N] MODEL.onnx
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cost_model/cost.h"
#include "onnx/import.h"
#include "ops/status.h"
#include "search/optimize.h"

namespace isomer {
namespace {

using Switch =
    std::pair<const char*, std::function<void(search::SearchOptions&)>>;

std::vector<Switch> Switches() {
  using O = search::SearchOptions;
  return {{"everything", [](O&) {}},
          {"no relaxation (alpha 1)", [](O& o) { o.relaxed = false; }},
          {"no steps together", [](O& o) { o.together = false; }},
          {"no n-ary siblings", [](O& o) { o.siblings = false; }},
          {"no splitting", [](O& o) { o.split = false; }},
          {"no minimum cuts", [](O& o) { o.flow = false; }},
          {"no repeating", [](O& o) { o.repeat = false; }},
          {"no seams", [](O& o) { o.seams = false; }}};
}

// Seconds of processor time of this process, all threads together.
double CpuSeconds() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Memory that is not mapped from files, in MB: the most there has been is not
// known apart, so this is asked at the end of the search.
double AnonymousMb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kb = 0;
  while (status >> word) {
    if (word == "RssAnon:") status >> kb;
  }
  return kb / 1000;
}

absl::Status Run(const std::string& path, bool ablation, int threads) {
  const absl::Time start = absl::Now();
  ASSIGN_OR_RETURN(onnx::ImportedModel model, onnx::ImportFile(path));
  ASSIGN_OR_RETURN(cost::Target target, cost::Target::Named("h200"));
  ASSIGN_OR_RETURN(cost::CostModel cost,
                   cost::CostModel::Create(std::move(target)));
  std::vector<std::string> refused;
  ASSIGN_OR_RETURN(search::RuleBook book, search::RuleBook::BuiltIn(refused));
  for (const auto& [name, change] : Switches()) {
    search::SearchOptions options;
    options.threads = threads;
    options.limits.time = absl::Seconds(10);
    change(options);
    const absl::Time begin = ablation ? absl::Now() : start;
    const double cpu = CpuSeconds();
    ASSIGN_OR_RETURN(search::SearchResult r,
                     search::Optimize(model.graph, book, cost, options));
    const double wall = absl::ToDoubleSeconds(absl::Now() - begin);
    const double before = r.before.cost().time_us();
    const double after = r.after.cost().time_us();
    std::string label = path.substr(path.rfind('/') + 1);
    label = ablation ? name : label.substr(0, label.rfind(".onnx"));
    std::printf(
        "| %-32s | %8.1f | %8.1f | %5.2fx | %6.2f | %6.2f | %6lld | "
        "%5.0f |\n",
        label.c_str(), before, after, before / after, wall,
        CpuSeconds() - (ablation ? cpu : 0),
        static_cast<long long>(r.expansions), AnonymousMb());
    std::fflush(stdout);
    if (!ablation) break;
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace isomer

int main(int argc, char** argv) {
  bool ablation = false;
  int threads = 0;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--ablation") == 0) {
      ablation = true;
    } else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else {
      path = argv[i];
    }
  }
  if (path.empty()) {
    std::fprintf(stderr,
                 "usage: search_figures [--ablation] [--threads N] MODEL\n");
    return 2;
  }
  const absl::Status status = isomer::Run(path, ablation, threads);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", path.c_str(), status.ToString().c_str());
  return 1;
}
