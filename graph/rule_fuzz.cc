// Fuzzing the rule language, text and binary: whatever is read prints and
// reads back to the same, and checking it ends in a rule or an error.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "graph/rule.h"
#include "graph/rule_pb.h"
#include "graph/rule_syntax.h"
#include "ops/status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace isomer::ir;  // NOLINT: a program of one function
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  auto file = IsRulesPb(text) ? DeserializeRules(text) : ParseRuleFile(text);
  if (!file.ok()) return 0;
  auto again = ParseRuleFile(PrintRuleFile(*file));
  isomer::Check(again.ok() && *again == *file, "text does not read back");
  auto binary = DeserializeRules(SerializeRules(*file));
  isomer::Check(binary.ok() && *binary == *file, "binary does not read back");
  // Checking tries ranks, which takes its time: short texts, few steps.
  if (size < 300) (void)CheckRules(*file, isomer::Ops(), {.steps = 500});
  return 0;
}
