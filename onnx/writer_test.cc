// Untouched models come out byte for byte; edited ones keep everything that was
// not edited; failures leave nothing behind.
#include "onnx/writer.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/encode.h"
#include "onnx/model_testing.h"
#include "onnx/wire.h"

namespace isomer::onnx {
namespace {

namespace fs = std::filesystem;
using onnx_pb::ModelProto;
using onnx_pb::TensorProto;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kModel[] = R"(
  in x FLOAT[N,4]
  init w FLOAT[4,2]
  init v FLOAT[2]
  info h FLOAT[N,2]
  h = MatMul(x, w)
  y = Add(h, v)
  out y)";

Model Parse(const std::string& bytes) {
  absl::StatusOr<Model> m = ParseModel(SharedBytes::Own(bytes), "");
  EXPECT_TRUE(m.ok()) << m.status();
  return m.ok() ? *std::move(m) : Model();
}

// The edited model as text, after writing and reading it again.
std::string Rewritten(const Model& model) {
  absl::StatusOr<std::string> bytes = SerializeModel(model);
  if (!bytes.ok()) return std::string(bytes.status().message());
  // Protobuf has to agree that this is a model.
  EXPECT_TRUE(ModelProto().ParseFromString(*bytes));
  return TextOf(Parse(*bytes).graph);
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      names.push_back(fs::relative(entry.path(), folder).string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(WriterTest, UntouchedModelsAreUnchanged) {
  const std::string bytes = BytesFromText(kModel);
  EXPECT_EQ(*SerializeModel(Parse(bytes)), bytes);
}

TEST(WriterTest, UnusualEncodingsAreUnchanged) {
  // Fields in another order, interleaved lists, unknown fields at each level,
  // lengths in more bytes than they need: all legal, none of it canonical.
  const ModelProto proto = ProtoFromText(kModel);
  std::string node = proto.graph().node(0).SerializeAsString();
  PutInt(999, 5, &node);
  std::string graph;
  PutBytes(12, proto.graph().output(0).SerializeAsString(), &graph);
  PutBytes(1, node, &graph);
  PutBytes(5, proto.graph().initializer(0).SerializeAsString(), &graph);
  PutBytes(777, "unknown", &graph);
  PutBytes(1, proto.graph().node(1).SerializeAsString(), &graph);
  PutBytes(5, proto.graph().initializer(1).SerializeAsString(), &graph);
  PutBytes(11, proto.graph().input(0).SerializeAsString(), &graph);
  std::string bytes;
  PutBytes(888, "unknown", &bytes);
  bytes += "\x3a";  // the graph, its length in five bytes
  for (int i = 0; i < 4; ++i) {
    bytes += static_cast<char>((graph.size() >> (7 * i) & 0x7f) | 0x80);
  }
  bytes += '\0';
  bytes += graph;
  PutInt(1, 8, &bytes);
  PutBytes(8, proto.opset_import(0).SerializeAsString(), &bytes);
  Model model = Parse(bytes);
  EXPECT_EQ(*SerializeModel(model), bytes);

  // An edit changes what it has to and nothing else.
  OnnxNode relu;
  relu.op_type = "Relu";
  relu.inputs = {"h"};
  relu.outputs = {"y"};
  model.graph.nodes[1] = NewNode(relu);
  const std::string edited = *SerializeModel(model);
  EXPECT_THAT(edited, HasSubstr(node));
  ModelProto after;
  ASSERT_TRUE(after.ParseFromString(edited));
  EXPECT_EQ(after.graph().node(1).op_type(), "Relu");
  EXPECT_EQ(after.unknown_fields().size(), proto.unknown_fields().size() + 10);
}

TEST(WriterTest, EditedListsKeepTheirOrder) {
  Model model = Parse(BytesFromText(kModel));
  OnnxNode relu{.name = "new",
                .op_type = "Relu",
                .domain = "",
                .inputs = {"h"},
                .outputs = {"r"},
                .attrs = {},
                .overload = ""};
  model.graph.nodes.insert(model.graph.nodes.begin() + 1, NewNode(relu));
  model.graph.nodes[2] = Rewired(model.graph.nodes[2], {"r", "bias"}, {"y"});
  model.graph.initializers[1] =
      NewTensor("bias", TensorProto::FLOAT, {2}, SharedBytes::Own("12345678"));
  model.graph.value_infos.clear();
  EXPECT_EQ(Rewritten(model),
            "= in x FLOAT[N,4]\n"
            "= init w FLOAT[4,2]\n"
            "= init bias FLOAT[2]\n"
            "= h = MatMul(x, w)\n"
            "= r = Relu(h)\n"
            "= y = Add(r, bias)\n"
            "= out y\n");
}

TEST(WriterTest, EntriesMayBeMovedDroppedAndAddedToEmptyLists) {
  Model model = Parse(BytesFromText("in x\na = Relu(x)\nb = Neg(x)\nout b"));
  std::swap(model.graph.nodes[0], model.graph.nodes[1]);
  AddInitializer(
      NewTensor("w", TensorProto::FLOAT, {}, SharedBytes::Own("abcd")), &model);
  EXPECT_EQ(Rewritten(model),
            "= in x\n= init w FLOAT[]\n= b = Neg(x)\n= a = Relu(x)\n= out b\n");
  model.graph.nodes.pop_back();
  EXPECT_EQ(Rewritten(model),
            "= in x\n= init w FLOAT[]\n= b = Neg(x)\n= out b\n");
}

TEST(WriterTest, EveryKindOfAttributeIsWritten) {
  OnnxNode node;
  node.name = "n";
  node.op_type = "Op";
  node.domain = "com.custom";
  node.overload = "o";
  node.inputs = {"x", "", "x"};
  node.outputs = {"y"};
  OnnxTensorRef tensor{.name = "t",
                       .dtype = TensorProto::INT64,
                       .dims = {1},
                       .bytes = SharedBytes::Own("12345678"),
                       .strings = {}};
  OnnxTensorRef strings{.name = "",
                        .dtype = TensorProto::STRING,
                        .dims = {2},
                        .bytes = {},
                        .strings = {"a", ""}};
  node.attrs = {{"i", int64_t{-1}},
                {"f", 0.25f},
                {"s", std::string("text")},
                {"is", std::vector<int64_t>{1, -2}},
                {"fs", std::vector<float>{1, 2}},
                {"ss", std::vector<std::string>{"u", ""}},
                {"t", tensor},
                {"ts", strings}};
  Model model = Parse(BytesFromText("in x\nz = If(x) { t = Neg(x) }\nout z"));
  node.attrs.push_back(model.graph.nodes[0].node.attrs[0]);  // a graph
  model.graph.nodes.push_back(NewNode(node, {"x"}));
  const Model again = Parse(*SerializeModel(model));
  const OnnxNode& n = again.graph.nodes[1].node;
  EXPECT_EQ(n.name + n.op_type + n.domain + n.overload, "nOpcom.customo");
  EXPECT_EQ(n.inputs, node.inputs);
  EXPECT_EQ(n.Int("i"), -1);
  EXPECT_EQ(n.Float("f"), 0.25f);
  EXPECT_EQ(n.String("s"), "text");
  EXPECT_EQ(n.Ints("is"), node.Ints("is"));
  EXPECT_EQ(n.Floats("fs"), node.Floats("fs"));
  EXPECT_EQ(n.Strings("ss"), node.Strings("ss"));
  ASSERT_NE(n.Tensor("t"), nullptr);
  EXPECT_EQ(n.Tensor("t")->bytes.view, "12345678");
  EXPECT_EQ(n.Tensor("ts")->strings, strings.strings);
  EXPECT_NE(n.Get<OnnxOpaqueAttr>("body"), nullptr);
  EXPECT_EQ(again.graph.nodes[1].captured, (std::vector<std::string>{"x"}));
}

TEST(WriterTest, RewiredNodesKeepEverythingElse) {
  ModelProto proto = ProtoFromText("in x\ny = Op(x)\nout y");
  proto.mutable_graph()->mutable_node(0)->set_doc_string("kept");
  std::string node = proto.graph().node(0).SerializeAsString();
  Model model = Parse(proto.SerializeAsString());
  model.graph.nodes[0] = Rewired(model.graph.nodes[0], {"x", "x"}, {"y", "z"});
  ModelProto after;
  ASSERT_TRUE(after.ParseFromString(*SerializeModel(model)));
  EXPECT_EQ(after.graph().node(0).doc_string(), "kept");
  EXPECT_EQ(after.graph().node(0).input_size(), 2);
  EXPECT_EQ(after.graph().node(0).output(1), "z");
}

TEST(WriterTest, DimensionsCanBeReplaced) {
  ModelProto proto = ProtoFromText("in x FLOAT[N,4]\nout x");
  proto.mutable_graph()->mutable_input(0)->set_doc_string("kept");
  Model model = Parse(proto.SerializeAsString());
  model.graph.inputs[0] = *WithDims(model.graph.inputs[0],
                                    {Dim(int64_t{8}), Dim(std::string("C"))});
  ModelProto after;
  ASSERT_TRUE(after.ParseFromString(*SerializeModel(model)));
  EXPECT_EQ(after.graph().input(0).doc_string(), "kept");
  EXPECT_EQ(Rewritten(model), "= in x FLOAT[8,C]\n= out x\n");
  EXPECT_EQ(WithDims(model.graph.outputs[0], {}).status().message(),
            "value 'x' is not a dense tensor");
}

TEST(WriterTest, BrokenEditsAreNotWritten) {
  const std::string path = TestFolder() + "/m.onnx";
  Model model = Parse(BytesFromText(kModel));
  model.graph.initializers.pop_back();
  EXPECT_EQ(WriteModel(model, path).message(),
            path + ": node #1 (Add) uses 'v', which nothing defines");
  EXPECT_FALSE(fs::exists(path));

  model = Parse(BytesFromText(kModel));
  model.graph.initializers[0] =
      NewTensor("w", TensorProto::FLOAT, {5}, SharedBytes::Own("short"));
  EXPECT_EQ(WriteModel(model, path).message(),
            path +
                ": initializer 'w': data has 5 bytes, but the shape needs "
                "20");
  EXPECT_THAT(FilesIn(fs::path(path).parent_path()), ElementsAre());
}

TEST(WriterTest, ReplacesAFileWholeOrNotAtAll) {
  const std::string folder = TestFolder();
  const std::string path = folder + "/m.onnx";
  const std::string bytes = BytesFromText(kModel);
  WriteBytes(path, bytes);
  absl::StatusOr<Model> model = ReadModel(path);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(WriteModel(*model, path).ok());  // onto itself
  EXPECT_EQ(FileBytes(path), bytes);
  EXPECT_THAT(FilesIn(folder), ElementsAre("m.onnx"));
  EXPECT_EQ(WriteModel(*model, folder).message(),
            folder + ": is not a regular file, so it is not replaced");
  EXPECT_EQ(WriteModel(*model, folder + "/none/m.onnx").message(),
            folder + "/none/m.onnx: there is no folder '" + folder + "/none'");
  // With too small a limit there is nothing that could be written.
  EXPECT_THAT(
      std::string(WriteModel(*model, path, {.max_model_bytes = 10}).message()),
      HasSubstr("bytes without its weights, but a model file ends at 10"));
  EXPECT_EQ(FileBytes(path), bytes);
}

TEST(WriterTest, FailedWritesLeaveTheOldFile) {
  const std::string folder = TestFolder();
  const std::string path = folder + "/m.onnx";
  WriteBytes(path, "old");
  // A limit on the size of files stands in for a full disk.
  struct rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  struct rlimit limit = old_limit;
  limit.rlim_cur = 16;
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status status = WriteModel(Parse(BytesFromText(kModel)), path);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(status.message(), path + ": cannot write: File too large");
  EXPECT_THAT(FilesIn(folder), ElementsAre("m.onnx"));
  EXPECT_EQ(FileBytes(path), "old");
}

// A model whose initializer w lies in the file "sub/data" beside it.
std::string WriteExternalModel(const std::string& folder) {
  fs::create_directories(folder + "/sub");
  WriteBytes(folder + "/sub/data", std::string(8, 'a') + std::string(32, 'w'));
  ModelProto proto = ProtoFromText(kModel);
  TensorProto* t = proto.mutable_graph()->mutable_initializer(0);
  t->clear_raw_data();
  t->set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       {std::pair("location", "sub/data"), std::pair("offset", "8")}) {
    auto* pair = t->add_external_data();
    pair->set_key(key);
    pair->set_value(value);
  }
  WriteBytes(folder + "/m.onnx", proto.SerializeAsString());
  return folder + "/m.onnx";
}

TEST(WriterTest, ExternalFilesFollowTheModel) {
  const std::string folder = TestFolder();
  fs::create_directories(folder + "/a");
  fs::create_directories(folder + "/b");
  const std::string path = WriteExternalModel(folder + "/a");
  absl::StatusOr<Model> model = ReadModel(path);
  ASSERT_TRUE(model.ok()) << model.status();
  // In the same folder the file is simply shared.
  ASSERT_TRUE(WriteModel(*model, folder + "/a/copy.onnx").ok());
  EXPECT_THAT(FilesIn(folder + "/a"),
              ElementsAre("copy.onnx", "m.onnx", "sub/data"));
  // Elsewhere it is copied, once.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(WriteModel(*model, folder + "/b/m.onnx").ok());
    EXPECT_EQ(FileBytes(folder + "/b/m.onnx"), FileBytes(path));
    EXPECT_EQ(FileBytes(folder + "/b/sub/data"),
              FileBytes(folder + "/a/sub/data"));
    EXPECT_THAT(FilesIn(folder + "/b"), ElementsAre("m.onnx", "sub/data"));
  }
  // Another file of that name is never overwritten.
  WriteBytes(folder + "/b/sub/data", "precious");
  fs::remove(folder + "/b/m.onnx");
  EXPECT_EQ(WriteModel(*model, folder + "/b/m.onnx").message(),
            folder +
                "/b/sub/data: holds other data than the model's external "
                "file of this name; remove it or write to another folder");
  EXPECT_EQ(FileBytes(folder + "/b/sub/data"), "precious");
  EXPECT_THAT(FilesIn(folder + "/b"), ElementsAre("sub/data"));
}

TEST(WriterTest, FilesThatNothingUsesAreNotCopied) {
  const std::string folder = TestFolder();
  fs::create_directories(folder + "/a");
  fs::create_directories(folder + "/b");
  absl::StatusOr<Model> model = ReadModel(WriteExternalModel(folder + "/a"));
  ASSERT_TRUE(model.ok()) << model.status();
  // A new tensor takes the data into the model.
  model->graph.initializers[0].raw = {};
  ASSERT_TRUE(WriteModel(*model, folder + "/b/m.onnx").ok());
  EXPECT_THAT(FilesIn(folder + "/b"), ElementsAre("m.onnx"));
  model = ReadModel(folder + "/b/m.onnx");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(TensorBytes(model->graph.initializers[0])->view,
            std::string(32, 'w'));
}

TEST(WriterTest, LargeModelsPutTheirWeightsBesideThem) {
  const std::string folder = TestFolder();
  const std::string path = folder + "/m.onnx";
  Model model = Parse(BytesFromText(R"(
    in x
    init big FLOAT[1000]
    init small FLOAT[2]
    init made FLOAT[1]
    y = Op(x, big, small, made)
    out y)"));
  TensorEntry made = NewTensor("made", TensorProto::UINT8, {5000}, {});
  made.place = TensorEntry::Place::kGenerated;
  made.fill = [](int64_t, absl::Span<char> out) {
    std::fill(out.begin(), out.end(), 'm');
  };
  model.graph.initializers[2] = made;
  ASSERT_TRUE(WriteModel(model, path, {.max_model_bytes = 2000}).ok());
  EXPECT_THAT(FilesIn(folder), ElementsAre("m.onnx", "m.onnx.data"));
  EXPECT_TRUE(FileBytes(path + ".data") ==
              std::string(4096, '\0') + std::string(5000, 'm'));
  absl::StatusOr<Model> again = ReadModel(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(TextOf(again->graph), Rewritten(model));
  const std::vector<TensorEntry>& t = again->graph.initializers;
  EXPECT_EQ(t[0].external->location, "m.onnx.data");
  EXPECT_FALSE(t[1].external.has_value());
  EXPECT_EQ(t[2].external->offset, 4096);
  EXPECT_TRUE(TensorBytes(t[2])->view == std::string(5000, 'm'));

  // Written over itself with more weights, the old data file stays in use.
  AddInitializer(NewTensor("more", TensorProto::UINT8, {3000},
                           SharedBytes::Own(std::string(3000, 'n'))),
                 &*again);
  ASSERT_TRUE(WriteModel(*again, path, {.max_model_bytes = 2000}).ok());
  EXPECT_THAT(FilesIn(folder),
              ElementsAre("m.onnx", "m.onnx.data", "m.onnx.data1"));
  again = ReadModel(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(TensorBytes(again->graph.initializers[2])->view ==
              std::string(5000, 'm'));
  EXPECT_TRUE(TensorBytes(again->graph.initializers[3])->view ==
              std::string(3000, 'n'));
}

}  // namespace
}  // namespace isomer::onnx
