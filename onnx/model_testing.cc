// A line-by-line reader over protobuf objects, independent of the wire-level
// reader that it tests.
#include "onnx/model_testing.h"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace isomer::onnx {
namespace {

using onnx_pb::GraphProto;
using onnx_pb::ModelProto;
using onnx_pb::NodeProto;

const std::vector<std::pair<std::string, int>>& TypeNames() {
  static const auto& names = *new std::vector<std::pair<std::string, int>>{
      {"FLOAT", 1}, {"INT64", 7}, {"STRING", 8}, {"BOOL", 9}, {"FLOAT16", 10}};
  return names;
}

// Splits FLOAT[2,N] into its type and dimensions.
int ParseType(absl::string_view text, std::vector<std::string>* dims) {
  std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('[', 1));
  absl::ConsumeSuffix(&parts.second, "]");
  *dims = absl::StrSplit(parts.second, ',', absl::SkipEmpty());
  for (const auto& [name, number] : TypeNames()) {
    if (name == parts.first) return number;
  }
  ADD_FAILURE() << "unknown type: " << text;
  return 0;
}

void SetValue(const std::vector<std::string>& words,
              onnx_pb::ValueInfoProto* value) {
  value->set_name(words[1]);
  if (words.size() < 3) return;
  std::vector<std::string> dims;
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(ParseType(words[2], &dims));
  for (const std::string& d : dims) {
    auto* dim = type->mutable_shape()->add_dim();
    int64_t number = 0;
    if (absl::SimpleAtoi(d, &number)) {
      dim->set_dim_value(number);
    } else if (d != "?") {
      dim->set_dim_param(d);
    }
  }
}

void SetTensor(const std::vector<std::string>& words,
               onnx_pb::TensorProto* tensor) {
  tensor->set_name(words[1]);
  std::vector<std::string> dims;
  tensor->set_data_type(ParseType(words[2], &dims));
  int64_t size = ElementBits(tensor->data_type()) / 8;
  for (const std::string& d : dims) {
    int64_t number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(d, &number)) << d;
    tensor->add_dims(number);
    size *= number;
  }
  tensor->set_raw_data(std::string(size, '\0'));
}

void SetNode(absl::string_view line, NodeProto* node) {
  std::pair<std::string, std::string> sides =
      absl::StrSplit(line, absl::MaxSplits(" = ", 1));
  for (absl::string_view name : absl::StrSplit(sides.first, ", ")) {
    node->add_output(std::string(name));
  }
  std::pair<absl::string_view, absl::string_view> call =
      absl::StrSplit(sides.second, absl::MaxSplits('(', 1));
  std::pair<absl::string_view, absl::string_view> rest =
      absl::StrSplit(call.second, absl::MaxSplits(')', 1));
  node->set_op_type(std::string(call.first));
  if (!rest.first.empty()) {
    for (absl::string_view name : absl::StrSplit(rest.first, ", ")) {
      node->add_input(std::string(name));
    }
  }
  absl::string_view body = rest.second;
  if (!absl::ConsumePrefix(&body, " { ") || !absl::ConsumeSuffix(&body, " }")) {
    return;
  }
  auto* attr = node->add_attribute();
  attr->set_name("body");
  attr->set_type(onnx_pb::AttributeProto::GRAPH);
  SetNode(body, attr->mutable_g()->add_node());
  attr->mutable_g()->add_output()->set_name(
      attr->g().node(0).output(attr->g().node(0).output_size() - 1));
}

void AddLine(absl::string_view line, ModelProto* model) {
  GraphProto* graph = model->mutable_graph();
  std::vector<std::string> words = absl::StrSplit(line, ' ');
  if (words.size() == 1) words.push_back("");
  int64_t number = 0;
  if (absl::StrContains(line, " = ")) {
    SetNode(line, graph->add_node());
  } else if (words[0] == "ir" && absl::SimpleAtoi(words[1], &number)) {
    model->set_ir_version(number);
  } else if (words[0] == "opset" && absl::SimpleAtoi(words[1], &number)) {
    model->add_opset_import()->set_version(number);
  } else if (words[0] == "in") {
    SetValue(words, graph->add_input());
  } else if (words[0] == "out") {
    SetValue(words, graph->add_output());
  } else if (words[0] == "info") {
    SetValue(words, graph->add_value_info());
  } else if (words[0] == "init") {
    SetTensor(words, graph->add_initializer());
  } else {
    ADD_FAILURE() << "cannot read the line: " << line;
  }
}

std::string DimText(const Dim& dim) {
  if (const auto* number = std::get_if<int64_t>(&dim)) {
    return absl::StrCat(*number);
  }
  const auto* name = std::get_if<std::string>(&dim);
  return name != nullptr ? *name : "?";
}

template <class Entry>
std::string Mark(const Entry& entry) {
  return entry.raw.empty() ? "+ " : "= ";
}

std::string ValueText(const ValueEntry& v) {
  std::string type;
  if (v.elem_type != 0) {
    type = absl::StrCat(" ", TypeText(v.elem_type, {}));
    type.resize(type.size() - 2);  // "[]"
  }
  if (v.dims) {
    absl::StrAppend(&type, "[",
                    absl::StrJoin(*v.dims, ",",
                                  [](std::string* out, const Dim& d) {
                                    absl::StrAppend(out, DimText(d));
                                  }),
                    "]");
  }
  return v.name + type;
}

}  // namespace

ModelProto ProtoFromText(absl::string_view text) {
  ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("g");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty()) AddLine(line, &model);
  }
  if (model.opset_import_size() == 0) model.add_opset_import()->set_version(17);
  return model;
}

std::string BytesFromText(absl::string_view text) {
  return ProtoFromText(text).SerializeAsString();
}

std::string TextOf(const GraphEntry& graph) {
  std::string text;
  for (const ValueEntry& v : graph.inputs) {
    absl::StrAppend(&text, Mark(v), "in ", ValueText(v), "\n");
  }
  for (const TensorEntry& t : graph.initializers) {
    absl::StrAppend(&text, Mark(t), "init ", t.name, " ",
                    TypeText(t.dtype, t.dims), "\n");
  }
  for (const ValueEntry& v : graph.value_infos) {
    absl::StrAppend(&text, Mark(v), "info ", ValueText(v), "\n");
  }
  for (const NodeEntry& n : graph.nodes) {
    absl::StrAppend(&text, Mark(n), absl::StrJoin(n.node.outputs, ", "), " = ",
                    n.node.op_type, "(", absl::StrJoin(n.node.inputs, ", "),
                    ")");
    if (!n.captured.empty()) {
      absl::StrAppend(&text, " captures ", absl::StrJoin(n.captured, ", "));
    }
    absl::StrAppend(&text, "\n");
  }
  for (const ValueEntry& v : graph.outputs) {
    absl::StrAppend(&text, Mark(v), "out ", ValueText(v), "\n");
  }
  return text;
}

std::string ReadResult(const std::string& bytes) {
  const absl::Status status = ParseModel(SharedBytes::Own(bytes), "").status();
  return status.ok() ? "ok" : std::string(status.message());
}

std::string TestFolder() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string folder = absl::StrCat(
      testing::TempDir(), "/", info->test_suite_name(), ".", info->name());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return std::filesystem::canonical(folder).string();
}

std::string FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::string bytes(std::filesystem::file_size(path), '\0');
  in.read(bytes.data(), bytes.size());
  return bytes;
}

void WriteBytes(const std::string& path, absl::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), bytes.size());
  EXPECT_TRUE(out.good()) << path;
}

}  // namespace isomer::onnx
