// Maximum flow and the minimum cut that it proves, by Dinic's algorithm.
#ifndef ISOMER_SEARCH_MAX_FLOW_H_
#define ISOMER_SEARCH_MAX_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isomer::search {

class FlowNetwork {
 public:
  static constexpr int64_t kInfinite = int64_t{1} << 60;

  explicit FlowNetwork(int nodes) : first_(nodes) {}

  // Adds an edge; `back` is what may flow the other way.
  void AddEdge(int from, int to, int64_t capacity, int64_t back = 0);

  // Sends as much as fits from `source` to `sink` and returns how much that is.
  int64_t MaxFlow(int source, int sink);

  // After MaxFlow: which nodes lie on the source's side of the minimum cut. Of
  // several minimum cuts it is the one nearest to the source.
  std::vector<bool> SourceSide(int source) const;

 private:
  struct Edge {
    int to;
    int64_t room;
  };
  bool Level(int source, int sink);
  int64_t Send(int node, int sink, int64_t most);

  std::vector<std::vector<int>> first_;  // edges by node
  std::vector<Edge> edges_;              // edge i^1 is the reverse of edge i
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_MAX_FLOW_H_
