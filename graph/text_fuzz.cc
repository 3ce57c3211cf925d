// Any text is either refused with an error or parses to a graph that prints
// and parses back to an equal one.
#include <cstddef>
#include <cstdint>
#include <string>

#include "graph/text.h"
#include "ops/status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using isomer::ir::Graph;
  using isomer::ir::ParseGraph;
  // Large constants would only test the allocator.
  const isomer::ir::ParseOptions small = {.max_elements = 4096};
  if (size > 4096) return 0;
  absl::StatusOr<Graph> g = ParseGraph(
      absl::string_view(reinterpret_cast<const char*>(data), size), small);
  if (!g.ok()) return 0;
  const std::string printed = isomer::ir::PrintGraph(*g);
  absl::StatusOr<Graph> again = ParseGraph(printed, small);
  isomer::Check(again.ok(), "a printed graph does not parse");
  isomer::Check(isomer::ir::PrintGraph(*again) == printed &&
                    isomer::ir::Equal(*again, *g),
                "a printed graph differs");
  return 0;
}
