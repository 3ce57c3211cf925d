// Random calls by rejection: draw, infer, keep what is legal.
#include "ops/op_samples.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ops/status.h"

namespace isomer {

uint64_t SampleStream::Next() {
  // SplitMix64.
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t SampleStream::Between(int64_t low, int64_t high) {
  const uint64_t span = static_cast<uint64_t>(high - low) + 1;
  return low + static_cast<int64_t>(Next() % span);
}

namespace {

constexpr int64_t kMostElements = 4096;

class CallSampler {
 public:
  CallSampler(const OpDef& op, SampleStream& stream)
      : op_(op), stream_(stream) {}

  TypedCall Draw() {
    TypedCall call{op_.name, {}, {}};
    int inputs = static_cast<int>(op_.inputs.names.size());
    if (op_.inputs.variadic) inputs += static_cast<int>(stream_.Between(0, 2));
    sizes_ = {stream_.Between(1, 4), stream_.Between(1, 4),
              stream_.Between(1, 4)};
    const DType common = DrawDType();
    for (int k = 0; k < inputs; ++k) {
      const DType dtype = stream_.OneIn(4) ? DrawDType() : common;
      call.inputs.push_back({dtype, DrawShape(call.inputs), {}});
    }
    if (stream_.OneIn(op_.parallel ? 2 : 12)) {
      for (TensorType& t : call.inputs) t.device = {{"m", 2}};
    }
    for (const AttrSpec& spec : op_.attrs) {
      if (!spec.required && stream_.OneIn(2)) continue;
      call.attrs.Set(spec.name, DrawAttr(spec, call));
    }
    return call;
  }

 private:
  DType DrawDType() {
    static const std::vector<DType> kTypes = {
        DType::kF32,  DType::kF32, DType::kF32, DType::kF16,
        DType::kBF16, DType::kF64, DType::kI64, DType::kI64,
        DType::kI32,  DType::kU8,  DType::kBool};
    return stream_.Pick(kTypes);
  }

  int64_t DrawSize() {
    return stream_.OneIn(3) ? stream_.Between(1, 4) : stream_.Pick(sizes_);
  }

  // A shape of its own, or one like that of an earlier input.
  std::vector<int64_t> DrawShape(const std::vector<TensorType>& before) {
    std::vector<int64_t> shape;
    if (before.empty() || stream_.OneIn(4)) {
      const int64_t rank = stream_.Between(0, 4);
      for (int64_t d = 0; d < rank; ++d) shape.push_back(DrawSize());
      return shape;
    }
    shape = stream_.Pick(before).shape;
    const int64_t rank = static_cast<int64_t>(shape.size());
    switch (stream_.Between(0, 4)) {
      case 0:
        if (rank > 0) shape[stream_.Between(0, rank - 1)] = DrawSize();
        break;
      case 1:
        if (rank > 0) {
          shape.erase(shape.begin() + stream_.Between(0, rank - 1));
        }
        break;
      case 2:
        if (rank > 0) shape = {stream_.Pick(shape)};
        break;
      default:
        break;
    }
    return shape;
  }

  int64_t DrawAxis(const TypedCall& call) {
    const int64_t rank = call.inputs.empty() ? 2 : call.inputs[0].rank();
    return stream_.Between(-rank, rank);
  }

  Attr DrawAttr(const AttrSpec& spec, const TypedCall& call) {
    if (!spec.samples.empty() && !stream_.OneIn(3)) {
      return stream_.Pick(spec.samples);
    }
    switch (spec.kind) {
      case AttrKind::kInt:
        return spec.role == AttrRole::kAxis ? DrawAxis(call)
                                            : stream_.Between(-1, 4);
      case AttrKind::kInts:
        return DrawInts(spec, call);
      case AttrKind::kFloat:
        return stream_.Pick(std::vector<double>{0, 0.5, 1, 2, -1, 0.1});
      case AttrKind::kFloats:
        return std::vector<double>(stream_.Between(0, 3), 0.5);
      case AttrKind::kString:
        return spec.choices.empty() ? std::string("m")
                                    : stream_.Pick(spec.choices);
      case AttrKind::kDType:
        return DrawDType();
    }
    return int64_t{0};
  }

  std::vector<int64_t> DrawInts(const AttrSpec& spec, const TypedCall& call) {
    const int64_t rank = call.inputs.empty() ? 2 : call.inputs[0].rank();
    std::vector<int64_t> list;
    if (spec.role == AttrRole::kAxis) {
      for (int64_t d = 0; d < rank; ++d) {
        if (stream_.OneIn(2)) list.push_back(stream_.OneIn(3) ? d - rank : d);
      }
      if (stream_.OneIn(3)) std::reverse(list.begin(), list.end());
      return list;
    }
    if (!call.inputs.empty() && stream_.OneIn(3)) {  // a shape like one seen
      list = stream_.Pick(call.inputs).shape;
      if (stream_.OneIn(2)) std::reverse(list.begin(), list.end());
      if (stream_.OneIn(3)) list.push_back(1);
      return list;
    }
    const int64_t count = stream_.OneIn(2) ? rank : stream_.Between(0, 5);
    for (int64_t d = 0; d < count; ++d) list.push_back(stream_.Between(0, 3));
    return list;
  }

  const OpDef& op_;
  SampleStream& stream_;
  std::vector<int64_t> sizes_;  // the sizes that most dimensions have
};

bool IsSmall(const Inferred<int64_t>& inferred) {
  return std::all_of(
      inferred.outputs.begin(), inferred.outputs.end(),
      [](const TensorType& t) { return NumElements(t) <= kMostElements; });
}

uint64_t SeedOf(absl::string_view name) {
  uint64_t seed = 1469598103934665603;
  for (char c : name) seed = (seed ^ static_cast<uint8_t>(c)) * 1099511628211;
  return seed;
}

}  // namespace

absl::StatusOr<SampledCalls> SampleCalls(const OpDef& op, int most_legal,
                                         int most_tries) {
  SampledCalls out;
  std::set<std::string> seen;
  for (const std::string& text : op.cases) {
    ASSIGN_OR_RETURN(TypedCall call, ParseTypedCall(text));
    if (call.op != op.name) {
      return Invalid(op.name, ": case '", text, "' calls another operator");
    }
    absl::StatusOr<Inferred<int64_t>> inferred =
        InferOp(op, call.inputs, call.attrs);
    if (!inferred.ok()) {
      return Prefixed(absl::StrCat("case '", text, "': "), inferred.status());
    }
    seen.insert(TypedCallText(call));
    out.legal.push_back(std::move(call));
  }
  SampleStream stream(SeedOf(op.name));
  CallSampler sampler(op, stream);
  const size_t most = out.legal.size() + most_legal;
  for (int i = 0; i < most_tries && out.legal.size() < most; ++i) {
    TypedCall call = sampler.Draw();
    if (!seen.insert(TypedCallText(call)).second) continue;
    absl::StatusOr<Inferred<int64_t>> inferred =
        InferOp(op, call.inputs, call.attrs);
    if (!inferred.ok()) {
      out.illegal.push_back(std::move(call));
    } else if (IsSmall(*inferred)) {
      out.legal.push_back(std::move(call));
    }
  }
  return out;
}

std::vector<Tensor> RandomInputs(const TypedCall& call, SampleValues values,
                                 SampleStream& stream) {
  std::vector<Tensor> out;
  for (const TensorType& type : call.inputs) {
    std::vector<double> numbers(NumElements(type));
    for (double& x : numbers) {
      if (type.dtype == DType::kBool) {
        x = static_cast<double>(stream.Between(0, 1));
      } else if (!IsFloat(type.dtype)) {
        const int64_t low = IsSignedInteger(type.dtype) ? -4 : 0;
        x = static_cast<double>(stream.Between(low, 4));
      } else if (values == SampleValues::kIntegers) {
        x = static_cast<double>(stream.Between(-4, 4));
      } else {
        x = static_cast<double>(2 * stream.Between(-128, 127) + 1) / 128;
      }
    }
    out.push_back(FromDoubles(type, numbers, Interp::kReal));
  }
  return out;
}

}  // namespace isomer
