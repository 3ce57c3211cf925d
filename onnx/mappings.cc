// The table of import functions, built once and never changed.
#include "onnx/mappings.h"

#include <map>
#include <string>
#include <utility>

#include "ops/registry.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

using Key = std::pair<std::string, std::string>;

const std::map<Key, FromOnnx>& Table() {
  static const auto* table = [] {
    auto* t = new std::map<Key, FromOnnx>;
    auto add = [&](const OnnxMapping::From& from) {
      Check(t->emplace(Key(from.domain, from.op_type), from.import).second,
            absl::StrCat("two imports for ", from.op_type));
    };
    for (const OpDef* op : Ops().all()) {
      for (const OnnxMapping::From& from : op->onnx.from) add(from);
    }
    for (const OnnxLowering& from : AllLowerings()) add(from);
    return t;
  }();
  return *table;
}

}  // namespace

const FromOnnx* FindImport(absl::string_view domain,
                           absl::string_view op_type) {
  const std::string own(domain == "ai.onnx" ? "" : domain);
  auto it = Table().find({own, std::string(op_type)});
  return it == Table().end() ? nullptr : &it->second;
}

}  // namespace isomer::onnx
