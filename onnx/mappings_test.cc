// What ONNX nodes become: each case is a node with the types or values of its
// inputs, and the operators that stand for it as text. Values that are known
// at import are written as tensors, the others as types.
#include "onnx/mappings.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/op_def.h"
#include "ops/registry.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

using List = std::vector<int64_t>;

// An import that writes down what a mapping adds.
class TextImport : public OnnxImport {
 public:
  TextImport(OnnxNode node, int opset)
      : node_(std::move(node)), opset_(opset) {}

  // Adds an input: "-" (left out), a type, or a tensor whose value is known.
  absl::Status AddInput(const std::string& text) {
    const std::string name = absl::StrCat("x", node_.inputs.size());
    node_.inputs.push_back(text == "-" ? "" : name);
    places_.push_back(static_cast<int32_t>(values_.size()));
    if (text == "-") return absl::OkStatus();
    if (auto type = ParseType(text); type.ok()) {
      values_.push_back({*std::move(type), name, std::nullopt});
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor tensor, ParseTensor(text));
    values_.push_back({tensor.type, name, tensor});
    return absl::OkStatus();
  }

  const OnnxNode& node() const override { return node_; }
  int opset() const override { return opset_; }
  absl::StatusOr<Value> In(int i) override {
    if (!Has(i)) return Invalid("input ", i, " is missing");
    return Value{{places_[i]}, 0};
  }
  const TensorType& type(Value v) const override {
    return values_[v.node.value].type;
  }
  std::optional<Tensor> Known(int i) override {
    return Has(i) ? values_[places_[i]].known : std::nullopt;
  }
  absl::StatusOr<Value> Add(absl::string_view op, std::vector<Value> inputs,
                            Attrs attrs) override {
    const OpDef* def = Ops().Find(op);
    if (def == nullptr) return absl::InternalError(absl::StrCat("no ", op));
    std::vector<TensorType> types;
    std::vector<std::string> parts;
    for (Value v : inputs) {
      types.push_back(type(v));
      parts.push_back(Text(v));
    }
    ASSIGN_OR_RETURN(auto inferred, InferOp(*def, types, attrs));
    if (!inferred.attrs.empty()) {
      parts.push_back(AttrsText<int64_t>(inferred.attrs));
    }
    return Push({inferred.outputs[0],
                 absl::StrCat(op, "(", absl::StrJoin(parts, ", "), ")"),
                 std::nullopt});
  }
  absl::StatusOr<Value> Constant(Tensor tensor) override {
    return Push(
        {tensor.type,
         absl::StrCat(TensorText(tensor), ":", DTypeName(tensor.type.dtype)),
         tensor});
  }

  const std::string& Text(Value v) const { return values_[v.node.value].text; }

 private:
  struct Entry {
    TensorType type;
    std::string text;
    std::optional<Tensor> known;
  };
  Value Push(Entry entry) {
    values_.push_back(std::move(entry));
    return {{static_cast<int32_t>(values_.size()) - 1}, 0};
  }

  OnnxNode node_;
  int opset_;
  std::vector<int32_t> places_;
  std::vector<Entry> values_;
};

// The operators that stand for a node, one text per output; an error's text
// starts with its kind.
std::string Import(const std::string& op_type, int opset,
                   const std::vector<std::string>& inputs,
                   std::vector<OnnxAttr> attrs = {}, int outputs = 1) {
  OnnxNode node;
  node.op_type = op_type;
  node.attrs = std::move(attrs);
  node.outputs.assign(outputs, "y");
  TextImport import(std::move(node), opset);
  for (const std::string& text : inputs) {
    if (absl::Status s = import.AddInput(text); !s.ok()) return s.ToString();
  }
  const FromOnnx* from = FindImport("", op_type);
  if (from == nullptr) return "no import";
  Imported values = (*from)(import);
  if (absl::IsUnimplemented(values.status())) {
    return absl::StrCat("opaque: ", values.status().message());
  }
  if (!values.ok()) return absl::StrCat("error: ", values.status().message());
  return absl::StrJoin(*values, "; ", [&](std::string* out, Value v) {
    absl::StrAppend(out, import.Text(v));
  });
}

TEST(MappingsTest, SliceBoundsAreResolved) {
  const char* kTail = "slice(x0, axes=[0], from=[3], to=[5], step=[1])";
  EXPECT_EQ(Import("Slice", 13, {"f32[5,2]", "[-2]:i64", "[99]:i64"}), kTail);
  EXPECT_EQ(Import("Slice", 9, {"f32[5,2]"},
                   {{"starts", List{3}}, {"ends", List{99}}}),
            kTail);
  EXPECT_EQ(Import("Slice", 11,
                   {"f32[5]", "[-1]:i64", "[-99]:i64", "[0]:i32", "[-2]:i64"}),
            "slice(x0, axes=[0], from=[4], to=[-1], step=[-2])");
  EXPECT_EQ(Import("Slice", 13, {"f32[5]", "[0]:i64", "[9]:i64"}), "x0");
}

TEST(MappingsTest, SliceRejects) {
  EXPECT_EQ(Import("Slice", 13, {"f32[5]", "i64[1]", "[9]:i64"}),
            "opaque: Slice: input 1 is computed at run time; its value must be "
            "known");
  EXPECT_EQ(Import("Slice", 13, {"f32[5]", "[0]:i64", "[9]:i64", "[1]:i64"}),
            "error: Slice: axis 1 is not in [-1, 1)");
  EXPECT_EQ(Import("Slice", 13,
                   {"f32[5]", "[0]:i64", "[9]:i64", "[0]:i64", "[0]:i64"}),
            "error: Slice: step of axis 0 is 0");
}

TEST(MappingsTest, ReshapeSizesAreResolved) {
  EXPECT_EQ(Import("Reshape", 13, {"f32[2,3,4]", "[0 -1]:i64"}),
            "reshape(x0, shape=[2 12])");
  EXPECT_EQ(Import("Reshape", 14, {"f32[0,3]", "[3 0]:i64"},
                   {{"allowzero", int64_t{1}}}),
            "reshape(x0, shape=[3 0])");
  EXPECT_EQ(Import("Reshape", 13, {"f32[2,3]", "[4 -1]:i64"}),
            "error: Reshape: [2,3] does not become [4,-1]");
  EXPECT_EQ(Import("Reshape", 13, {"f32[2,3]", "[-1 -1]:i64"}),
            "error: Reshape: two sizes are -1");
  EXPECT_EQ(Import("Reshape", 13, {"f32[2,3]", "[6 1 0]:i64"}),
            "error: Reshape: size 0 at 2 has nothing to copy from [2,3]");
}

TEST(MappingsTest, DimensionsOfSizeOne) {
  EXPECT_EQ(Import("Squeeze", 13, {"f32[1,3,1]"}), "reshape(x0, shape=[3])");
  EXPECT_EQ(Import("Squeeze", 11, {"f32[1,3,1]"}, {{"axes", List{-1}}}),
            "reshape(x0, shape=[1 3])");
  EXPECT_EQ(Import("Squeeze", 13, {"f32[1,3]", "[1]:i64"}),
            "error: Squeeze: dimension 1 of [1,3] is not 1");
  EXPECT_EQ(Import("Unsqueeze", 13, {"f32[3]", "[0 -1]:i64"}),
            "reshape(x0, shape=[1 3 1])");
  EXPECT_EQ(Import("Unsqueeze", 11, {"f32[3]"}, {{"axes", List{0, 0}}}),
            "error: Unsqueeze: axis 0 twice");
  EXPECT_EQ(Import("Flatten", 13, {"f32[2,3,4]"}, {{"axis", int64_t{-1}}}),
            "reshape(x0, shape=[6 4])");
  EXPECT_EQ(Import("Flatten", 13, {"f32[2]"}, {{"axis", int64_t{2}}}),
            "error: Flatten: axis 2 is not in [-1, 1]");
}

TEST(MappingsTest, SplitBecomesSlices) {
  const char* kParts =
      "slice(x0, axes=[1], from=[0], to=[2], step=[1]); "
      "slice(x0, axes=[1], from=[2], to=[5], step=[1])";
  EXPECT_EQ(Import("Split", 11, {"f32[2,5]"},
                   {{"axis", int64_t{1}}, {"split", List{2, 3}}}, 2),
            kParts);
  EXPECT_EQ(Import("Split", 13, {"f32[2,5]", "[2 3]:i64"},
                   {{"axis", int64_t{-1}}}, 2),
            kParts);
  EXPECT_EQ(Import("Split", 18, {"f32[5]"}, {{"num_outputs", int64_t{2}}}, 2),
            "slice(x0, axes=[0], from=[0], to=[3], step=[1]); "
            "slice(x0, axes=[0], from=[3], to=[5], step=[1])");
  EXPECT_EQ(Import("Split", 13, {"f32[5]"}, {}, 2),
            "error: Split: 2 equal parts of size 5");
  EXPECT_EQ(Import("Split", 13, {"f32[5]", "[2 2]:i64"}, {}, 2),
            "error: Split: parts [2 2] of size 5 for 2 outputs");
}

TEST(MappingsTest, ExpandBecomesBroadcast) {
  EXPECT_EQ(Import("Expand", 13, {"f32[3,1]", "[2 1 4]:i64"}),
            "broadcast(reshape(x0, shape=[3]), shape=[2 3 4], dims=[1])");
  EXPECT_EQ(Import("Expand", 13, {"f32[3]", "[2]:i64"}),
            "error: shapes do not broadcast: [3] and [2]");
}

TEST(MappingsTest, ShapesAreConstants) {
  EXPECT_EQ(Import("Shape", 13, {"f32[2,3]"}), "[2 3]:i64");
  EXPECT_EQ(Import("Shape", 15, {"f32[2,3,4]"},
                   {{"start", int64_t{-2}}, {"end", int64_t{-1}}}),
            "[3]:i64");
  EXPECT_EQ(Import("Size", 13, {"f32[2,3]"}), "6:i64");
  EXPECT_EQ(Import("Constant", 13, {}, {{"value_ints", List{1, 2}}}),
            "[1 2]:i64");
  EXPECT_EQ(Import("Constant", 13, {}, {{"value_string", std::string("s")}}),
            "opaque: Constant: its value is a string or sparse");
}

TEST(MappingsTest, PadForms) {
  EXPECT_EQ(Import("Pad", 18, {"f32[2,3]", "[1 2]:i64", "7", "[-1]:i64"}),
            "pad(x0, begin=[0 1], end=[0 2], value=7, mode=constant)");
  EXPECT_EQ(
      Import("Pad", 9, {"f32[2]"}, {{"pads", List{1, 0}}, {"value", 0.5f}}),
      "pad(x0, begin=[1], end=[0], value=0.5, mode=constant)");
  EXPECT_EQ(Import("Pad", 13, {"f32[2]", "[0 0]:i64"}), "x0");
  EXPECT_EQ(Import("Pad", 13, {"f32[2]", "[-1 0]:i64"}),
            "opaque: Pad: negative pads on axis 0");
  EXPECT_EQ(Import("Pad", 13, {"f32[2]", "[2 0]:i64"},
                   {{"mode", std::string("reflect")}}),
            "opaque: Pad: mode reflect adds 2 to dimension 0 of f32[2]");
  EXPECT_EQ(Import("Pad", 13, {"f32[2]", "[1]:i64"}),
            "error: Pad: 1 pads for 1 axes");
}

TEST(MappingsTest, ResizeForms) {
  const char* kTwice =
      "resize(x0, shape=[1 1 4 6], scales=[], mode=nearest, "
      "coordinates=asymmetric, nearest=floor, cubic_a=-0.75)";
  EXPECT_EQ(Import("Upsample", 9, {"f32[1,1,2,3]", "[1 1 2 2]"}), kTwice);
  EXPECT_EQ(Import("Upsample", 7, {"f32[1,1,2,3]"},
                   {{"scales", std::vector<float>{1, 1, 2, 2}}}),
            kTwice);
  EXPECT_EQ(Import("Resize", 13, {"f32[5]", "-", "[1.5]"},
                   {{"mode", std::string("linear")}}),
            "resize(x0, shape=[7], scales=[1.5], mode=linear, "
            "coordinates=half_pixel, nearest=round_prefer_floor, "
            "cubic_a=-0.75)");
  EXPECT_EQ(Import("Resize", 13, {"f32[5]", "-", "-", "[7 7]:i64"}),
            "error: Resize: 2 sizes for 1 dimensions");
  EXPECT_EQ(Import("Resize", 18, {"f32[5]", "-", "-", "[3]:i64"},
                   {{"antialias", int64_t{1}}}),
            "opaque: Resize: antialias or exclude_outside");
}

TEST(MappingsTest, TriluComparesRowsAndColumns) {
  EXPECT_EQ(Import("Trilu", 14, {"bool[2,2]"}),
            "and(greater_equal(iota(shape=[2 2], axis=1, dtype=i64), "
            "iota(shape=[2 2], axis=0, dtype=i64)), x0)");
  EXPECT_EQ(Import("Trilu", 14, {"f32[2]"}),
            "error: Trilu: f32[2] is no matrix");
  EXPECT_TRUE(absl::StartsWith(Import("Trilu", 14, {"f32[2,2]", "i64[]"}),
                               "opaque: Trilu: input 1"));
}

TEST(MappingsTest, EmptyInputsStayOpaque) {
  EXPECT_EQ(Import("Gather", 13, {"f32[0,2]", "i64[0]"}),
            "opaque: Gather: the first input is empty");
  EXPECT_EQ(Import("Gather", 13, {"f32[3]", "i64[2]"}, {{"axis", int64_t{1}}}),
            "error: gather: axis 1 is not in [-1, 1): f32[3] and i64[2] with "
            "axis=1");
}

}  // namespace
}  // namespace isomer::onnx
