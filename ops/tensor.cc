// Tensors: representation per interpretation, memory form and text form.
#include "ops/tensor.h"

#include <cmath>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ops/attr.h"
#include "ops/status.h"

namespace isomer {

namespace {

// Calls f with a null pointer to the element type that `interp` gives `dtype`.
template <class F>
auto WithElement(DType dtype, Interp interp, F f) {
  if (!IsFloat(dtype)) return f(static_cast<int64_t*>(nullptr));
  switch (interp) {
    case Interp::kRun:
      if (dtype != DType::kF64) return f(static_cast<float*>(nullptr));
      break;
    case Interp::kReal:
      break;
    case Interp::kField:
      return f(static_cast<Field*>(nullptr));
    case Interp::kInteger:
      return f(static_cast<Int*>(nullptr));
    case Interp::kSymbolic:
      return f(static_cast<Term*>(nullptr));
  }
  return f(static_cast<double*>(nullptr));
}

// Truncates; what does not fit 64 bits is 0.
int64_t ToInteger(double v) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  return v >= -kLimit && v < kLimit ? static_cast<int64_t>(v) : 0;
}

template <class T>
T FromReal(double v) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return ToInteger(v);
  } else {
    return FromDouble<T>(v);
  }
}

template <class T>
double ToReal(const T& v) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(v);
  } else if constexpr (std::is_same_v<T, Field>) {
    return static_cast<double>(v.value());
  } else if constexpr (std::is_same_v<T, Term>) {
    return std::nan("");
  } else {
    return ToDouble(v);
  }
}

}  // namespace

Tensor MakeTensor(TensorType type, Interp interp) {
  const int64_t n = NumElements(type);
  const DType dtype = type.dtype;
  return WithElement(dtype, interp, [&](auto* p) {
    using T = std::decay_t<decltype(*p)>;
    return Tensor{std::move(type), std::vector<T>(n)};
  });
}

Tensor FromDoubles(TensorType type, absl::Span<const double> values,
                   Interp interp) {
  Tensor t = MakeTensor(std::move(type), interp);
  std::visit(
      [&](auto& v) {
        using T = typename std::decay_t<decltype(v)>::value_type;
        for (size_t i = 0; i < v.size(); ++i) {
          v[i] = FromReal<T>(interp == Interp::kRun
                                 ? RoundTo(t.type.dtype, values[i])
                                 : values[i]);
        }
      },
      t.data);
  return t;
}

Tensor FromInts(TensorType type, absl::Span<const int64_t> values) {
  return {std::move(type), std::vector<int64_t>(values.begin(), values.end())};
}

std::vector<double> ToDoubles(const Tensor& t) {
  std::vector<double> out;
  out.reserve(t.size());
  std::visit(
      [&](const auto& v) {
        for (const auto& x : v) out.push_back(ToReal(x));
      },
      t.data);
  return out;
}

absl::StatusOr<Tensor> Reinterpret(const Tensor& t, Interp interp) {
  if (t.data.index() == 0) return t;
  if (!std::holds_alternative<std::vector<float>>(t.data) &&
      !std::holds_alternative<std::vector<double>>(t.data)) {
    return Invalid("tensor ", TypeText(t.type),
                   " does not hold numbers; it cannot be reinterpreted");
  }
  return FromDoubles(t.type, ToDoubles(t), interp);
}

namespace {

template <class M>
int64_t LoadInt(const char* p) {
  M m;
  std::memcpy(&m, p, sizeof(m));
  return static_cast<int64_t>(m);
}

int64_t LoadInteger(DType dtype, const char* p) {
  switch (dtype) {
    case DType::kI8:
      return LoadInt<int8_t>(p);
    case DType::kI16:
      return LoadInt<int16_t>(p);
    case DType::kI32:
      return LoadInt<int32_t>(p);
    case DType::kU8:
      return LoadInt<uint8_t>(p);
    case DType::kU16:
      return LoadInt<uint16_t>(p);
    case DType::kU32:
      return LoadInt<uint32_t>(p);
    case DType::kBool:
      return LoadInt<uint8_t>(p) != 0;
    default:
      return LoadInt<int64_t>(p);
  }
}

double LoadFloat(DType dtype, const char* p) {
  if (dtype == DType::kF16) {
    return HalfToFloat(static_cast<uint16_t>(LoadInt<uint16_t>(p)));
  }
  if (dtype == DType::kBF16) {
    return Bf16ToFloat(static_cast<uint16_t>(LoadInt<uint16_t>(p)));
  }
  if (dtype == DType::kF32) {
    float f;
    std::memcpy(&f, p, sizeof(f));
    return f;
  }
  double d;
  std::memcpy(&d, p, sizeof(d));
  return d;
}

// Appends the low `bytes` bytes of `bits`; memory is little-endian.
void StoreBits(uint64_t bits, int bytes, char* out) {
  for (int i = 0; i < bytes; ++i) out[i] = static_cast<char>(bits >> (8 * i));
}

uint64_t FloatBits(DType dtype, double v) {
  if (dtype == DType::kF16) return DoubleToHalf(v);
  if (dtype == DType::kBF16) return DoubleToBf16(v);
  if (dtype == DType::kF32) {
    const float f = static_cast<float>(v);
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof(bits));
    return bits;
  }
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  return bits;
}

}  // namespace

absl::StatusOr<Tensor> FromBytes(const TensorType& type,
                                 absl::Span<const char> bytes, Interp interp) {
  const int64_t n = NumElements(type);
  const int size = ByteSize(type.dtype);
  if (static_cast<int64_t>(bytes.size()) != n * size) {
    return Invalid("tensor ", TypeText(type), " needs ", n * size,
                   " bytes, given ", bytes.size());
  }
  Tensor t = MakeTensor(type, interp);
  std::visit(
      [&](auto& v) {
        using T = typename std::decay_t<decltype(v)>::value_type;
        for (int64_t i = 0; i < n; ++i) {
          const char* p = bytes.data() + i * size;
          if constexpr (std::is_same_v<T, int64_t>) {
            v[i] = LoadInteger(type.dtype, p);
          } else {
            v[i] = FromReal<T>(LoadFloat(type.dtype, p));
          }
        }
      },
      t.data);
  return t;
}

std::string ToBytes(const Tensor& t) {
  const int size = ByteSize(t.type.dtype);
  std::string out(t.size() * size, '\0');
  std::visit(
      [&](const auto& v) {
        using T = typename std::decay_t<decltype(v)>::value_type;
        char* at = out.data();
        for (const T& x : v) {
          if constexpr (std::is_same_v<T, int64_t>) {
            StoreBits(static_cast<uint64_t>(x), size, at);
          } else {
            StoreBits(FloatBits(t.type.dtype, ToReal(x)), size, at);
          }
          at += size;
        }
      },
      t.data);
  return out;
}

void RoundToType(Tensor& t) {
  if (t.type.dtype != DType::kF16 && t.type.dtype != DType::kBF16) return;
  for (float& x : t.as<float>()) x = RoundTo(t.type.dtype, x);
}

std::vector<int64_t> Strides(absl::Span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * shape[d];
  }
  return strides;
}

namespace {

std::string ElementText(const Tensor& t, int64_t at) {
  return std::visit(
      [&](const auto& v) -> std::string {
        using T = typename std::decay_t<decltype(v)>::value_type;
        if constexpr (std::is_same_v<T, int64_t>) {
          if (t.type.dtype == DType::kBool) return v[at] ? "true" : "false";
          return absl::StrCat(v[at]);
        } else if constexpr (std::is_same_v<T, float>) {
          return FloatText(v[at]);
        } else if constexpr (std::is_same_v<T, double>) {
          return DoubleText(v[at]);
        } else {
          return v[at].ToString();
        }
      },
      t.data);
}

void AppendText(const Tensor& t, absl::Span<const int64_t> shape, int64_t& at,
                std::string& out) {
  if (shape.empty()) {
    out += ElementText(t, at++);
    return;
  }
  out += "[";
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i) out += " ";
    AppendText(t, shape.subspan(1), at, out);
  }
  out += "]";
}

// Reads nested lists of numbers; every list of one depth has one length.
class TensorParser {
 public:
  explicit TensorParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Tensor> Parse() {
    RETURN_IF_ERROR(List(0));
    DType dtype = booleans_ ? DType::kBool : DType::kF32;
    Skip();
    if (at_ < text_.size() && text_[at_] == ':') {
      ASSIGN_OR_RETURN(
          dtype, ParseDType(absl::StripAsciiWhitespace(text_.substr(at_ + 1))));
      at_ = text_.size();
    }
    if (at_ != text_.size()) return Error("unexpected text");
    for (int64_t& d : shape_) d = d < 0 ? 0 : d;
    TensorType type{dtype, shape_};
    if (NumElements(type) != static_cast<int64_t>(values_.size())) {
      return Error("lists of one depth differ in length");
    }
    if (IsFloat(dtype)) return FromDoubles(type, values_);
    for (int64_t& i : ints_) i = WrapTo(dtype, i);
    return FromInts(type, ints_);
  }

 private:
  absl::Status Error(absl::string_view why) const {
    return Invalid("tensor '", text_, "': ", why, " at column ", at_ + 1);
  }
  void Skip() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  absl::Status List(size_t depth) {
    Skip();
    if (at_ < text_.size() && text_[at_] == '[') {
      if (depth > 16) return Error("lists nested too deeply");
      if (values_.empty() && shape_.size() == depth) shape_.push_back(-1);
      if (shape_.size() <= depth) return Error("a list where a number was");
      ++at_;
      int64_t n = 0;
      for (Skip(); at_ < text_.size() && text_[at_] != ']'; Skip(), ++n) {
        RETURN_IF_ERROR(List(depth + 1));
      }
      if (at_ == text_.size()) return Error("missing ]");
      ++at_;
      if (shape_[depth] >= 0 && shape_[depth] != n) {
        return Error("lists of one depth differ in length");
      }
      shape_[depth] = n;
      return absl::OkStatus();
    }
    if (shape_.size() != depth) return Error("a number where a list was");
    return Number();
  }
  absl::Status Number() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(text_[at_]) || text_[at_] == '.' ||
            text_[at_] == '-' || text_[at_] == '+')) {
      ++at_;
    }
    const absl::string_view word = text_.substr(start, at_ - start);
    double v = 0;
    int64_t i = 0;
    if (word == "true" || word == "false") {
      booleans_ = true;
      v = word == "true";
    } else if (!absl::SimpleAtod(word, &v)) {
      at_ = start;
      return Error("expected a number");
    }
    if (!absl::SimpleAtoi(word, &i)) i = ToInteger(v);
    values_.push_back(v);
    ints_.push_back(i);
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t at_ = 0;
  bool booleans_ = false;
  std::vector<int64_t> shape_;
  std::vector<double> values_;
  std::vector<int64_t> ints_;  // the same, exact where they are integers
};

}  // namespace

std::string TensorText(const Tensor& t) {
  std::string out;
  int64_t at = 0;
  AppendText(t, AllDims(t.type), at, out);
  return out;
}

absl::StatusOr<Tensor> ParseTensor(absl::string_view text) {
  return TensorParser(text).Parse();
}

}  // namespace isomer
