// What a model says is what is read, and a model that breaks a rule is an error
// that names the place.
#include "onnx/model.h"

#include <filesystem>
#include <functional>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/model_testing.h"

namespace isomer::onnx {
namespace {

using onnx_pb::AttributeProto;
using onnx_pb::ModelProto;
using onnx_pb::TensorProto;
using testing::HasSubstr;

absl::StatusOr<Model> Parse(const ModelProto& proto) {
  return ParseModel(SharedBytes::Own(proto.SerializeAsString()), "");
}

TEST(ModelTest, ReadsTheGraph) {
  absl::StatusOr<Model> m = ParseModel(SharedBytes::Own(BytesFromText(R"(
    in x FLOAT[N,4]
    in c
    init w FLOAT[4,2]
    info h FLOAT[?,2]
    h = MatMul(x, w)
    a, , b = Split(h, )
    y = If(c) { t = Add(a, b) }
    out y FLOAT[3,7]
  )")),
                                       "");
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(TextOf(m->graph),
            "= in x FLOAT[N,4]\n"
            "= in c\n"
            "= init w FLOAT[4,2]\n"
            "= info h FLOAT[?,2]\n"
            "= h = MatMul(x, w)\n"
            "= a, , b = Split(h, )\n"
            "= y = If(c) captures a, b\n"
            "= out y FLOAT[3,7]\n");
}

TEST(ModelTest, ReadsTheModelAroundTheGraph) {
  ModelProto proto = ProtoFromText("ir 9\nopset 18\nin x\nout x");
  proto.set_producer_name("p");
  proto.set_producer_version("1.2");
  proto.set_domain("d");
  proto.set_model_version(7);
  auto* custom = proto.add_opset_import();
  custom->set_domain("com.custom");
  custom->set_version(3);
  auto* pair = proto.add_metadata_props();
  pair->set_key("k");
  pair->set_value("v");
  auto* f = proto.add_functions();
  f->set_name("Twice");
  f->set_domain("com.custom");
  f->add_input("a");
  f->add_output("b");
  auto* node = f->add_node();
  node->set_op_type("Add");
  node->add_input("a");
  node->add_input("a");
  node->add_output("b");
  absl::StatusOr<Model> m = Parse(proto);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(
      absl::StrCat(m->ir_version, " ", m->producer_name, " ",
                   m->producer_version, " ", m->domain, " ", m->model_version),
      "9 p 1.2 d 7");
  EXPECT_EQ(m->OpsetVersion(""), 18);
  EXPECT_EQ(m->OpsetVersion("ai.onnx"), 18);
  EXPECT_EQ(m->OpsetVersion("com.custom"), 3);
  EXPECT_EQ(m->OpsetVersion("com.other"), 0);
  ASSERT_EQ(m->metadata.size(), 1);
  EXPECT_EQ(m->metadata[0].first + m->metadata[0].second, "kv");
  ASSERT_EQ(m->functions.size(), 1);
  EXPECT_EQ(m->functions[0].name, "Twice");
}

AttributeProto* AddAttr(const char* name, int type, onnx_pb::NodeProto* node) {
  AttributeProto* attr = node->add_attribute();
  attr->set_name(name);
  if (type != 0) attr->set_type(AttributeProto::AttributeType(type));
  return attr;
}

TEST(ModelTest, ReadsAttributes) {
  ModelProto proto = ProtoFromText("in x\ny = Op(x)\nout y");
  onnx_pb::NodeProto* node = proto.mutable_graph()->mutable_node(0);
  node->set_domain("com.custom");
  AddAttr("i", AttributeProto::INT, node)->set_i(-3);
  AddAttr("zero", AttributeProto::INT, node);  // a default may be left out
  AddAttr("f", AttributeProto::FLOAT, node)->set_f(0.5f);
  AddAttr("s", AttributeProto::STRING, node)->set_s("text");
  AttributeProto* ints = AddAttr("ints", AttributeProto::INTS, node);
  ints->add_ints(1);
  ints->add_ints(2);
  AddAttr("none", AttributeProto::INTS, node);
  AddAttr("floats", AttributeProto::FLOATS, node)->add_floats(2.5f);
  AddAttr("strings", AttributeProto::STRINGS, node)->add_strings("u");
  AddAttr("untyped", 0, node)->set_i(4);  // as before types were written
  TensorProto* t = AddAttr("t", AttributeProto::TENSOR, node)->mutable_t();
  t->set_data_type(TensorProto::FLOAT);
  t->add_dims(1);
  t->add_float_data(1);
  AddAttr("tp", AttributeProto::TYPE_PROTO, node)->mutable_tp();
  AddAttr("ref", AttributeProto::INT, node)->set_ref_attr_name("outer");
  absl::StatusOr<Model> m = Parse(proto);
  ASSERT_TRUE(m.ok()) << m.status();
  const OnnxNode& n = m->graph.nodes[0].node;
  EXPECT_FALSE(n.IsOnnxDomain());
  EXPECT_EQ(n.Int("i"), -3);
  EXPECT_EQ(n.Int("zero", 5), 0);
  EXPECT_EQ(n.Int("absent", 5), 5);
  EXPECT_EQ(n.Float("f"), 0.5f);
  EXPECT_EQ(n.String("s"), "text");
  EXPECT_EQ(n.Ints("ints"), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(n.Has("none"));
  EXPECT_TRUE(n.Ints("none").empty());
  EXPECT_EQ(n.Floats("floats"), (std::vector<float>{2.5f}));
  EXPECT_EQ(n.Strings("strings"), (std::vector<std::string>{"u"}));
  EXPECT_EQ(n.Int("untyped"), 4);
  ASSERT_NE(n.Tensor("t"), nullptr);
  EXPECT_EQ(n.Tensor("t")->bytes.view.size(), 4);
  EXPECT_NE(n.Get<OnnxOpaqueAttr>("tp"), nullptr);
  EXPECT_NE(n.Get<OnnxOpaqueAttr>("ref"), nullptr);
  EXPECT_EQ(n.Int("s", 9), 9);  // of another type
}

TEST(ModelTest, CollectsCapturedNamesAtAnyDepth) {
  ModelProto inner = ProtoFromText("b = If(c) { t = Add(p, q) }\nout b");
  ModelProto proto = ProtoFromText("in c\nin p\nin q\ny = If(c)\nout y");
  auto* attr = AddAttr("g", AttributeProto::GRAPH,
                       proto.mutable_graph()->mutable_node(0));
  *attr->mutable_g() = inner.graph();
  // A name that the inner graph defines itself is not captured.
  TensorProto* t = attr->mutable_g()->add_initializer();
  t->set_name("q");
  t->set_data_type(TensorProto::FLOAT);
  t->set_raw_data("abcd");
  absl::StatusOr<Model> m = Parse(proto);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->graph.nodes[0].captured, (std::vector<std::string>{"c", "p"}));
}

TEST(ModelTest, RejectsBrokenGraphs) {
  const std::pair<const char*, const char*> cases[] = {
      {"in x\ny = Relu(z)\nout y",
       "model: node #0 (Relu) uses 'z', which nothing defines"},
      {"in x\nout y", "model: graph output uses 'y', which nothing defines"},
      {"in x\nin x\nout x",
       "model: graph input 'x': the name is defined twice"},
      {"in x\nx = Relu(x)\nout x",
       "model: node #0 (Relu): output 'x': the name is defined twice"},
      {"in x\ny = Relu(x)\ny = Neg(x)\nout y",
       "model: node #1 (Neg): output 'y': the name is defined twice"},
      {"init w FLOAT[1]\ninit w FLOAT[1]\nout w",
       "model: initializer 'w': the name is defined twice"},
      {"init w FLOAT[1]\nin x\nw = Relu(x)\nout w",
       "model: node #0 (Relu): output 'w': the name is defined twice"},
      {"in x\ny = Relu(h)\nh = Neg(x)\nout y",
       "model: node #0 (Relu) uses 'h', which node #1 (Neg) defines only "
       "later: the nodes are not in topological order"},
      {"in x\na = Add(x, b)\nb = Neg(a)\nout b",
       "model: node #0 (Add) uses 'b', which node #1 (Neg) defines only later: "
       "the nodes form a cycle"},
      {"in x\na = Relu(a)\nout a",
       "model: node #0 (Relu) uses 'a', which node #0 (Relu) defines only "
       "later: the nodes form a cycle"},
      {"in c\ny = If(c) { t = Neg(z) }\nout y",
       "model: node #0 (If) uses 'z', which nothing defines"},
      {"in c\ny = If(c) { t = Neg(t) }\nout y",
       "model: node #0 (If): attribute 'body': node #0 (Neg) uses 't', which "
       "node #0 (Neg) defines only later: the nodes form a cycle"},
      {"in \nout x", "model: graph input has no name"},
      {"in x\ny = (x)\nout y", "model: node #0 (): has no op_type"},
      {"ir 0\nin x\nout x", "model: has no IR version"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(ReadResult(BytesFromText(text)), error) << text;
  }
}

TEST(ModelTest, AcceptsWhatOnlyLooksBroken) {
  for (const char* text : {
           "in x\nout x",                                 // nothing to do
           "in x\nin w\ninit w FLOAT[1]\nout w",          // a default
           "in x\ny, , z = Split(x, , )\nout z",          // omitted names
           "in c\nin t\ny = If(c) { u = Neg(t) }\nout y"  // captured
       }) {
    EXPECT_EQ(ReadResult(BytesFromText(text)), "ok") << text;
  }
}

TEST(ModelTest, RejectsWhatTheTextCannotSay) {
  const auto edited = [](const std::function<void(ModelProto*)>& edit) {
    ModelProto proto = ProtoFromText("in x\ny = Relu(x)\nout y");
    proto.mutable_graph()->mutable_node(0)->set_name("act");
    edit(&proto);
    return ReadResult(proto.SerializeAsString());
  };
  EXPECT_EQ(edited([](ModelProto* m) { m->clear_graph(); }),
            "model: has no graph: not an ONNX model");
  EXPECT_EQ(edited([](ModelProto* m) { m->clear_opset_import(); }),
            "model: imports no opset");
  EXPECT_EQ(edited([](ModelProto* m) {
              auto* node = m->mutable_graph()->mutable_node(0);
              AddAttr("a", AttributeProto::INT, node);
              AddAttr("a", AttributeProto::INT, node);
            }),
            "model: node 'act' (Relu): attribute 'a' is given twice");
  EXPECT_EQ(edited([](ModelProto* m) {
              AddAttr("v", AttributeProto::TENSOR,
                      m->mutable_graph()->mutable_node(0));
            }),
            "model: node 'act' (Relu): attribute 'v': is a tensor, but holds "
            "none");
  EXPECT_EQ(edited([](ModelProto* m) {
              auto* t = AddAttr("v", AttributeProto::TENSOR,
                                m->mutable_graph()->mutable_node(0))
                            ->mutable_t();
              t->set_data_type(TensorProto::FLOAT);
              t->add_dims(2);
            }),
            "model: node 'act' (Relu): attribute 'v': tensor '' FLOAT[2]: data "
            "has 0 elements, but the shape needs 2");
  EXPECT_EQ(edited([](ModelProto* m) {
              auto* f = m->add_functions();
              f->set_name("F");
              f->add_output("y");
            }),
            "model: function 'F': graph output uses 'y', which nothing "
            "defines");
  EXPECT_EQ(edited([](ModelProto* m) {
              m->add_functions()->set_name("F");
              m->add_functions()->set_name("F");
            }),
            "model: function 'F': is defined twice");
}

TEST(ModelTest, RejectsDeeplyNestedGraphs) {
  onnx_pb::GraphProto graph;
  for (int i = 0; i < 40; ++i) {
    onnx_pb::GraphProto outer;
    auto* node = outer.add_node();
    node->set_op_type("If");
    *AddAttr("g", AttributeProto::GRAPH, node)->mutable_g() = graph;
    graph = outer;
  }
  ModelProto proto = ProtoFromText("");
  *proto.mutable_graph() = graph;
  EXPECT_THAT(ReadResult(proto.SerializeAsString()),
              HasSubstr("graphs are nested more than 32 deep"));
}

TEST(ModelTest, EveryTruncationIsAnError) {
  const std::string bytes = BytesFromText(R"(
    in x FLOAT[N,4]
    init w FLOAT[4,2]
    h = MatMul(x, w)
    y = If(x) { t = Neg(h) }
    out y)");
  ASSERT_EQ(ReadResult(bytes), "ok");
  EXPECT_EQ(ReadResult(""), "model: is empty");
  for (size_t n = 1; n < bytes.size(); ++n) {
    EXPECT_NE(ReadResult(bytes.substr(0, n)), "ok") << n;
  }
}

TEST(ModelTest, DamagedBytesNeverCrash) {
  const std::string bytes = BytesFromText(
      "in x FLOAT[N,4]\ninit w FLOAT[4,2]\ny = MatMul(x, w)\nout y");
  std::mt19937 random(1);
  int errors = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 3; ++k) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    errors += ReadResult(damaged) != "ok";
  }
  EXPECT_GT(errors, 1000);
  for (int i = 0; i < 2000; ++i) {
    std::string noise(1 + random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_NE(ReadResult(noise), "ok");
  }
}

// Models with one external tensor of two floats.
class ExternalTest : public testing::Test {
 protected:
  std::string Result(
      const std::vector<std::pair<std::string, std::string>>& entries) {
    ModelProto proto = ProtoFromText("init w FLOAT[2]\nout w");
    TensorProto* t = proto.mutable_graph()->mutable_initializer(0);
    t->clear_raw_data();
    t->set_data_location(TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* pair = t->add_external_data();
      pair->set_key(key);
      pair->set_value(value);
    }
    WriteBytes(folder_ + "/m/a.onnx", proto.SerializeAsString());
    absl::StatusOr<Model> m = ReadModel(folder_ + "/m/a.onnx");
    if (!m.ok()) return std::string(m.status().message());
    return std::string(TensorBytes(m->graph.initializers[0])->view);
  }
  void SetUp() override {
    folder_ = TestFolder();
    std::filesystem::create_directories(folder_ + "/m/sub");
    WriteBytes(folder_ + "/m/data", "0123456789abcdef");
    WriteBytes(folder_ + "/m/sub/data", "ABCDEFGH");
    WriteBytes(folder_ + "/secret", "01234567");
  }
  std::string folder_;
};

TEST_F(ExternalTest, FindsTheData) {
  EXPECT_EQ(Result({{"location", "data"}}), "01234567");
  EXPECT_EQ(Result({{"location", "data"}, {"offset", "8"}}), "89abcdef");
  EXPECT_EQ(Result({{"location", "sub/data"}, {"length", "8"}}), "ABCDEFGH");
}

TEST_F(ExternalTest, RejectsWhatIsNotThere) {
  const auto with = [&](auto... entries) {
    return Result({{"location", "data"}, entries...});
  };
  using Entry = std::pair<std::string, std::string>;
  const std::string tensor = folder_ + "/m/a.onnx: tensor 'w' FLOAT[2]: ";
  EXPECT_EQ(Result({{"location", "none"}}),
            tensor + "external data 'none': No such file or directory");
  EXPECT_EQ(with(Entry("length", "4")),
            tensor + "external data 'data' has 4 bytes, but the shape needs 8");
  EXPECT_EQ(with(Entry("offset", "9")),
            tensor +
                "external data 'data' has 16 bytes, but the tensor lies "
                "at offset 9 with length 8");
  EXPECT_EQ(with(Entry("offset", "9223372036854775807")),
            tensor +
                "external data 'data' has 16 bytes, but the tensor lies "
                "at offset 9223372036854775807 with length 8");
  EXPECT_EQ(with(Entry("offset", "-1")),
            tensor +
                "external data has the offset '-1', which is no byte "
                "count");
  EXPECT_EQ(with(Entry("length", "99999999999999999999")),
            tensor +
                "external data has the length '99999999999999999999', "
                "which is no byte count");
  EXPECT_EQ(Result({{"location", "sub"}}),
            tensor + folder_ + "/m/sub: is not a regular file");
}

TEST_F(ExternalTest, NeverLeavesTheFolder) {
  std::filesystem::create_symlink(folder_ + "/secret", folder_ + "/m/link");
  std::filesystem::create_directory_symlink(folder_, folder_ + "/m/up");
  EXPECT_THAT(Result({{"location", folder_ + "/secret"}}),
              HasSubstr("is an absolute path"));
  for (const char* location :
       {"../secret", "sub/../../secret", "sub/../data", ".."}) {
    EXPECT_THAT(Result({{"location", location}}),
                HasSubstr("leads out of the model's folder"))
        << location;
  }
  for (const char* location : {"link", "up/secret"}) {
    EXPECT_THAT(Result({{"location", location}}),
                HasSubstr("is a link that leads out of the model's folder"))
        << location;
  }
  EXPECT_THAT(Result({{"location", std::string("da\0ta", 5)}}),
              HasSubstr("holds a zero byte"));
  EXPECT_THAT(Result({{"location", "."}}),
              HasSubstr("leads out of the model's folder"));
}

TEST(ModelTest, ErrorsNameTheFile) {
  const std::string folder = TestFolder();
  EXPECT_EQ(ReadModel(folder + "/none.onnx").status().message(),
            folder + "/none.onnx: cannot open: No such file or directory");
  EXPECT_EQ(ReadModel(folder).status().message(),
            folder + ": is not a regular file");
  WriteBytes(folder + "/text.onnx", "hello world");
  EXPECT_THAT(std::string(ReadModel(folder + "/text.onnx").status().message()),
              HasSubstr(folder + "/text.onnx: not a valid protobuf message"));
}

TEST(ModelTest, RejectsFilesOverTheLimitOfProtobuf) {
  const std::string path = TestFolder() + "/big.onnx";
  WriteBytes(path, "x");
  std::filesystem::resize_file(path, kMaxModelBytes + 1);  // sparse
  EXPECT_THAT(std::string(ReadModel(path).status().message()),
              HasSubstr("has 2147483648 bytes, but a protobuf file ends at 2 "
                        "GB"));
  std::filesystem::remove(path);
}

TEST(ModelTest, NewModelsAreEmptyAndCheckedWhenFilled) {
  absl::StatusOr<Model> m = NewModel(8, {{"", 17}}, "g");
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(TextOf(m->graph), "");
  EXPECT_EQ(m->OpsetVersion(""), 17);
  AddInitializer(
      NewTensor("w", TensorProto::FLOAT, {2}, SharedBytes::Own("12345678")),
      &*m);
  EXPECT_TRUE(CheckModel(*m).ok());
  AddInitializer(
      NewTensor("v", TensorProto::FLOAT, {3}, SharedBytes::Own("12345678")),
      &*m);
  EXPECT_EQ(CheckModel(*m).message(),
            "initializer 'v': data has 8 bytes, but the shape needs 12");
}

TEST(ModelTest, OldModelsListInitializersAsInputs) {
  absl::StatusOr<Model> m = NewModel(3, {{"", 9}}, "g");
  ASSERT_TRUE(m.ok()) << m.status();
  AddInitializer(
      NewTensor("w", TensorProto::FLOAT, {1}, SharedBytes::Own("1234")), &*m);
  EXPECT_EQ(TextOf(m->graph), "+ in w FLOAT[1]\n+ init w FLOAT[1]\n");
}

}  // namespace
}  // namespace isomer::onnx
