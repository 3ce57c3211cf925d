// The C interface, over the C++ one.
#include "api/isomer_c.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "api/isomer.h"
#include "ops/status.h"

namespace isomer {

namespace {

char* Copy(absl::string_view text) {
  char* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) return nullptr;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = 0;
  return out;
}

std::string Text(const char* s) { return s == nullptr ? "" : s; }

absl::StatusOr<OptimizeOptions> OptionsOf(const isomer_options& o) {
  if (o.seconds < 0 || o.expansions < 0 || o.memory_limit < 0 || o.check < 0) {
    return Invalid("an option is negative");
  }
  OptimizeOptions out;
  if (o.target != nullptr) out.target = o.target;
  out.profile = Text(o.profile);
  out.rules = Text(o.rules);
  out.alpha = o.alpha;
  out.time_limit =
      o.seconds > 0 ? absl::Seconds(o.seconds) : absl::InfiniteDuration();
  if (o.expansions > 0) out.expansions = o.expansions;
  if (o.memory_limit > 0) out.memory_limit = o.memory_limit;
  out.exact = o.exact != 0;
  out.threads = o.threads;
  if (o.progress != nullptr) {
    out.progress = [&o](const OptimizeProgress& p) {
      return o.progress(o.user, p.before_us, p.best_us) == 0;
    };
  }
  return out;
}

absl::StatusOr<Graph> Optimized(absl::StatusOr<Graph> graph,
                                const isomer_options* given,
                                isomer_report* report) {
  RETURN_IF_ERROR(graph.status());
  isomer_options defaults;
  isomer_default_options(&defaults);
  const isomer_options& o = given == nullptr ? defaults : *given;
  ASSIGN_OR_RETURN(OptimizeOptions options, OptionsOf(o));
  ASSIGN_OR_RETURN(OptimizeResult r, graph->optimize(options));
  if (r.improved && o.check > 0) {
    ASSIGN_OR_RETURN(CheckResult check, Check(*graph, r.graph, o.check));
    if (!check.passed) {
      return absl::DataLossError(
          "the optimised model differs from the original by more than rounding "
          "explains");
    }
  }
  if (report != nullptr) {
    *report = {};
    report->improved = r.improved;
    report->before_us = r.before.time_us;
    report->after_us = r.after.time_us;
    report->seconds = absl::ToDoubleSeconds(r.elapsed);
    for (const RuleApplied& a : r.rules) report->rewrites += a.times;
  }
  return std::move(r.graph);
}

int Answer(const absl::Status& status, char** error) {
  if (error != nullptr) {
    *error = status.ok() ? nullptr : Copy(status.message());
  }
  return status.ok() ? 0 : -1;
}

absl::Status OptimizeFile(const char* in, const char* out,
                          const isomer_options* options,
                          isomer_report* report) {
  if (in == nullptr || out == nullptr) return Invalid("a file name is NULL");
  ASSIGN_OR_RETURN(Graph g, Optimized(Graph::FromOnnx(in), options, report));
  return g.ToOnnx(out);
}

absl::Status OptimizeBuffer(const void* in, size_t in_size,
                            const isomer_options* options, void** out,
                            size_t* out_size, isomer_report* report) {
  if (in == nullptr || out == nullptr || out_size == nullptr) {
    return Invalid("a buffer is NULL");
  }
  ASSIGN_OR_RETURN(
      Graph g,
      Optimized(Graph::FromOnnxBytes({static_cast<const char*>(in), in_size}),
                options, report));
  ASSIGN_OR_RETURN(std::string bytes, g.ToOnnxBytes());
  *out = Copy(bytes);
  if (*out == nullptr) return absl::ResourceExhaustedError("out of memory");
  *out_size = bytes.size();
  return absl::OkStatus();
}

}  // namespace

}  // namespace isomer

extern "C" {

void isomer_default_options(isomer_options* options) {
  *options = {};
  options->target = "h200";
  options->alpha = 1.05;
  options->seconds = 10;
  options->check = 1;
}

int isomer_optimize_file(const char* in, const char* out,
                         const isomer_options* options, isomer_report* report,
                         char** error) {
  return isomer::Answer(isomer::OptimizeFile(in, out, options, report), error);
}

int isomer_optimize_buffer(const void* in, size_t in_size,
                           const isomer_options* options, void** out,
                           size_t* out_size, isomer_report* report,
                           char** error) {
  return isomer::Answer(
      isomer::OptimizeBuffer(in, in_size, options, out, out_size, report),
      error);
}

void isomer_free(void* memory) { std::free(memory); }

const char* isomer_version(void) { return "0.1.0"; }

}  // extern "C"
