// Measured kernel times of one target: a sorted text file, one line for each
// kernel, so that it diffs and merges well.
//
//   profile h200
//   matmul f16 m=128 n=768 k=768 | 3.72 2026-11-15 bench-1 "cuBLASLt 13.1"
//
// A line holds the signature, the time in microseconds, the day, who measured,
// and with what. Nothing is interpolated: a signature that is not there has no
// time.
#ifndef ISOMER_COST_MODEL_PROFILE_H_
#define ISOMER_COST_MODEL_PROFILE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace isomer::cost {

struct Measurement {
  int64_t time_ps = 0;
  std::string date;  // 2026-11-15
  std::string by;    // one word
  std::string what;  // library and version, say
};

class Profile {
 public:
  Profile() = default;
  explicit Profile(absl::string_view target) : target_(target) {}

  // Reads a profile; errors name the line. Lines out of order are an error, as
  // merges by hand go wrong that way.
  static absl::StatusOr<Profile> Parse(absl::string_view text);
  // The profile of a target that comes with Isomer; an empty one where nothing
  // was measured.
  static absl::StatusOr<Profile> Builtin(absl::string_view target);
  std::string ToText() const;

  // The target that was measured; "" for an empty profile of any.
  const std::string& target() const { return target_; }
  const std::map<std::string, Measurement, std::less<>>& entries() const {
    return entries_;
  }
  // The time of a signature, or null.
  const Measurement* Find(absl::string_view signature) const;

  // Enters a measurement; an older one of the signature is replaced.
  absl::Status Add(absl::string_view signature, Measurement measurement);
  // Takes over what `other` knows; of two measurements the younger one stays,
  // of two of one day the shorter one.
  absl::Status Merge(const Profile& other);

 private:
  std::string target_;
  std::map<std::string, Measurement, std::less<>> entries_;
};

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_PROFILE_H_
