// One row of the generator's table: enumerates a preset, confirms what met,
// and prints counts, times and memory.
//
//   gen_figures PRESET DEPTH [connected] [THREADS] [list=FILE] [memory=GB]
//               [time=SECONDS]
//
// The list holds the candidates without the counts, so that runs can be
// compared. A run that needs more memory than it may take, or more time, ends
// with what it has found; how far it came is printed.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "xfer_gen/generate.h"
#include "xfer_gen/presets.h"

namespace isomer {

namespace {

double CpuSeconds(const rusage& u) {
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

int Fail(const std::string& message) {
  absl::FPrintF(stderr, "gen_figures: %s\n", message);
  return 1;
}

bool WriteList(const std::string& path, gen::Generated generated) {
  generated.stats = {};
  std::ofstream out(path);
  out << gen::WriteCandidates("", generated);
  return static_cast<bool>(out.flush());
}

double PeakMegabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// How far a run that was stopped has come.
void PrintHowFar(const gen::GenerateStats& s) {
  absl::PrintF("stopped (%s) at %s; graphs of 1, 2, ... steps:", s.stop_reason,
               s.outputs == 1   ? "single outputs"
               : s.outputs == 2 ? "two outputs"
                                : "more outputs");
  for (size_t i = 1; i < s.enumerated.graphs_by_size.size(); ++i) {
    absl::PrintF(" %d", s.enumerated.graphs_by_size[i]);
  }
  absl::PrintF("; of those that the last step extends %d of %d were done\n",
               s.enumerated.extended, s.enumerated.to_extend);
}

int Row(const std::string& name, const gen::GenerateOptions& options,
        const std::string& list) {
  const gen::PresetText* found = nullptr;
  for (const gen::PresetText& p : gen::AllPresets()) {
    if (p.name == name) found = &p;
  }
  if (found == nullptr) return Fail("there is no preset '" + name + "'");
  auto preset = gen::ParsePreset(found->name, found->text);
  if (!preset.ok()) return Fail(std::string(preset.status().message()));
  if (preset->templates.empty()) return Fail(name + " only uses others");
  auto generated = gen::Generate(*preset, options);
  if (!generated.ok()) return Fail(std::string(generated.status().message()));
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const gen::GenerateStats& s = generated->stats;
  absl::PrintF(
      "| %-13s | %d | %-9s | %d | %10d | %11d | %10d | %9d | %7d | %7.3f | "
      "%7.2f | %6.0f |\n",
      name, options.enumerate.depth,
      options.enumerate.connected ? "connected" : "any set",
      options.enumerate.threads, s.enumerated.graphs, s.enumerated.fingerprints,
      s.classes, s.found.confirmed, generated->candidates.size(), s.enumerate_s,
      CpuSeconds(usage), PeakMegabytes());
  if (s.passes > 2) absl::PrintF("in %d passes\n", s.passes);
  if (s.stop_reason != "complete") PrintHowFar(s);
  if (!list.empty() && !WriteList(list, *std::move(generated))) {
    return Fail("cannot write '" + list + "'");
  }
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  gen::GenerateOptions options;
  if (argc < 3 || !absl::SimpleAtoi(argv[2], &options.enumerate.depth)) {
    return Fail(
        "expected PRESET DEPTH [connected] [THREADS] [list=FILE] "
        "[memory=GB] [time=SECONDS]");
  }
  std::string list;
  double gigabytes = 0;
  for (int i = 3; i < argc; ++i) {
    const absl::string_view word = argv[i];
    if (word == "connected") {
      options.enumerate.connected = true;
    } else if (absl::StartsWith(word, "list=")) {
      list = std::string(word.substr(5));
    } else if (absl::StartsWith(word, "memory=") &&
               absl::SimpleAtod(word.substr(7), &gigabytes)) {
      options.max_bytes = static_cast<int64_t>(gigabytes * (1 << 30));
    } else if (absl::StartsWith(word, "time=") &&
               absl::SimpleAtod(word.substr(5), &options.max_seconds)) {
      continue;
    } else if (!absl::SimpleAtoi(word, &options.enumerate.threads)) {
      return Fail("what is '" + std::string(word) + "'?");
    }
  }
  options.texts = !list.empty();
  return Row(argv[1], options, list);
}

}  // namespace isomer

int main(int argc, char** argv) { return isomer::Main(argc, argv); }
