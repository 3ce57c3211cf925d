// The figures of the search, as rows of tables.
//
//   search_figures model MODEL.onnx [TARGET]
//                                        a model in and out, in one process
//   search_figures ablation MODEL.onnx [RULES]
//                                        what each part of the search brings,
//                                        and what more rules would
//   search_figures taso RULES            TASO's graphs: its search over RULES
//                                        and ours, on the same costs
//   search_figures growth                twice the layers, twice the threads
//   search_figures expansion LAYERS      what an expansion takes
//   search_figures certify MODEL.onnx    a certificate written and checked
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/certificate.h"
#include "api/isomer.h"
#include "bench/taso_graphs.h"
#include "cost_model/cost.h"
#include "onnx/import.h"
#include "ops/status.h"
#include "search/optimize.h"

namespace isomer::bench {
namespace {

constexpr absl::Duration kBudget = absl::Seconds(10);

// Wall and processor time since it was made.
class Clock {
 public:
  double wall() const { return absl::ToDoubleSeconds(absl::Now() - start_); }
  double cpu() const { return CpuSeconds() - cpu_; }

 private:
  static double CpuSeconds() {
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
  }

  const absl::Time start_ = absl::Now();
  const double cpu_ = CpuSeconds();
};

// A line of what the system knows of this process, in MB.
double StatusMb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kb = 0;
  while (status >> word) {
    if (word == name) status >> kb;
  }
  return kb / 1000;
}

// The most memory that this process has had, mapped files included, in MB.
double PeakMb() { return StatusMb("VmHWM:"); }

std::string NameOf(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return file.substr(0, file.rfind(".onnx"));
}

absl::StatusOr<cost::CostModel> H200() {
  ASSIGN_OR_RETURN(cost::Target target, cost::Target::Named("h200"));
  return cost::CostModel::Create(std::move(target));
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return Invalid("cannot read ", path);
  return text.str();
}

absl::StatusOr<search::RuleBook> OurRules() {
  std::vector<std::string> refused;
  return search::RuleBook::BuiltIn(refused);
}

// ---- Models

// Products and convolutions among the nodes that are written.
absl::StatusOr<int64_t> Products(const Graph& graph) {
  ASSIGN_OR_RETURN(const auto operators, graph.OnnxOperators());
  int64_t n = 0;
  for (const char* name : {"Conv", "Gemm", "MatMul"}) {
    const auto it = operators.find(name);
    if (it != operators.end()) n += it->second;
  }
  return n;
}

absl::Status Model(const std::string& path, const std::string& target) {
  const Clock clock;
  ASSIGN_OR_RETURN(const Graph graph, Graph::FromOnnx(path));
  OptimizeOptions options;
  options.target = target;
  options.time_limit = kBudget;
  ASSIGN_OR_RETURN(const OptimizeResult r, graph.optimize(options));
  const std::string out = path + ".optimized";
  RETURN_IF_ERROR(r.graph.ToOnnx(out));
  std::error_code ignored;
  std::filesystem::remove(out, ignored);
  const double wall = clock.wall(), cpu = clock.cpu();
  const double mb = PeakMb() - r.before.weight_bytes * 1e-6;
  ASSIGN_OR_RETURN(const int64_t before, Products(graph));
  ASSIGN_OR_RETURN(const int64_t after, Products(r.graph));
  std::printf(
      "| %-32s | %8.1f | %8.1f | %5.2fx | %6.2f | %6.2f | %6lld | %8lld | "
      "%5lld | %5.0f |\n",
      NameOf(path).c_str(), r.before.time_us, r.after.time_us,
      r.before.time_us / r.after.time_us, wall, cpu,
      static_cast<long long>(r.expansions), static_cast<long long>(before),
      static_cast<long long>(after), mb);
  return absl::OkStatus();
}

// ---- Ablation

using Switch =
    std::pair<const char*, std::function<void(search::SearchOptions&)>>;

std::vector<Switch> Switches() {
  using O = search::SearchOptions;
  return {{"everything", [](O&) {}},
          {"no relaxation (alpha 1)", [](O& o) { o.relaxed = false; }},
          {"nothing before parts", [](O& o) { o.open = false; }},
          {"no steps together", [](O& o) { o.together = false; }},
          {"no n-ary siblings", [](O& o) { o.siblings = false; }},
          {"no splitting", [](O& o) { o.split = false; }},
          {"no minimum cuts", [](O& o) { o.flow = false; }},
          {"no repeating", [](O& o) { o.repeat = false; }},
          {"no seams", [](O& o) { o.seams = false; }}};
}

void PrintSearch(const std::string& label, const search::SearchResult& r,
                 double wall, double cpu) {
  const double before = r.before.cost().time_us();
  const double after = r.after.cost().time_us();
  std::printf("| %-32s | %8.1f | %8.1f | %5.2fx | %6.3f | %6.3f | %6lld |\n",
              label.c_str(), before, after, before / after, wall, cpu,
              static_cast<long long>(r.expansions));
  std::fflush(stdout);
}

// Searches so often and prints the fastest.
absl::Status Search(const std::string& label, const ir::Graph& graph,
                    const search::RuleBook& book,
                    const search::SearchOptions& options, int times = 1) {
  double wall = 1e9, cpu = 1e9;
  for (int i = 0; i < times; ++i) {
    ASSIGN_OR_RETURN(const cost::CostModel cost, H200());
    const Clock clock;
    ASSIGN_OR_RETURN(const search::SearchResult r,
                     search::Optimize(graph, book, cost, options));
    wall = std::min(wall, clock.wall());
    cpu = std::min(cpu, clock.cpu());
    if (i == times - 1) PrintSearch(label, r, wall, cpu);
  }
  return absl::OkStatus();
}

absl::Status Ablation(const std::string& path, const std::string& more) {
  ASSIGN_OR_RETURN(const onnx::ImportedModel model, onnx::ImportFile(path));
  ASSIGN_OR_RETURN(const search::RuleBook book, OurRules());
  for (const auto& [name, change] : Switches()) {
    search::SearchOptions options;
    options.limits.time = kBudget;
    change(options);
    RETURN_IF_ERROR(Search(name, model.graph, book, options));
  }
  if (more.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, ReadText(more));
  std::vector<std::string> refused;
  ASSIGN_OR_RETURN(const search::RuleBook both,
                   search::RuleBook::FromText(
                       absl::StrCat(search::BuiltInRules(), text), refused));
  search::SearchOptions options;
  options.limits.time = kBudget;
  return Search(absl::StrCat("and ", NameOf(more)), model.graph, both, options);
}

// ---- TASO's graphs

// TASO's rules, and of ours the one that it has built in.
absl::StatusOr<search::RuleBook> TasoRules(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  std::vector<std::string> refused;
  ASSIGN_OR_RETURN(search::RuleBook book,
                   search::RuleBook::FromText(text, refused));
  for (const std::string& line : refused) {
    std::fprintf(stderr, "not used: %s\n", line.c_str());
  }
  ASSIGN_OR_RETURN(const search::RuleBook ours, OurRules());
  for (const search::BookRule& r : ours.rules()) {
    if (r.rule.name() == "merge_unequal_convs") book.Add(r);
  }
  return book;
}

absl::Status Taso(const std::string& rules) {
  ASSIGN_OR_RETURN(const search::RuleBook theirs, TasoRules(rules));
  ASSIGN_OR_RETURN(const search::RuleBook ours, OurRules());
  for (const auto& [name, graph] : TasoGraphs()) {
    for (const bool baseline : {true, false}) {
      search::SearchOptions options;
      if (baseline) options = search::PlainSearch();
      if (!baseline) options.limits.time = kBudget;
      RETURN_IF_ERROR(Search(name + (baseline ? ", TASO's search" : ", Isomer"),
                             graph, baseline ? theirs : ours, options));
    }
  }
  return absl::OkStatus();
}

// ---- Growth

absl::Status Growth() {
  ASSIGN_OR_RETURN(const search::RuleBook book, OurRules());
  for (const auto& [layers, threads] :
       std::vector<std::pair<int, int>>{{12, 1}, {24, 1}, {12, 2}, {24, 2}}) {
    search::SearchOptions options;
    options.threads = threads;
    RETURN_IF_ERROR(Search(std::to_string(layers) + " layers, " +
                               std::to_string(threads) + " threads",
                           Transformer(layers), book, options, 9));
  }
  // The search itself, without what is done once: expansions per second.
  const ir::Graph graph = NasNetA();
  for (int threads : {1, 2}) {
    search::SearchOptions options = search::PlainSearch(60);
    options.batch = 4;
    options.threads = threads;
    RETURN_IF_ERROR(
        Search("NasNet-A, plain, " + std::to_string(threads) + " threads",
               graph, book, options));
  }
  return absl::OkStatus();
}

// Every layer is searched by itself, so that there are more expansions the more
// layers there are; what else is done with the model counts as well.
absl::Status Expansion(const std::string& layers) {
  int n = 0;
  if (!absl::SimpleAtoi(layers, &n) || n < 1) {
    return Invalid("'", layers, "' is no number of layers");
  }
  ASSIGN_OR_RETURN(const search::RuleBook book, OurRules());
  ASSIGN_OR_RETURN(const cost::CostModel cost, H200());
  const ir::Graph graph = Transformer(n);
  search::SearchOptions options;
  options.threads = 1;
  options.repeat = false;
  const double mb = StatusMb("VmRSS:");
  const Clock clock;
  ASSIGN_OR_RETURN(const search::SearchResult r,
                   search::Optimize(graph, book, cost, options));
  const double cpu = clock.cpu();
  std::printf("| %-32s | %6lld | %8.3f | %8.1f |\n",
              absl::StrCat(n, " layers").c_str(),
              static_cast<long long>(r.expansions), 1e3 * cpu / r.expansions,
              1e3 * (PeakMb() - mb) / r.expansions);
  return absl::OkStatus();
}

// ---- Certificates

absl::Status CertifyModel(const std::string& path) {
  const std::string out = path + ".certified";
  const Clock writing;
  ASSIGN_OR_RETURN(const Graph graph, Graph::FromOnnx(path));
  ASSIGN_OR_RETURN(const OptimizeResult r,
                   graph.optimize({.time_limit = kBudget}));
  ASSIGN_OR_RETURN(const Certified certified, Certify(path, r));
  RETURN_IF_ERROR(certified.graph.ToOnnx(out));
  const double wall = writing.wall(), cpu = writing.cpu();
  const Clock checking;
  ASSIGN_OR_RETURN(const Certificate certificate,
                   ParseCertificate(certified.text));
  RETURN_IF_ERROR(CheckCertificate(path, out, certificate).status());
  std::printf("| %-32s | %6.2f | %6.2f | %6.2f | %6.2f |\n",
              NameOf(path).c_str(), wall, cpu, checking.wall(), checking.cpu());
  std::error_code ignored;
  std::filesystem::remove(out, ignored);
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& args) {
  if (args.size() == 2 && args[0] == "model") return Model(args[1], "h200");
  if (args.size() == 3 && args[0] == "model") return Model(args[1], args[2]);
  if (args.size() == 2 && args[0] == "ablation") return Ablation(args[1], "");
  if (args.size() == 3 && args[0] == "ablation") {
    return Ablation(args[1], args[2]);
  }
  if (args.size() == 2 && args[0] == "taso") return Taso(args[1]);
  if (args.size() == 1 && args[0] == "growth") return Growth();
  if (args.size() == 2 && args[0] == "expansion") return Expansion(args[1]);
  if (args.size() == 2 && args[0] == "certify") return CertifyModel(args[1]);
  return Invalid(
      "usage: search_figures model MODEL [TARGET], ablation MODEL [RULES], "
      "taso RULES, "
      "growth, expansion LAYERS, or certify MODEL");
}

}  // namespace
}  // namespace isomer::bench

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const absl::Status status = isomer::bench::Run(args);
  if (status.ok()) return 0;
  std::fprintf(stderr, "search_figures: %s\n", status.ToString().c_str());
  return 1;
}
