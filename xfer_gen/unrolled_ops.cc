#include "xfer_gen/unrolled_ops.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace isomer::gen {

absl::StatusOr<std::shared_ptr<const Code>> UnrolledOps::Of(
    const OpDef& op, absl::Span<const TensorType> types, const Attrs& attrs) {
  constexpr size_t kMost = 32;
  // Other code is unrolled as fast as it is found.
  constexpr size_t kLong = 256;
  std::string key = absl::StrCat(op.name, " ", AttrsText(attrs));
  for (const TensorType& t : types) absl::StrAppend(&key, " ", TypeText(t));
  {
    std::lock_guard lock(mutex_);
    for (const Kept& k : kept_) {
      if (k.key == key) return k.code;
    }
  }
  absl::StatusOr<Code> unrolled = Unroll(op, types, attrs);
  if (!unrolled.ok()) return unrolled.status();
  auto code = std::make_shared<const Code>(*std::move(unrolled));
  if (code->operands.size() < kLong) return code;
  std::lock_guard lock(mutex_);
  kept_.push_back({std::move(key), code});
  if (kept_.size() > kMost) kept_.pop_front();
  return code;
}

absl::StatusOr<std::shared_ptr<const ir::Graph>> UnrolledOps::Expand(
    const OpDef& op, absl::Span<const TensorType> types, const Attrs& attrs) {
  std::lock_guard lock(mutex_);
  return expansions_.Expand(op, types, attrs);
}

}  // namespace isomer::gen
