// The reference runs with fast kernels.
#include "cuda/graph_case.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/example.h"
#include "ops/op_samples.h"
#include "ops/registry.h"
#include "ops/status.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"

namespace isomer::cuda {

absl::StatusOr<GraphCase> GraphCase::Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(ir::Graph g, ir::ParseGraph(text));
  ASSIGN_OR_RETURN(auto inputs, runtime::RandomInputs(g, 7));
  ASSIGN_OR_RETURN(auto others, runtime::RandomInputs(g, 8));
  for (const auto& [name, tensor] : inputs) {
    if (!absl::StartsWith(name, "w_")) continue;
    const Value weights = g.AddConstant(ir::Constant::FromTensor(tensor, name));
    for (NodeId id : g.inputs()) {
      if (*g.node(id).name == name) g.ReplaceUses({id, 0}, weights);
    }
  }
  return GraphCase{std::move(g), std::move(inputs), std::move(others)};
}

absl::StatusOr<std::vector<Tensor>> GraphCase::Evaluate() const {
  ir::EvaluateOptions fast;
  fast.run = runtime::FastKernels();
  return ir::Evaluate(graph, inputs, fast);
}

std::vector<std::pair<std::string, GraphCase>> OperatorCases() {
  SampleStream stream(1);
  std::vector<std::pair<std::string, GraphCase>> out;
  for (const OpDef* op : Ops().all()) {
    if (op->parallel) continue;
    for (const std::string& text : op->cases) {
      const TypedCall call = *ParseTypedCall(text);
      GraphCase c;
      std::vector<Value> in;
      const std::vector<Tensor> drawn =
          RandomInputs(call, SampleValues::kReals, stream);
      for (size_t i = 0; i < call.inputs.size(); ++i) {
        const std::string name = absl::StrCat("x", i);
        in.push_back(c.graph.AddInput(name, call.inputs[i]));
        c.inputs[name] = *Reinterpret(drawn[i], Interp::kRun);
      }
      c.graph.AddOutput("y", {*c.graph.AddNode(*op, in, call.attrs), 0});
      out.push_back({text, std::move(c)});
    }
  }
  return out;
}

std::string PartsText(const PartsShape& s, absl::string_view weights) {
  std::string text = absl::Substitute(
      "input x: $0[$1,$2]\ninput r: $0[$1,$3]\ninput w_: $0[$2,$3]\n"
      "input w_t: $0[$3,$2]\nw_v = transpose(w_t, perm=[1 0])\n"
      "y = matmul(x, $4)\n",
      s.type, s.rows, s.k, s.parts * s.size, weights);
  // A kernel has no more nodes than so many.
  const bool of_whole = s.parts < 8;
  if (of_whole) absl::StrAppend(&text, "f = relu(y)\n");
  std::string last;
  for (int i = 0; i < s.parts; ++i) {
    const std::string range = absl::Substitute("axes=[1], from=[$0], to=[$1]",
                                               i * s.size, (i + 1) * s.size);
    absl::SubstituteAndAppend(
        &text,
        "s$0 = slice($2, $1)\nt$0 = slice(r, $1)\na$0 = add(s$0, t$0)\n"
        "b$0 = tanh(a$0)\n",
        i, range, of_whole && i % 2 == 1 ? "f" : "y");
    if (i > 0) {
      absl::SubstituteAndAppend(&text, "c$0 = sub($1, b$0)\n", i, last);
    }
    last = absl::StrCat(i > 0 ? "c" : "b", i);
  }
  return absl::StrCat(text, "output z = ", last, "\n",
                      s.several ? "output u = b0\n" : "");
}

std::string SumsText(absl::string_view type, int rows, int n) {
  return absl::Substitute(
      "input x: $0[$1,$2]\ninput z: $0[$1,$2]\na = add(x, z)\n"
      "s = softmax(a, axis=1)\nb = mul(s, a)\noutput y = b\noutput a = a\n",
      type, rows, n);
}

std::string GroupsText(absl::string_view type, int groups, int channels,
                       int side, bool between) {
  const std::string norm = absl::Substitute(
      "r = reshape(a, shape=[2 $0 $3])\n"
      "l = instance_norm(r, w_g, w_h, epsilon=0.001)\n"
      "q = reshape(l, shape=[2 $1 $2 $2])\n"
      "t = broadcast(w_t, shape=[2 $1 $2 $2], dims=[1])\n"
      "m = mul(q, t)\ns = silu(m)\n",
      groups, channels, side, channels / groups * side * side);
  const std::string inputs = absl::Substitute(
      "input x: $0[2,$2,$3,$3]\ninput w_g: $0[$1]\ninput w_h: $0[$1]\n"
      "input w_t: $0[$2]\ninput w_a: $0[$2,$2,1,1]\n",
      type, groups, channels, side);
  return between ? absl::StrCat(inputs, "a = conv2d(x, w_a)\n", norm,
                                "y = conv2d(s, w_a)\noutput y = y\n")
                 : absl::StrCat(inputs, "a = relu(x)\n", norm,
                                "output y = s\noutput a = a\n");
}

std::string ImageSumsText(absl::string_view type, int batch, int channels,
                          int side) {
  return absl::Substitute(
      "input x: $0[$1,$2,$3,$3]\ninput w_: $0[$2,$2,1,1]\n"
      "input w_b: $0[$2]\na = conv2d(x, w_)\nd = conv2d(a, w_)\n"
      "c = broadcast(w_b, shape=[$1 $2 $3 $3], dims=[1])\n"
      "e = add(d, c)\nf = relu(a)\nk = concat(f, e, axis=1)\n"
      "m = reduce_mean(k, axes=[2 3])\n"
      "s = reduce_max(d, axes=[2 3])\n"
      "output m = m\noutput s = s\n",
      type, batch, channels, side);
}

std::string FewRowsText(absl::string_view type, int m, int n, int k) {
  return absl::Substitute(
      "input x: $0[$1,$3]\ninput w_: $0[$3,$2]\ninput w_b: $0[$2]\n"
      "input s: $0[$1,$2]\nm = matmul(x, w_)\n"
      "c = broadcast(w_b, shape=[$1 $2], dims=[1])\na = add(m, c)\n"
      "d = mul(a, s)\nr = gelu(d)\noutput y = r\n",
      type, m, n, k);
}

std::string LayerText(absl::string_view type, absl::string_view direction,
                      int directions, int steps, int in, int out) {
  return absl::Substitute(
      "input x: $0[$3,1,$4]\ninput w_x: $0[$2,$6,$4]\n"
      "input w_r: $0[$2,$6,$5]\ninput w_b: $0[$2,$7]\n"
      "input h: $0[$2,1,$5]\ninput c: $0[$2,1,$5]\n"
      "y, u, v = lstm(x, w_x, w_r, w_b, h, c, direction=$1)\n"
      "output y = y\noutput u = u\noutput v = v\n",
      type, direction, directions, steps, in, out, 4 * out, 8 * out);
}

std::string AttentionText(absl::string_view type, int heads, int queries,
                          int keys, int head) {
  const std::string q =
      absl::StrCat(type, "[2,", heads, ",", queries, ",", head, "]");
  const std::string k =
      absl::StrCat(type, "[2,", heads, ",", keys, ",", head, "]");
  const std::string scores =
      absl::StrCat("[2 ", heads, " ", queries, " ", keys, "]");
  return absl::StrCat(
      "input q: ", q, "\ninput k: ", k, "\ninput v: ", k,
      "\ninput mask: ", type, "[", queries, ",", keys, "]\nconst c: ", type,
      "[] = 0.125\nt = transpose(k, perm=[0 1 3 2])\n",
      "s = matmul(q, t)\nf = broadcast(c, shape=", scores,
      ", dims=[])\ng = mul(s, f)\nn = broadcast(mask, shape=", scores,
      ", dims=[2 3])\na = add(g, n)\np = softmax(a, axis=3)\n",
      "o = matmul(p, v)\nu = transpose(o, perm=[0 2 1 3])\noutput y = u\n");
}

std::string SharedKeysText(int queries) {
  return absl::StrCat("input q: f16[2,8,", queries,
                      ",32]\ninput a: f16[2,2,69,32]\ninput x: f16[4,32]\n"
                      "input c: f16[2,2,70,32]\nconst m: f16[32,32] = 0.125\n"
                      "x1 = matmul(x, m)\nb = reshape(x1, shape=[2 2 1 32])\n"
                      "k = concat(a, b, axis=2)\nv = concat(c, axis=2)\n"
                      "k1 = broadcast(k, shape=[2 2 4 70 32], dims=[0 1 3 4])\n"
                      "k2 = reshape(k1, shape=[16 70 32])\n"
                      "k3 = transpose(k2, perm=[0 2 1])\n"
                      "k4 = reshape(k3, shape=[2 8 32 70])\n"
                      "v1 = broadcast(v, shape=[2 2 4 70 32], dims=[0 1 3 4])\n"
                      "v2 = reshape(v1, shape=[2 8 70 32])\n"
                      "s = matmul(q, k4)\np = softmax(s, axis=3)\n"
                      "o = matmul(p, v2)\nu = transpose(o, perm=[0 2 1 3])\n"
                      "w = reshape(u, shape=[2 ",
                      queries, " 256])\noutput y = w\n");
}

std::string DepthwiseText(absl::string_view type, int channels, int kernel,
                          absl::string_view how) {
  return absl::Substitute(
      "input x: $0[2,$1,17,19]\ninput w_a: $0[$1,$1,1,1]\n"
      "input w_: $0[$1,1,$2,$2]\ni = conv2d(x, w_a)\n"
      "c = conv2d(i, w_, group=$1, $3)\n"
      "d = clip(c, min=-0.5, max=0.75)\ny = conv2d(d, w_a)\noutput y = y\n",
      type, channels, kernel, how);
}

std::string PoolText(absl::string_view type, absl::string_view pool) {
  return absl::StrCat("input x: ", type, "[2,8,11,12]\ninput w_: ", type,
                      "[24,8,1,1]\ninput w_2: ", type,
                      "[8,24,1,1]\nb = conv2d(x, w_)\nc = relu(b)\np = ", pool,
                      "\nn = neg(p)\nq = conv2d(n, w_2)\noutput y = q\n"
                      "output z = b\n");
}

const cost::CostModel& H200() {
  static const auto* model = new cost::CostModel(
      *cost::CostModel::Create(*cost::Target::Named("h200")));
  return *model;
}

}  // namespace isomer::cuda
