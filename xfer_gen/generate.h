// From a preset to candidate rules: enumeration, fingerprints, confirmation.
#ifndef ISOMER_XFER_GEN_GENERATE_H_
#define ISOMER_XFER_GEN_GENERATE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xfer_gen/candidate.h"
#include "xfer_gen/candidates.h"
#include "xfer_gen/enumerate.h"
#include "xfer_gen/preset.h"

namespace isomer::gen {

// How far a run is, for a line on a terminal.
struct GenerateProgress {
  std::string preset = {};
  int depth = 0;  // steps of the graphs at hand
  int64_t graphs = 0;
  int64_t classes = 0;
  int64_t bytes = 0;
  double seconds = 0;
  double share = 0;  // of the graphs to be extended, of this depth
};

struct GenerateOptions {
  EnumerateOptions enumerate;     // a depth of 0: the preset's own
  int64_t max_bytes = INT64_MAX;  // that the process may hold
  double max_seconds = 1e18;
  // Whether candidates have their texts and leaves; where they are only
  // counted, they take a tenth of the memory without.
  bool texts = true;
  // Called now and then; false stops the run.
  std::function<bool(const GenerateProgress&)> progress = nullptr;
};

struct GenerateStats {
  EnumerateStats enumerated;
  CandidateStats found;
  int64_t classes = 0;     // different fingerprints
  int64_t peak_bytes = 0;  // of the process, as far as it was asked
  // How often all graphs were gone through once they were found: more than
  // twice where memory did not hold all at once.
  int passes = 0;
  // The outputs of the choices that were looked at last: 1, 2, or 3 for more.
  int outputs = 1;
  double enumerate_s = 0;
  // "complete", "time", "memory" or "interrupted".
  std::string stop_reason = "complete";
};

struct Generated {
  std::vector<Candidate> candidates;
  GenerateStats stats;
};

// Checks, before any work, that a preset can be enumerated: every template
// types on some operands, and numbers stay in bounds.
absl::Status CheckPreset(const Preset& preset);

// Finds the candidates of one preset; one that a limit stops gives what it has
// found so far. Other presets that it uses are the caller's to run.
absl::StatusOr<Generated> Generate(const Preset& preset,
                                   const GenerateOptions& options);

// Candidates as text that ReadCandidates reads back, with a check sum, for
// going on after a run was killed. `key` says what they were made from.
std::string WriteCandidates(absl::string_view key, const Generated& generated);
// NotFound if the text was made from something else; InvalidArgument if it is
// damaged.
absl::StatusOr<Generated> ReadCandidates(absl::string_view key,
                                         absl::string_view text);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERATE_H_
