// The operator table, sorted by name.
#include "ops/registry.h"

#include "ops/status.h"

namespace isomer {

Registry::Registry(std::vector<OpDef> defs) : defs_(std::move(defs)) {
  for (const OpDef& def : defs_) {
    Check(by_name_.emplace(def.name, &def).second,
          absl::StrCat("operator '", def.name, "' is defined twice"));
  }
  for (const auto& [name, def] : by_name_) sorted_.push_back(def);
}

const OpDef* Registry::Find(absl::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const Registry& Ops() {
  static const Registry* registry = new Registry(AllOpDefs());
  return *registry;
}

}  // namespace isomer
