// Light weights become random ones: which, how large, and always the same.
#include "onnx/randomize.h"

#include <cmath>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/model_testing.h"
#include "onnx/writer.h"

namespace isomer::onnx {
namespace {

using onnx_pb::AttributeProto;
using onnx_pb::ModelProto;
using onnx_pb::TensorProto;

// Adds a ConstantOfShape `name` of the given shape and element type.
void AddFilled(const std::string& name, int dtype,
               const std::vector<int64_t>& shape, ModelProto* model) {
  TensorProto* t = model->mutable_graph()->add_initializer();
  t->set_name(name + "_shape");
  t->set_data_type(TensorProto::INT64);
  t->add_dims(shape.size());
  for (int64_t d : shape) t->add_int64_data(d);
  auto* node = model->mutable_graph()->add_node();
  node->set_op_type("ConstantOfShape");
  node->add_input(name + "_shape");
  node->add_output(name);
  auto* attr = node->add_attribute();
  attr->set_name("value");
  attr->set_type(AttributeProto::TENSOR);
  attr->mutable_t()->set_data_type(dtype);
  attr->mutable_t()->add_dims(1);
  attr->mutable_t()->set_raw_data(std::string(ElementBits(dtype) / 8, '\0'));
}

Model Parse(const ModelProto& proto) {
  absl::StatusOr<Model> m =
      ParseModel(SharedBytes::Own(proto.SerializeAsString()), "");
  EXPECT_TRUE(m.ok()) << m.status();
  return m.ok() ? *std::move(m) : Model();
}

// The tensor `name` of a model with the single weight `w`, randomised.
std::vector<float> Weights(const std::vector<int64_t>& shape, uint64_t seed,
                           const std::string& name = "w") {
  ModelProto proto = ProtoFromText("in x\nout x");
  AddFilled(name, TensorProto::FLOAT, shape, &proto);
  Model model = Parse(proto);
  EXPECT_TRUE(Randomize(seed, &model).ok());
  const SharedBytes bytes = *TensorBytes(model.graph.initializers.back());
  std::vector<float> values(bytes.view.size() / sizeof(float));
  std::memcpy(values.data(), bytes.view.data(), bytes.view.size());
  return values;
}

TEST(RandomizeTest, ReplacesLargeFilledWeightsAndNothingElse) {
  ModelProto proto = ProtoFromText("in x\nout x");
  AddFilled("w", TensorProto::FLOAT, {64, 64}, &proto);
  AddFilled("h", TensorProto::FLOAT16, {3000}, &proto);
  AddFilled("small", TensorProto::FLOAT, {2048}, &proto);
  AddFilled("whole", TensorProto::INT64, {3000}, &proto);
  proto.mutable_graph()->add_node()->set_op_type("Op");
  proto.mutable_graph()->mutable_node(4)->add_input("h_shape");
  Model model = Parse(proto);
  absl::StatusOr<RandomizeResult> result = Randomize(1, &model);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->tensors, 2);
  EXPECT_EQ(result->bytes, 64 * 64 * 4 + 3000 * 2);
  EXPECT_EQ(TextOf(model.graph),
            "= in x\n"
            "= init h_shape INT64[1]\n"
            "= init small_shape INT64[1]\n"
            "= init whole_shape INT64[1]\n"
            "+ init w FLOAT[64,64]\n"
            "+ init h FLOAT16[3000]\n"
            "= small = ConstantOfShape(small_shape)\n"
            "= whole = ConstantOfShape(whole_shape)\n"
            "=  = Op(h_shape)\n"
            "= out x\n");
  EXPECT_TRUE(SerializeModel(model).ok());
}

TEST(RandomizeTest, NumbersAreTheSameEverywhere) {
  // The first weights for seed 0; they may change only on purpose.
  const std::vector<float> w = Weights({64, 64}, 0);
  EXPECT_THAT(
      std::vector<float>(w.begin(), w.begin() + 3),
      testing::ElementsAre(-0x1.77c2b6p-4f, -0x1.a9e536p-4f, 0x1.fbffaap-3f));
}

TEST(RandomizeTest, NumbersDependOnSeedAndName) {
  EXPECT_EQ(Weights({64, 64}, 1), Weights({64, 64}, 1));
  EXPECT_NE(Weights({64, 64}, 1), Weights({64, 64}, 2));
  EXPECT_NE(Weights({64, 64}, 1), Weights({64, 64}, 1, "v"));
}

TEST(RandomizeTest, WeightsAreScaledByFanIn) {
  const auto deviation = [](const std::vector<float>& values) {
    double sum = 0, squares = 0;
    for (float v : values) {
      sum += v;
      squares += double{v} * v;
    }
    const double mean = sum / values.size();
    EXPECT_NEAR(mean, 0, 0.01);
    return std::sqrt(squares / values.size() - mean * mean);
  };
  EXPECT_NEAR(deviation(Weights({400, 100}, 3)), 1 / 20.0, 0.001);
  EXPECT_NEAR(deviation(Weights({100, 25, 2, 2}, 3)), 1 / 10.0, 0.002);
  for (float v : Weights({5000}, 3)) {
    EXPECT_GE(v, 1.0f);
    EXPECT_LT(v, 1.5f);
  }
}

TEST(RandomizeTest, WrittenAndReadDataAgree) {
  ModelProto proto = ProtoFromText("in x\nout x");
  // More than one buffer of the writer.
  AddFilled("w", TensorProto::FLOAT16, {1 << 12, 1 << 10}, &proto);
  Model model = Parse(proto);
  ASSERT_TRUE(Randomize(5, &model).ok());
  const SharedBytes direct = *TensorBytes(model.graph.initializers[0]);
  absl::StatusOr<std::string> bytes = SerializeModel(model);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ModelProto after;
  ASSERT_TRUE(after.ParseFromString(*bytes));
  EXPECT_TRUE(after.graph().initializer(0).raw_data() == direct.view);
}

TEST(RandomizeTest, OldModelsKeepInitializersAmongTheirInputs) {
  ModelProto proto = ProtoFromText("ir 3\nin x\nin w_shape\nout x");
  AddFilled("w", TensorProto::FLOAT, {64, 64}, &proto);
  Model model = Parse(proto);
  ASSERT_TRUE(Randomize(1, &model).ok());
  EXPECT_EQ(TextOf(model.graph),
            "= in x\n+ in w FLOAT[64,64]\n+ init w FLOAT[64,64]\n= out x\n");
}

TEST(RandomizeTest, ShapesThatACallerMayChangeAreLeftAlone) {
  ModelProto proto = ProtoFromText("in x\nin w_shape\nout x");
  AddFilled("w", TensorProto::FLOAT, {64, 64}, &proto);
  Model model = Parse(proto);
  EXPECT_EQ(Randomize(1, &model)->tensors, 0);
}

TEST(RandomizeTest, RejectsAbsurdShapes) {
  const auto error = [](const std::vector<int64_t>& shape) {
    ModelProto proto = ProtoFromText("in x\nout x");
    AddFilled("w", TensorProto::FLOAT, shape, &proto);
    Model model = Parse(proto);
    return std::string(Randomize(1, &model).status().message());
  };
  EXPECT_EQ(error({-1, 5000}),
            "model: node #0 (ConstantOfShape): has the negative dimension -1");
  EXPECT_EQ(
      error({int64_t{1} << 40, int64_t{1} << 40}),
      "model: node #0 (ConstantOfShape): has more elements than memory has "
      "addresses");
}

}  // namespace
}  // namespace isomer::onnx
