// The table of all operators. Its list of files is generated from the folder
// ops/defs/, so adding a file there adds its operators here.
#ifndef ISOMER_OPS_REGISTRY_H_
#define ISOMER_OPS_REGISTRY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ops/op_def.h"

namespace isomer {

// Returns the definitions of every file of ops/defs/, by file name.
std::vector<OpDef> AllOpDefs();

class Registry {
 public:
  explicit Registry(std::vector<OpDef> defs);

  // The operator called `name`, or null. Pointers live as long as the registry.
  const OpDef* Find(absl::string_view name) const;
  // Operators sorted by name.
  const std::vector<const OpDef*>& all() const { return sorted_; }

 private:
  std::vector<OpDef> defs_;
  std::map<std::string, const OpDef*, std::less<>> by_name_;
  std::vector<const OpDef*> sorted_;
};

// The operators of Isomer: built once, never changed.
const Registry& Ops();

}  // namespace isomer

#endif  // ISOMER_OPS_REGISTRY_H_
