// isomer gen: rules found by enumerating graphs over a preset's templates.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/hashing.h"
#include "graph/rule_pb.h"
#include "onnx/output_file.h"
#include "ops/status.h"
#include "tools/files.h"
#include "tools/json.h"
#include "tools/verb.h"
#include "verify/trust.h"
#include "xfer_gen/generate.h"
#include "xfer_gen/memory.h"
#include "xfer_gen/minimise.h"
#include "xfer_gen/presets.h"

namespace isomer::cli {

namespace {

constexpr absl::string_view kPartEnd = "====\n";

// "8G", "512M", "2k" or plain bytes.
absl::StatusOr<int64_t> Bytes(const Args& args) {
  const std::string text = args.String("memory");
  if (text.empty()) return INT64_MAX;
  const absl::string_view units = "kMGT";
  const size_t unit = units.find(text.back());
  double n = 0;
  const bool has_unit = unit != absl::string_view::npos;
  const absl::string_view number =
      absl::string_view(text).substr(0, text.size() - (has_unit ? 1 : 0));
  if (!absl::SimpleAtod(number, &n) || n <= 0) {
    return Invalid("flag --memory is '", text, "'; expected a size such as 8G");
  }
  for (size_t i = 0; has_unit && i <= unit; ++i) n *= 1024;
  return static_cast<int64_t>(n);
}

absl::StatusOr<gen::Preset> FindPreset(absl::string_view name) {
  std::string known;
  for (const gen::PresetText& p : gen::AllPresets()) {
    if (p.name == name) return gen::ParsePreset(p.name, p.text);
    absl::StrAppend(&known, known.empty() ? "" : ", ", p.name);
  }
  return Invalid("there is no preset '", name, "'; there are ", known);
}

// A preset and those that it uses, each with its depth.
absl::StatusOr<std::vector<gen::Preset>> PresetsOf(const Args& args) {
  if (args.Has("preset") == args.Has("templates")) {
    return Invalid("give --preset NAME or --templates FILE, and not both");
  }
  gen::Preset first;
  if (args.Has("templates")) {
    const std::string path = args.String("templates");
    ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(first, gen::ParsePreset(path, text));
  } else {
    ASSIGN_OR_RETURN(first, FindPreset(args.String("preset")));
  }
  ASSIGN_OR_RETURN(const int64_t depth, args.Int("depth", 0, 1, 6));
  if (depth > 0) first.depth = static_cast<int>(depth);
  std::vector<gen::Preset> out;
  for (const gen::UsedPreset& use : first.uses) {
    absl::StatusOr<gen::Preset> used = FindPreset(use.name);
    if (!used.ok()) {
      return Invalid("preset ", first.name, ": line ", use.line, ": ",
                     used.status().message());
    }
    if (!used->uses.empty()) {
      return Invalid("preset ", first.name, ": line ", use.line, ": '",
                     use.name, "' uses others itself");
    }
    if (use.depth > 0) used->depth = use.depth;
    out.push_back(*std::move(used));
  }
  if (!first.leaves.empty()) out.push_back(std::move(first));
  for (const gen::Preset& p : out) RETURN_IF_ERROR(gen::CheckPreset(p));
  return out;
}

// Fails for a file that could not be written; touches none that is there.
absl::Status CheckWritable(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  return onnx::OutputFile::Create(path).status();
}

// The line on a terminal while graphs are enumerated.
std::string ProgressLine(const gen::GenerateProgress& p) {
  std::string line = absl::StrFormat(
      "%s, depth %d, %d graphs, %.2f M/s, %d classes, %.0f MB", p.preset,
      p.depth, p.graphs,
      p.seconds > 0 ? static_cast<double>(p.graphs) / p.seconds / 1e6 : 0.0,
      p.classes, static_cast<double>(p.bytes) / 1e6);
  if (p.share > 0.02) {
    absl::StrAppendFormat(&line, ", %.0f s left",
                          p.seconds * (1 - p.share) / p.share);
  }
  return line;
}

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Usage {
  double cpu_s;
  int64_t peak_bytes;
};

Usage UsageNow() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {seconds(u.ru_utime) + seconds(u.ru_stime),
          u.ru_maxrss * int64_t{1024}};
}

// One run: all presets, then the reduction to rules.
class Run {
 public:
  explicit Run(const Args& args) : args_(args), start_(Now()) {}

  absl::StatusOr<int> operator()() {
    RETURN_IF_ERROR(Prepare());
    for (const gen::Preset& preset : presets_) {
      RETURN_IF_ERROR(RunPreset(preset));
    }
    return Finish();
  }

 private:
  // Everything that can be wrong is found before any work starts.
  absl::Status Prepare() {
    if (!args_.Has("out")) return Invalid("flag --out FILE is missing");
    ASSIGN_OR_RETURN(presets_, PresetsOf(args_));
    ASSIGN_OR_RETURN(options_.max_bytes, Bytes(args_));
    ASSIGN_OR_RETURN(
        const absl::Duration time,
        args_.Time("time", absl::InfiniteDuration(), Args::Zero::kRefused));
    max_seconds_ = absl::ToDoubleSeconds(time);
    ASSIGN_OR_RETURN(const int64_t threads, args_.Int("threads", 1, 1, 256));
    ASSIGN_OR_RETURN(const int64_t seed, args_.Int("seed", 1, 0, INT64_MAX));
    options_.enumerate.depth = 0;  // the preset's
    options_.enumerate.threads = static_cast<int>(threads);
    options_.enumerate.seed = static_cast<uint64_t>(seed);
    options_.enumerate.connected = args_.Has("connected");
    options_.enumerate.prune = !args_.Has("no-prune");
    for (const char* flag : {"out", "pb", "stats", "explain"}) {
      RETURN_IF_ERROR(CheckWritable(args_.String(flag)));
    }
    return ReadState();
  }

  absl::Status ReadState() {
    const std::string path = args_.String("resume");
    if (path.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(CheckWritable(path));
    absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok()) return absl::OkStatus();  // a first run
    for (absl::string_view part : absl::StrSplit(*text, kPartEnd)) {
      if (part.empty()) continue;
      if (saved_.size() == presets_.size()) {
        return Invalid(path, ": the state was made with another preset");
      }
      const gen::Preset& preset = presets_[saved_.size()];
      absl::StatusOr<gen::Generated> saved =
          gen::ReadCandidates(KeyOf(preset), part);
      if (!saved.ok())
        return Prefixed(absl::StrCat(path, ": "), saved.status());
      state_ += absl::StrCat(part, kPartEnd);
      saved_.push_back(*std::move(saved));
    }
    return absl::OkStatus();
  }

  // What the candidates of a preset depend on.
  std::string KeyOf(const gen::Preset& preset) const {
    const gen::EnumerateOptions& e = options_.enumerate;
    std::string sizes;
    for (const gen::Template& t : preset.templates) {
      for (const ir::ExprSyntax& x : t.outputs) {
        absl::StrAppend(&sizes, t.name, ir::PrintExpr(x));
      }
    }
    for (const gen::LeafClass& c : preset.leaves) {
      for (const gen::Sizes& s : preset.sizes) {
        for (int i = 0; i < c.count; ++i) {
          absl::StrAppend(&sizes, c.name, TypeText(gen::LeafType(c, i, s)));
        }
      }
    }
    return absl::StrCat(preset.name, " ", preset.depth, " ", e.seed, " ",
                        e.connected, e.prune, " ", ir::HashText(sizes));
  }

  absl::Status RunPreset(const gen::Preset& preset) {
    const size_t number = done_++;
    gen::Generated found;
    if (number < saved_.size()) {
      found = std::move(saved_[number]);
    } else {
      gen::GenerateOptions options = options_;
      options.max_seconds = max_seconds_ - (Now() - start_);
      options.progress = [&](const gen::GenerateProgress& p) {
        return progress_.Line(ProgressLine(p));
      };
      ASSIGN_OR_RETURN(found, gen::Generate(preset, options));
      const std::string path = args_.String("resume");
      if (!path.empty() && found.stats.stop_reason == "complete") {
        state_ +=
            absl::StrCat(gen::WriteCandidates(KeyOf(preset), found), kPartEnd);
        RETURN_IF_ERROR(WriteFile(path, state_));
      }
    }
    for (gen::Candidate& c : found.candidates) {
      c.origin = absl::StrCat(preset.name, ", depth ", preset.depth);
    }
    Add(found);
    return absl::OkStatus();
  }

  void Add(const gen::Generated& found) {
    const gen::GenerateStats& s = found.stats;
    graphs_ += s.enumerated.graphs;
    fingerprints_ += s.enumerated.fingerprints;
    classes_ += s.classes;
    confirmed_ += s.found.confirmed;
    false_positives_ += s.found.false_positives;
    passes_ += s.passes;
    enumerate_s_ += s.enumerate_s;
    if (s.stop_reason != "complete") stop_reason_ = s.stop_reason;
    candidates_.insert(candidates_.end(), found.candidates.begin(),
                       found.candidates.end());
  }

  absl::StatusOr<int> Finish() {
    gen::MinimiseOptions options;
    options.threads = options_.enumerate.threads;
    options.generalise.seed = options_.enumerate.seed;
    options.progress = [&](int64_t done, int64_t total) {
      if (Now() - start_ > max_seconds_) {
        stop_reason_ = "time";
        return false;
      }
      if (gen::ResidentBytes() > options_.max_bytes) {
        stop_reason_ = "memory";
        return false;
      }
      if (progress_.Line(absl::StrFormat("candidate %d of %d", done, total))) {
        return true;
      }
      stop_reason_ = "interrupted";
      return false;
    };
    ASSIGN_OR_RETURN(gen::Minimised rules, gen::Minimise(candidates_, options));
    // Every rule has been proved.
    const uint64_t operators = verify::OperatorDigest(Ops());
    for (ir::RuleItem& item : rules.file.items) {
      if (auto* rule = std::get_if<ir::RuleSyntax>(&item)) {
        verify::SetStamp(*rule, {"proved", verify::RuleHash(*rule, operators)});
      }
    }
    RETURN_IF_ERROR(
        WriteFile(args_.String("out"), ir::PrintRuleFile(rules.file)));
    if (args_.Has("pb")) {
      RETURN_IF_ERROR(
          WriteFile(args_.String("pb"), ir::SerializeRules(rules.file)));
    }
    if (args_.Has("explain")) {
      std::string text;
      for (const gen::Dropped& d : rules.dropped) {
        absl::StrAppend(&text, d.rule, "\n  ", d.why, "\n");
      }
      RETURN_IF_ERROR(WriteFile(args_.String("explain"), text));
    }
    return Report(rules);
  }

  absl::StatusOr<int> Report(const gen::Minimised& rules) {
    int64_t final_rules = 0;
    for (const ir::RuleItem& item : rules.file.items) {
      final_rules += std::holds_alternative<ir::RuleSyntax>(item);
    }
    const Usage usage = UsageNow();
    if (args_.Has("stats")) {
      Json json = Json::Object();
      json.Set("graphs", graphs_)
          .Set("fingerprints", fingerprints_)
          .Set("classes", classes_)
          .Set("candidates", static_cast<int64_t>(candidates_.size()))
          .Set("confirmed", confirmed_)
          .Set("false_positives", false_positives_)
          .Set("generalised", rules.generalised)
          .Set("passes", passes_)
          .Set("unproved", rules.unproved)
          .Set("final", final_rules)
          .Set("enumerate_s", enumerate_s_)
          .Set("generalise_s", rules.generalise_s)
          .Set("minimise_s", rules.minimise_s)
          .Set("wall_s", Now() - start_)
          .Set("cpu_s", usage.cpu_s)
          .Set("peak_bytes", usage.peak_bytes)
          .Set("graphs_per_s", enumerate_s_ > 0
                                   ? static_cast<double>(graphs_) / enumerate_s_
                                   : 0.0)
          .Set("threads", options_.enumerate.threads)
          .Set("stop_reason", stop_reason_);
      RETURN_IF_ERROR(WriteFile(args_.String("stats"), json.ToString() + "\n"));
    }
    absl::PrintF("%s: %d rules from %d candidates and %d graphs, %s\n",
                 args_.String("out"), final_rules, candidates_.size(), graphs_,
                 stop_reason_ == "complete"
                     ? stop_reason_
                     : absl::StrCat("stopped: ", stop_reason_));
    return 0;
  }

  const Args& args_;
  double start_;
  double max_seconds_ = 0;
  std::vector<gen::Preset> presets_;
  gen::GenerateOptions options_;
  std::vector<gen::Generated> saved_;
  std::string state_;
  size_t done_ = 0;
  std::vector<gen::Candidate> candidates_;
  int64_t graphs_ = 0, fingerprints_ = 0, classes_ = 0, confirmed_ = 0,
          false_positives_ = 0;
  int64_t passes_ = 0;
  double enumerate_s_ = 0;
  std::string stop_reason_ = "complete";
  Progress progress_{"gen"};
};

absl::StatusOr<int> Gen(const Args& args) {
  if (args.Has("list-presets")) {
    for (const gen::PresetText& p : gen::AllPresets()) {
      // The first line of a preset's file says what it is for.
      const std::vector<absl::string_view> lines = absl::StrSplit(p.text, '\n');
      absl::PrintF("%-14s %s\n", p.name, absl::StripPrefix(lines[0], "# "));
    }
    return 0;
  }
  return Run(args)();
}

}  // namespace

Verb GenVerb() {
  return {"gen",
          "find rules by enumerating graphs",
          "Enumerates all graphs over the templates and leaves of a preset, "
          "finds those\nthat are equal, and writes what that says as rules.\n\n"
          "  isomer gen --preset taso-full --depth 3 --out found.rules\n"
          "  isomer gen --list-presets",
          {},
          {{"preset", "NAME", "what to enumerate over"},
           {"templates", "FILE", "the same, from a file"},
           {"list-presets", "", "name the presets that there are"},
           {"depth", "N", "steps of a graph (default: the preset's)"},
           {"connected", "", "only graphs connected through operators"},
           {"no-prune", "", "extend tensors that equal smaller ones too"},
           {"threads", "N", "threads that enumerate (default 1)"},
           {"seed", "N", "of the random inputs (default 1)"},
           {"memory", "8G", "what the process may hold"},
           {"time", "1h", "stop after that"},
           {"out", "F.rules", "where the rules go"},
           {"pb", "F.pb", "the rules in binary form too"},
           {"stats", "F.json", "figures of the run"},
           {"explain", "F", "every candidate left out, and why"},
           {"resume", "F.state", "save what is found, or go on from there"}},
          Gen};
}

}  // namespace isomer::cli
