// Runs the stages one after the other and keeps the clock.
#include "xfer_gen/generate.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "graph/hashing.h"
#include "ops/status.h"
#include "xfer_gen/hits.h"

namespace isomer::gen {

namespace {

constexpr int kMaxLeaves = 31;
constexpr absl::string_view kFormat = "isomer gen state 2";

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Asks the limits and the caller whether to go on.
class Clock {
 public:
  Clock(const Preset& preset, const GenerateOptions& options,
        GenerateStats& stats)
      : preset_(preset), options_(options), stats_(stats), start_(Now()) {}

  double seconds() const { return Now() - start_; }

  bool GoOn(int64_t bytes, const GenerateProgress& at) {
    stats_.peak_bytes = std::max(stats_.peak_bytes, bytes);
    if (bytes > options_.max_bytes) return Stop("memory");
    const double s = seconds();
    if (s > options_.max_seconds) return Stop("time");
    if (options_.progress == nullptr) return true;
    GenerateProgress p = at;
    p.preset = preset_.name;
    p.bytes = bytes;
    p.seconds = s;
    return options_.progress(p) || Stop("interrupted");
  }

 private:
  bool Stop(absl::string_view why) {
    stats_.stop_reason = std::string(why);
    return false;
  }

  const Preset& preset_;
  const GenerateOptions& options_;
  GenerateStats& stats_;
  double start_;
};

// A graph's outputs must fit into a mask.
absl::Status CheckDepth(const Preset& preset, int depth) {
  size_t most = 1;
  for (const Template& t : preset.templates) {
    most = std::max(most, t.outputs.size());
  }
  if (depth > kMaxSteps || most > kMaxOutputs || depth * most > 2 * kMaxSteps) {
    return Invalid("preset ", preset.name, ": depth ", depth,
                   " with templates of up to ", most,
                   " outputs; at most depth ", kMaxSteps, ", ", kMaxOutputs,
                   " outputs of a template and ", 2 * kMaxSteps, " of a graph");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPreset(const Preset& preset) {
  const std::vector<Leaf> leaves = LeavesOf(preset);
  auto fail = [&](const auto&... parts) {
    return Invalid("preset ", preset.name, ": ", parts...);
  };
  if (leaves.size() > kMaxLeaves) {
    return fail(leaves.size(), " leaves; at most ", kMaxLeaves);
  }
  if (preset.leaves.size() > kMaxClasses) {
    return fail(preset.leaves.size(), " classes of leaves; at most ",
                kMaxClasses);
  }
  for (const auto& [name, values] : preset.sizes[0]) {
    if (values.size() > 1) {
      return fail("size '", name,
                  "' has several values in the first line of sizes, where the "
                  "leaves of a class must be alike");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Generated> Generate(const Preset& preset,
                                   const GenerateOptions& options) {
  RETURN_IF_ERROR(CheckPreset(preset));
  EnumerateOptions enumerate = options.enumerate;
  if (enumerate.depth == 0) enumerate.depth = preset.depth;
  RETURN_IF_ERROR(CheckDepth(preset, enumerate.depth));
  Generated out;
  Clock clock(preset, options, out.stats);
  Enumerator all(preset, enumerate);
  Hits hits(all.terms().symmetry().num_leaves());
  auto go_on = [&](int level, double share) {
    return clock.GoOn(all.bytes(), {.depth = level,
                                    .graphs = all.stats().graphs,
                                    .classes = hits.classes,
                                    .share = share});
  };
  // What a stopped enumeration has found is compared all the same.
  auto compare_on = [&] {
    return out.stats.stop_reason != "complete" || go_on(enumerate.depth, 1);
  };
  bool ended = all.Run(go_on);
  FindHits(all, hits);
  PairFinder finder(all, hits, enumerate.seed);
  finder.Compare(0, compare_on);
  // Then two outputs, then more: each from what was found before.
  if (ended) {
    const size_t before = hits.members.size();
    finder.MarkTensors();
    ended = all.RunPairs(go_on);
    const std::vector<uint64_t> open_pairs = FindHits(all, hits);
    finder.Compare(before, compare_on);
    if (ended) {
      const size_t more = hits.members.size();
      std::vector<uint64_t> open;
      for (size_t i = before; i < more; ++i) {
        open.push_back(hits.members[i].code);
      }
      all.ShutAll();
      all.MarkOpen(std::move(open));
      all.RunMore(open_pairs, go_on);
      FindHits(all, hits);
      finder.Compare(more, compare_on);
    }
  }
  out.stats.peak_bytes = std::max(out.stats.peak_bytes, all.bytes());
  out.stats.classes = hits.classes;
  out.candidates =
      CandidatesOf(all, hits, enumerate.seed, finder.Take(out.stats.found));
  out.stats.enumerated = all.stats();
  out.stats.enumerate_s = clock.seconds();
  return out;
}

// ---- Candidates as text

std::string WriteCandidates(absl::string_view key, const Generated& generated) {
  const GenerateStats& s = generated.stats;
  std::string out = absl::StrCat(
      kFormat, "\nkey ", key, "\nstats ", s.enumerated.graphs, " ",
      s.enumerated.fingerprints, " ", s.classes, " ", s.found.confirmed, " ",
      s.found.false_positives, " ", s.peak_bytes, " ", s.stop_reason, "\n");
  for (const Candidate& c : generated.candidates) {
    absl::StrAppend(&out, "candidate ", c.source_steps, " ", c.target_steps,
                    " ", c.seen_at_other_sizes, " ", c.said_by_sizes, "\n");
    for (const CandidateLeaf& leaf : c.leaves) {
      absl::StrAppend(&out, "leaf ", leaf.name, " ", leaf.weight, " ",
                      TypeText(leaf.type), "\n");
    }
    absl::StrAppend(&out, "rule ", absl::StrReplaceAll(c.text, {{"\n", " "}}),
                    "\n");
  }
  return absl::StrCat(out, "sum ", ir::HashText(out), "\n");
}

namespace {

absl::Status ReadLine(absl::string_view line, Generated& out) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  auto integer = [&](size_t i, auto& to) {
    return i < words.size() && absl::SimpleAtoi(words[i], &to);
  };
  if (words[0] == "stats") {
    GenerateStats& s = out.stats;
    if (words.size() != 8 || !integer(1, s.enumerated.graphs) ||
        !integer(2, s.enumerated.fingerprints) || !integer(3, s.classes) ||
        !integer(4, s.found.confirmed) ||
        !integer(5, s.found.false_positives) || !integer(6, s.peak_bytes)) {
      return Invalid("a line of figures");
    }
    s.stop_reason = std::string(words[7]);
    return absl::OkStatus();
  }
  if (words[0] == "candidate") {
    Candidate& c = out.candidates.emplace_back();
    int seen = 0, said = 0;
    if (!integer(1, c.source_steps) || !integer(2, c.target_steps) ||
        !integer(3, seen) || !integer(4, said)) {
      return Invalid("a candidate's line");
    }
    c.seen_at_other_sizes = seen != 0;
    c.said_by_sizes = said != 0;
    return absl::OkStatus();
  }
  if (out.candidates.empty()) return Invalid("no candidate's line first");
  Candidate& c = out.candidates.back();
  if (words[0] == "leaf" && words.size() == 4) {
    ASSIGN_OR_RETURN(TensorType type, ParseType(words[3]));
    c.leaves.push_back({std::string(words[1]), words[2] == "1", type});
    return absl::OkStatus();
  }
  if (words[0] == "rule") {
    ASSIGN_OR_RETURN(const ir::RuleSyntax rule,
                     ir::ParseRuleBody(line.substr(5)));
    c.text = ir::PrintRule(rule);
    return absl::OkStatus();
  }
  return Invalid("'", words[0], "'");
}

}  // namespace

absl::StatusOr<Generated> ReadCandidates(absl::string_view key,
                                         absl::string_view text) {
  const size_t end = text.rfind("sum ");
  uint64_t sum = 0;
  if (end == absl::string_view::npos ||
      !absl::SimpleAtoi(absl::StripAsciiWhitespace(text.substr(end + 4)),
                        &sum) ||
      sum != ir::HashText(text.substr(0, end))) {
    return Invalid("the state is damaged: its check sum does not fit");
  }
  std::vector<absl::string_view> lines =
      absl::StrSplit(text.substr(0, end), '\n', absl::SkipEmpty());
  if (lines.size() < 2 || lines[0] != kFormat) {
    return Invalid("the state is not of the form '", kFormat, "'");
  }
  if (lines[1] != absl::StrCat("key ", key)) {
    return absl::NotFoundError(
        "the state was made with another preset, depth, seed or version");
  }
  Generated out;
  for (size_t i = 2; i < lines.size(); ++i) {
    const absl::Status status = ReadLine(lines[i], out);
    if (!status.ok()) {
      return Invalid("the state is damaged in line ", i + 1, ": ",
                     status.message());
    }
  }
  return out;
}

}  // namespace isomer::gen
