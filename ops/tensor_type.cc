// Reading types from text: f32[2,3]@{m:4}.
#include "ops/tensor_type.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "ops/status.h"

namespace isomer {

namespace {

class TypeParser {
 public:
  explicit TypeParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<TensorType> Parse() {
    TensorType type;
    const absl::string_view name = Word();
    absl::StatusOr<DType> dtype = ParseDType(name);
    if (!dtype.ok()) return Prefixed(Where(), dtype.status());
    type.dtype = *dtype;
    RETURN_IF_ERROR(Shape(type));
    if (Take('@')) RETURN_IF_ERROR(Devices(type));
    Skip();
    if (at_ != text_.size()) return Error("unexpected text");
    RETURN_IF_ERROR(CheckSize(type));
    return type;
  }

 private:
  std::string Where() const { return absl::StrCat("type '", text_, "': "); }
  absl::Status Error(absl::string_view why) const {
    return Invalid(Where(), why, " at column ", at_ + 1);
  }
  void Skip() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  bool Take(char c) {
    Skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::Status Expect(char c) {
    if (Take(c)) return absl::OkStatus();
    return Error(absl::StrCat("expected '", std::string(1, c), "'"));
  }
  absl::string_view Word() {
    Skip();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  absl::StatusOr<int64_t> Size(int64_t least) {
    const absl::string_view word = Word();
    int64_t value = 0;
    if (!absl::SimpleAtoi(word, &value)) {
      at_ -= word.size();
      return Error("expected a size");
    }
    if (value < least) {
      at_ -= word.size();
      return Error(absl::StrCat("size ", value, " is below ", least));
    }
    return value;
  }

  absl::Status Shape(TensorType& type) {
    RETURN_IF_ERROR(Expect('['));
    if (Take(']')) return absl::OkStatus();
    do {
      ASSIGN_OR_RETURN(int64_t size, Size(0));
      type.shape.push_back(size);
    } while (Take(','));
    return Expect(']');
  }
  absl::Status Devices(TensorType& type) {
    RETURN_IF_ERROR(Expect('{'));
    do {
      const std::string name(Word());
      if (name.empty()) return Error("expected the name of a device axis");
      for (const auto& axis : type.device) {
        if (axis.name == name) {
          return Error(absl::StrCat("device axis '", name, "' comes twice"));
        }
      }
      RETURN_IF_ERROR(Expect(':'));
      ASSIGN_OR_RETURN(int64_t size, Size(1));
      type.device.push_back({name, size});
    } while (Take(','));
    std::sort(type.device.begin(), type.device.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return Expect('}');
  }

  absl::Status CheckSize(const TensorType& type) const {
    int64_t n = 1;
    bool overflow = false;
    auto times = [&](int64_t size) {
      // A zero elsewhere does not excuse an absurd size.
      if (size != 0) overflow |= __builtin_mul_overflow(n, size, &n);
    };
    for (int64_t size : type.shape) times(size);
    for (const auto& axis : type.device) times(axis.size);
    if (overflow) return Invalid(Where(), "more than 2^63 elements");
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<TensorType> ParseType(absl::string_view text) {
  return TypeParser(text).Parse();
}

}  // namespace isomer
