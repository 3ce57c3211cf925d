// Element i of a tensor comes from the i-th number of a SplitMix64 stream: the
// sum of its four 16-bit parts is nearly normal (Irwin-Hall). Sum and scale
// multiply exactly in double, and the result is rounded once; no function of
// the C library takes part, so all machines agree.
#include "onnx/randomize.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "onnx_ml.pb.h"
#include "ops/dtype.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

using onnx_pb::TensorProto;

constexpr int64_t kMaxKeptElements = 2048;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A stream of its own for each name (FNV-1a) and seed.
uint64_t KeyOf(absl::string_view name, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  return Mix(hash + Mix(seed + kGolden));
}

// An integer with mean 0 and standard deviation kDeviation.
int32_t Sample(uint64_t key, uint64_t index) {
  const uint64_t bits = Mix(key + (index + 1) * kGolden);
  const uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) +
                       (bits >> 32 & 0xffff) + (bits >> 48);
  return static_cast<int32_t>(sum) - 2 * 0xffff;
}
constexpr double kDeviation = 37837.2;  // sqrt(4 * (2^32 - 1) / 12)

struct Weights {
  uint64_t key = 0;
  float scale = 0;  // of one step of Sample
  bool vector = false;

  double At(uint64_t index) const {
    // 18 bits times 24 bits: exact, so a fused multiply-add changes nothing.
    const double w = Sample(key, index) * static_cast<double>(scale);
    return vector ? 1.0 + std::abs(w) : w;
  }
};

Weights WeightsFor(const std::string& name, const std::vector<int64_t>& dims,
                   uint64_t seed) {
  double fan = 1;
  if (dims.size() == 2) fan = static_cast<double>(dims[0]);
  if (dims.size() > 2) {
    for (size_t i = 1; i < dims.size(); ++i) fan *= dims[i];
  }
  const double deviation = dims.size() > 1 ? 1.0 / std::sqrt(fan) : 0.1;
  return {KeyOf(name, seed), static_cast<float>(deviation / kDeviation),
          dims.size() == 1};
}

// DoubleToHalf, with a short way for the normal numbers nearly all weights
// are: half a unit of the last kept bit is added, ties to even, and the
// exponent changes its bias.
uint16_t FastHalf(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(std::abs(x));
  if (std::abs(x) < 0x1p-14 || std::abs(x) > 65504) return DoubleToHalf(x);
  const uint64_t half = (uint64_t{1} << 41) - 1 + (bits >> 42 & 1);
  const uint64_t rounded = ((bits + half) >> 42) - ((1023 - 15) << 10);
  return static_cast<uint16_t>(rounded | (x < 0 ? 0x8000 : 0));
}

template <class T, class Round>
Fill MakeFill(const Weights& weights, Round round) {
  return [weights, round](int64_t offset, absl::Span<char> out) {
    const uint64_t first = offset / sizeof(T);
    for (size_t i = 0; i < out.size() / sizeof(T); ++i) {
      const T value = round(weights.At(first + i));
      std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
    }
  };
}

TensorEntry RandomTensor(const std::string& name, int32_t dtype,
                         std::vector<int64_t> dims, uint64_t seed) {
  const Weights weights = WeightsFor(name, dims, seed);
  TensorEntry tensor = NewTensor(name, dtype, std::move(dims), {});
  tensor.place = TensorEntry::Place::kGenerated;
  tensor.fill = dtype == TensorProto::FLOAT16
                    ? MakeFill<uint16_t>(weights, FastHalf)
                    : MakeFill<float>(weights, [](double x) {
                        return static_cast<float>(x);
                      });
  return tensor;
}

absl::StatusOr<std::vector<int64_t>> ShapeFrom(const TensorEntry& tensor) {
  if (tensor.dtype != TensorProto::INT64) {
    return Invalid("shape '", tensor.name, "' is not of type INT64");
  }
  ASSIGN_OR_RETURN(SharedBytes bytes, TensorBytes(tensor));
  std::vector<int64_t> dims(bytes.view.size() / sizeof(int64_t));
  if (!dims.empty()) {
    std::memcpy(dims.data(), bytes.view.data(), dims.size() * sizeof(int64_t));
  }
  return dims;
}

// Constants by name. From IR version 4 on, an initializer that is an input is
// only a default, so it is not constant.
using Constants = absl::flat_hash_map<std::string, const TensorEntry*>;

Constants ConstantsOf(const Model& model) {
  Constants constants;
  for (const TensorEntry& t : model.graph.initializers) {
    constants.emplace(t.name, &t);
  }
  if (model.ir_version < 4) return constants;
  for (const ValueEntry& v : model.graph.inputs) constants.erase(v.name);
  return constants;
}

// Makes the tensor that replaces `node`, if it is a large filled one.
absl::StatusOr<std::optional<TensorEntry>> Replacement(
    const OnnxNode& node, const Constants& constants, uint64_t seed) {
  const std::optional<TensorEntry> none;
  if (node.op_type != "ConstantOfShape" || !node.IsOnnxDomain() ||
      node.inputs.size() != 1 || node.outputs.size() != 1 ||
      node.outputs[0].empty()) {
    return none;
  }
  const auto shape = constants.find(node.inputs[0]);
  if (shape == constants.end()) return none;
  const OnnxTensorRef* value = node.Tensor("value");
  const int32_t dtype = value != nullptr ? value->dtype : TensorProto::FLOAT;
  if (dtype != TensorProto::FLOAT && dtype != TensorProto::FLOAT16) return none;
  ASSIGN_OR_RETURN(std::vector<int64_t> dims, ShapeFrom(*shape->second));
  RETURN_IF_ERROR(DataSize(dtype, dims).status());
  ASSIGN_OR_RETURN(const int64_t count, ElementCount(dims));
  if (count <= kMaxKeptElements) return none;
  return RandomTensor(node.outputs[0], dtype, std::move(dims), seed);
}

std::set<std::string> UsedNames(const GraphEntry& graph) {
  std::set<std::string> used;
  for (const NodeEntry& n : graph.nodes) {
    used.insert(n.node.inputs.begin(), n.node.inputs.end());
    used.insert(n.captured.begin(), n.captured.end());
  }
  for (const ValueEntry& v : graph.outputs) used.insert(v.name);
  for (const AnnotationEntry& a : graph.annotations) {
    used.insert(a.parameters.begin(), a.parameters.end());
  }
  return used;
}

// Drops those of the initializers `names` that nothing uses, along with the
// graph inputs that stand for them.
void DropUnused(const std::set<std::string>& names, GraphEntry* graph) {
  const std::set<std::string> used = UsedNames(*graph);
  const auto drop = [&](const auto& entry) {
    return names.contains(entry.name) && !used.contains(entry.name);
  };
  std::erase_if(graph->initializers, drop);
  std::erase_if(graph->inputs, drop);
}

}  // namespace

absl::StatusOr<RandomizeResult> Randomize(uint64_t seed, Model* model) {
  const Constants constants = ConstantsOf(*model);
  RandomizeResult result;
  std::set<std::string> shapes;
  std::vector<NodeEntry> kept;
  std::vector<TensorEntry> tensors;
  for (size_t i = 0; i < model->graph.nodes.size(); ++i) {
    const NodeEntry& entry = model->graph.nodes[i];
    absl::StatusOr<std::optional<TensorEntry>> tensor =
        Replacement(entry.node, constants, seed);
    if (!tensor.ok()) {
      return Prefixed(absl::StrCat(model->path.empty() ? "model" : model->path,
                                   ": ", NodeText(entry.node, i), ": "),
                      tensor.status());
    }
    if (!tensor->has_value()) {
      kept.push_back(entry);
      continue;
    }
    shapes.insert(entry.node.inputs[0]);
    ASSIGN_OR_RETURN(const std::optional<int64_t> size,
                     DataSize((*tensor)->dtype, (*tensor)->dims));
    result.bytes += size.value_or(0);
    ++result.tensors;
    tensors.push_back(**std::move(tensor));
  }
  model->graph.nodes = std::move(kept);
  for (TensorEntry& t : tensors) AddInitializer(std::move(t), model);
  DropUnused(shapes, &model->graph);
  return result;
}

}  // namespace isomer::onnx
