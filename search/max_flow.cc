#include "search/max_flow.h"

#include <algorithm>

namespace isomer::search {

void FlowNetwork::AddEdge(int from, int to, int64_t capacity, int64_t back) {
  first_[from].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  first_[to].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, back});
}

// How far each node is from the source along edges with room.
bool FlowNetwork::Level(int source, int sink) {
  level_.assign(first_.size(), -1);
  level_[source] = 0;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int e : first_[queue[i]]) {
      const int to = edges_[e].to;
      if (edges_[e].room == 0 || level_[to] >= 0) continue;
      level_[to] = level_[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  return level_[sink] >= 0;
}

// Depth is bounded by the number of nodes of one part of a graph.
int64_t FlowNetwork::Send(int node, int sink, int64_t most) {
  if (node == sink) return most;
  for (size_t& i = next_[node]; i < first_[node].size(); ++i) {
    const int e = first_[node][i], to = edges_[e].to;
    if (edges_[e].room == 0 || level_[to] != level_[node] + 1) continue;
    const int64_t sent = Send(to, sink, std::min(most, edges_[e].room));
    if (sent == 0) continue;
    if (edges_[e].room < kInfinite) edges_[e].room -= sent;
    if (edges_[e ^ 1].room < kInfinite) edges_[e ^ 1].room += sent;
    return sent;
  }
  return 0;
}

int64_t FlowNetwork::MaxFlow(int source, int sink) {
  int64_t total = 0;
  while (total < kInfinite && Level(source, sink)) {
    next_.assign(first_.size(), 0);
    while (const int64_t sent = Send(source, sink, kInfinite)) {
      total += sent;
      if (total >= kInfinite) break;
    }
  }
  return std::min(total, kInfinite);
}

std::vector<bool> FlowNetwork::SourceSide(int source) const {
  std::vector<bool> side(first_.size(), false);
  side[source] = true;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int e : first_[queue[i]]) {
      if (edges_[e].room == 0 || side[edges_[e].to]) continue;
      side[edges_[e].to] = true;
      queue.push_back(edges_[e].to);
    }
  }
  return side;
}

}  // namespace isomer::search
