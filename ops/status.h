// Errors as values: the two macros that pass an absl::Status on, and Check for
// broken invariants of our own. What a user can cause is always a Status;
// Check is only for what would be a bug in Isomer itself.
#ifndef ISOMER_OPS_STATUS_H_
#define ISOMER_OPS_STATUS_H_

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace isomer {

// Stops the program with `what` if an internal invariant is broken.
inline void Check(bool holds, absl::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "isomer: internal invariant broken: %.*s\n",
               static_cast<int>(what.size()), what.data());
  std::abort();
}

// An InvalidArgument error whose message is the concatenation of `parts`.
template <class... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// An Unimplemented error: the input is legal, but Isomer does not model it.
template <class... Parts>
absl::Status Unsupported(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// The same error with `prefix` before its message.
inline absl::Status Prefixed(absl::string_view prefix, const absl::Status& s) {
  return absl::Status(s.code(), absl::StrCat(prefix, s.message()));
}

}  // namespace isomer

#define ISOMER_CONCAT_INNER(a, b) a##b
#define ISOMER_CONCAT(a, b) ISOMER_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                           \
  do {                                                  \
    if (absl::Status status_ = (expr); !status_.ok()) { \
      return status_;                                   \
    }                                                   \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_IMPL(ISOMER_CONCAT(status_or_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL(temp, lhs, expr) \
  auto temp = (expr);                          \
  if (!temp.ok()) return temp.status();        \
  lhs = *std::move(temp)

#endif  // ISOMER_OPS_STATUS_H_
