// Constants: identity, decoding.
#include "graph/constant.h"

#include <cstring>
#include <utility>

#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::ir {

Constant::Constant(TensorType type, SharedBytes bytes, std::string name)
    : type_(std::move(type)),
      bytes_(std::move(bytes)),
      name_(std::move(name)),
      small_(bytes_.view.size() <= kHashedBytes),
      digest_(HashCombine(
          HashText(TypeText(type_)),
          HashText(ByContent() ? bytes_.view : absl::string_view(name_)))) {}

absl::StatusOr<std::shared_ptr<const Constant>> Constant::FromBytes(
    TensorType type, SharedBytes bytes, std::string name) {
  const int64_t need = NumElements(type) * ByteSize(type.dtype);
  if (static_cast<int64_t>(bytes.view.size()) != need) {
    return Invalid("constant ", name, " of type ", TypeText(type), " needs ",
                   need, " bytes, given ", bytes.view.size());
  }
  return std::shared_ptr<const Constant>(
      new Constant(std::move(type), std::move(bytes), std::move(name)));
}

std::shared_ptr<const Constant> Constant::FromTensor(const Tensor& tensor,
                                                     std::string name) {
  return std::shared_ptr<const Constant>(new Constant(
      tensor.type, SharedBytes::Own(ToBytes(tensor)), std::move(name)));
}

bool Constant::SameAs(const Constant& other) const {
  if (this == &other) return true;
  if (digest_ != other.digest_ || type_ != other.type_) return false;
  if (!ByContent() && name_ != other.name_) return false;
  // The same mapped bytes need not be read.
  return bytes_.view.data() == other.bytes_.view.data() ||
         bytes_.view == other.bytes_.view;
}

Tensor Constant::ToTensor(Interp interp) const {
  return *isomer::FromBytes(
      type_, absl::MakeConstSpan(bytes_.view.data(), bytes_.view.size()),
      interp);
}

std::optional<double> Constant::Splat() const {
  const size_t size = ByteSize(type_.dtype);
  const absl::string_view b = bytes_.view;
  if (b.empty()) return std::nullopt;
  // All elements equal the first iff the bytes equal themselves shifted by one.
  if (std::memcmp(b.data(), b.data() + size, b.size() - size) != 0) {
    return std::nullopt;
  }
  TensorType scalar{type_.dtype, {}};
  auto first = isomer::FromBytes(scalar, absl::MakeConstSpan(b.data(), size),
                                 Interp::kReal);
  return ToDoubles(*first)[0];
}

}  // namespace isomer::ir
