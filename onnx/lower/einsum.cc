// Einsum, taken apart into transpose, reshape, slice, reduce_sum, broadcast,
// mul and matmul. Operands are joined from left to right. Joining two sorts
// their labels into
//
//   batch      in both, needed later      a leading dimension of the product
//   contract   in both, not needed        the inner dimension
//   free       in one of them             rows of the left, columns of the
//   right
//
// and is one matmul, or a product of broadcasts where nothing is contracted.
// The dimensions of an ellipsis get labels of their own, counted from the
// right, so that they align as ONNX's broadcasting does.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

// A value whose dimensions carry labels.
struct Labelled {
  Value value;
  std::string labels;
};

bool Contains(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

// The labels of `labels` that satisfy `keep`, in order.
template <class F>
std::string Filter(const std::string& labels, F keep) {
  std::string out;
  for (char l : labels) {
    if (keep(l)) out += l;
  }
  return out;
}

// The label of dimension `n` of an ellipsis, counted from the right: a
// character that no equation can hold.
char EllipsisLabel(int n) { return static_cast<char>('\x01' + n); }
std::string EllipsisLabels(int rank) {
  std::string out;
  for (int n = rank - 1; n >= 0; --n) out += EllipsisLabel(n);
  return out;
}

constexpr int kMaxEllipsis = 16;

// An equation with ellipses written out.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

absl::Status CheckLetters(absl::string_view term, absl::string_view equation) {
  const std::string letters = absl::StrReplaceAll(term, {{"...", ""}});
  if (absl::c_all_of(letters, [](char l) { return absl::ascii_isalpha(l); }) &&
      term.size() - letters.size() <= 3) {
    return absl::OkStatus();
  }
  return Invalid("Einsum: '", term, "' in equation '", equation,
                 "' is no list of letters");
}

// The output that an equation without "->" means: the ellipsis, then the
// labels that occur once, in alphabetical order.
std::string ImplicitOutput(const std::vector<std::string>& terms) {
  std::map<char, int> count;
  bool ellipsis = false;
  for (const std::string& term : terms) {
    ellipsis = ellipsis || Contains(term, '.');
    for (char l : term) {
      if (l != '.') ++count[l];
    }
  }
  std::string out = ellipsis ? "..." : "";
  for (const auto& [label, n] : count) {
    if (n == 1) out += label;
  }
  return out;
}

// Writes out the ellipsis of each operand, whose ranks are given.
absl::StatusOr<Equation> ParseEquation(const std::string& text,
                                       const std::vector<int>& ranks) {
  const std::string clean = Filter(text, [](char l) { return l != ' '; });
  const std::vector<std::string> sides = absl::StrSplit(clean, "->");
  std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (sides.size() > 2 || terms.size() != ranks.size()) {
    return Invalid("Einsum: equation '", text, "' with ", ranks.size(),
                   " operands");
  }
  Equation equation;
  equation.output = sides.size() == 2 ? sides[1] : ImplicitOutput(terms);
  RETURN_IF_ERROR(CheckLetters(equation.output, text));
  int widest = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    RETURN_IF_ERROR(CheckLetters(terms[i], text));
    const bool ellipsis = Contains(terms[i], '.');
    const int named = static_cast<int>(terms[i].size()) - (ellipsis ? 3 : 0);
    const int rest = ranks[i] - named;
    if (rest < 0 || (rest > 0 && !ellipsis) || rest > kMaxEllipsis) {
      return Invalid("Einsum: operand ", i, " has rank ", ranks[i],
                     " in equation '", text, "'");
    }
    widest = std::max(widest, rest);
    equation.inputs.push_back(
        absl::StrReplaceAll(terms[i], {{"...", EllipsisLabels(rest)}}));
  }
  if (widest > 0 && !Contains(equation.output, '.')) {
    return Unsupported("Einsum: '", text, "' sums over an ellipsis");
  }
  equation.output =
      absl::StrReplaceAll(equation.output, {{"...", EllipsisLabels(widest)}});
  return equation;
}

// The pieces of an einsum over one import.
class Einsum {
 public:
  explicit Einsum(OnnxImport& c) : c_(c) {}

  Imported Run();

 private:
  const std::vector<int64_t>& shape(const Labelled& v) const {
    return c_.type(v.value).shape;
  }
  std::vector<int64_t> Sizes(absl::string_view labels) const {
    std::vector<int64_t> out;
    for (char l : labels) out.push_back(sizes_.at(l));
    return out;
  }

  absl::Status CollectSizes(const std::vector<Labelled>& operands);
  absl::StatusOr<Labelled> Arrange(Labelled v, const std::string& order);
  absl::StatusOr<Labelled> Diagonal(Labelled v);
  absl::StatusOr<Labelled> Squeeze(Labelled v);
  absl::StatusOr<Labelled> SumOut(Labelled v, const std::string& needed);
  absl::StatusOr<Labelled> Multiply(Labelled a, Labelled b);
  absl::StatusOr<Labelled> Join(Labelled a, Labelled b,
                                const std::string& needed);

  OnnxImport& c_;
  std::map<char, int64_t> sizes_;
};

// A label's size is that of every dimension it names, or 1, which broadcasts.
absl::Status Einsum::CollectSizes(const std::vector<Labelled>& operands) {
  for (const Labelled& v : operands) {
    for (size_t d = 0; d < v.labels.size(); ++d) {
      auto [it, added] = sizes_.insert({v.labels[d], shape(v)[d]});
      if (it->second == 1) it->second = shape(v)[d];
      if (shape(v)[d] != it->second && shape(v)[d] != 1) {
        return Invalid("Einsum: a label names dimensions of size ", it->second,
                       " and ", shape(v)[d]);
      }
    }
  }
  return absl::OkStatus();
}

// The dimensions in the order of `order`, which holds the same labels.
absl::StatusOr<Labelled> Einsum::Arrange(Labelled v, const std::string& order) {
  if (v.labels == order) return v;
  std::vector<int64_t> perm;
  for (char l : order) perm.push_back(static_cast<int64_t>(v.labels.find(l)));
  ASSIGN_OR_RETURN(v.value, c_.Add("transpose", {v.value}, {{"perm", perm}}));
  return Labelled{v.value, order};
}

// A label that is there twice keeps the diagonal: both dimensions are brought
// to the end and made one, in which the diagonal lies n + 1 apart.
absl::StatusOr<Labelled> Einsum::Diagonal(Labelled v) {
  for (size_t d = 0; d < v.labels.size(); ++d) {
    const char l = v.labels[d];
    const size_t other = v.labels.find(l, d + 1);
    if (other == std::string::npos) continue;
    const std::vector<int64_t> old = shape(v);
    if (old[d] != old[other]) {
      return Invalid("Einsum: label '", std::string(1, l), "' names ", old[d],
                     " and ", old[other], " in one operand");
    }
    std::vector<int64_t> perm, dims;
    for (size_t k = 0; k < old.size(); ++k) {
      if (k == d || k == other) continue;
      perm.push_back(static_cast<int64_t>(k));
      dims.push_back(old[k]);
    }
    perm.insert(perm.end(), {int64_t(d), int64_t(other)});
    dims.push_back(old[d] * old[d]);
    ASSIGN_OR_RETURN(v.value, c_.Add("transpose", {v.value}, {{"perm", perm}}));
    ASSIGN_OR_RETURN(v.value, c_.Reshape(v.value, dims));
    const std::vector<int64_t> last = {int64_t(dims.size()) - 1};
    ASSIGN_OR_RETURN(v.value,
                     c_.Add("slice", {v.value},
                            {{"axes", last},
                             {"from", std::vector<int64_t>{0}},
                             {"to", std::vector<int64_t>{dims.back()}},
                             {"step", std::vector<int64_t>{old[d] + 1}}}));
    v.labels = Filter(v.labels, [&](char k) { return k != l; }) + l;
    return Diagonal(v);
  }
  return v;
}

// Drops dimensions of size 1 that broadcast: joining brings them back.
absl::StatusOr<Labelled> Einsum::Squeeze(Labelled v) {
  Labelled out;
  std::vector<int64_t> dims;
  for (size_t d = 0; d < v.labels.size(); ++d) {
    if (shape(v)[d] != sizes_.at(v.labels[d])) continue;
    out.labels += v.labels[d];
    dims.push_back(shape(v)[d]);
  }
  ASSIGN_OR_RETURN(out.value, c_.Reshape(v.value, dims));
  return out;
}

// Sums over the labels that nobody needs.
absl::StatusOr<Labelled> Einsum::SumOut(Labelled v, const std::string& needed) {
  std::vector<int64_t> axes;
  for (size_t d = 0; d < v.labels.size(); ++d) {
    if (!Contains(needed, v.labels[d])) axes.push_back(int64_t(d));
  }
  if (axes.empty()) return v;
  ASSIGN_OR_RETURN(v.value, c_.Add("reduce_sum", {v.value}, {{"axes", axes}}));
  v.labels = Filter(v.labels, [&](char l) { return Contains(needed, l); });
  return v;
}

// The product over all labels of both, nothing summed.
absl::StatusOr<Labelled> Einsum::Multiply(Labelled a, Labelled b) {
  const std::string all = a.labels + Filter(b.labels, [&](char l) {
                            return !Contains(a.labels, l);
                          });
  auto spread = [&](Labelled v) -> absl::StatusOr<Value> {
    ASSIGN_OR_RETURN(
        v,
        Arrange(v, Filter(all, [&](char l) { return Contains(v.labels, l); })));
    if (v.labels == all) return v.value;
    std::vector<int64_t> dims;
    for (char l : v.labels) dims.push_back(int64_t(all.find(l)));
    return c_.Add("broadcast", {v.value},
                  {{"shape", Sizes(all)}, {"dims", dims}});
  };
  ASSIGN_OR_RETURN(Value x, spread(a));
  ASSIGN_OR_RETURN(Value y, spread(b));
  ASSIGN_OR_RETURN(Value out, c_.Add("mul", {x, y}));
  return Labelled{out, all};
}

absl::StatusOr<Labelled> Einsum::Join(Labelled a, Labelled b,
                                      const std::string& needed) {
  ASSIGN_OR_RETURN(a, SumOut(a, needed + b.labels));
  ASSIGN_OR_RETURN(b, SumOut(b, needed + a.labels));
  auto shared = [&](char l) { return Contains(b.labels, l); };
  const std::string batch = Filter(
      a.labels, [&](char l) { return shared(l) && Contains(needed, l); });
  const std::string contract = Filter(
      a.labels, [&](char l) { return shared(l) && !Contains(needed, l); });
  if (contract.empty()) return Multiply(a, b);
  const std::string rows = Filter(a.labels, [&](char l) { return !shared(l); });
  const std::string columns =
      Filter(b.labels, [&](char l) { return !Contains(a.labels, l); });
  ASSIGN_OR_RETURN(a, Arrange(a, batch + rows + contract));
  ASSIGN_OR_RETURN(b, Arrange(b, batch + contract + columns));

  // Without a batch the right operand is a matrix, and the left one keeps its
  // rows as they are: a linear layer.
  std::vector<int64_t> x = Sizes(batch), y = Sizes(batch);
  const int64_t inner = NumElements(Sizes(contract));
  if (batch.empty() && !rows.empty()) {
    x = Sizes(rows);
  } else {
    x.push_back(NumElements(Sizes(rows)));
  }
  x.push_back(inner);
  y.insert(y.end(), {inner, NumElements(Sizes(columns))});
  ASSIGN_OR_RETURN(a.value, c_.Reshape(a.value, x));
  ASSIGN_OR_RETURN(b.value, c_.Reshape(b.value, y));
  ASSIGN_OR_RETURN(Value out, c_.Add("matmul", {a.value, b.value}));
  const std::string labels = batch + rows + columns;
  ASSIGN_OR_RETURN(out, c_.Reshape(out, Sizes(labels)));
  return Labelled{out, labels};
}

Imported Einsum::Run() {
  ASSIGN_OR_RETURN(std::vector<Value> values, c_.AllIn());
  std::vector<int> ranks;
  for (Value v : values) ranks.push_back(c_.type(v).rank());
  ASSIGN_OR_RETURN(Equation equation,
                   ParseEquation(c_.node().String("equation"), ranks));
  std::vector<Labelled> operands;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSIGN_OR_RETURN(Labelled v, Diagonal({values[i], equation.inputs[i]}));
    operands.push_back(v);
  }
  RETURN_IF_ERROR(CollectSizes(operands));
  for (size_t i = 0; i < equation.output.size(); ++i) {
    const char l = equation.output[i];
    if (!sizes_.contains(l) || Contains(equation.output.substr(i + 1), l)) {
      return Invalid("Einsum: the output of '", c_.node().String("equation"),
                     "' has a label twice or one of no operand");
    }
  }
  for (Labelled& v : operands) {
    ASSIGN_OR_RETURN(v, Squeeze(v));
  }
  Labelled result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string needed = equation.output;
    for (size_t k = i + 1; k < operands.size(); ++k) {
      needed += operands[k].labels;
    }
    ASSIGN_OR_RETURN(result, Join(result, operands[i], needed));
  }
  ASSIGN_OR_RETURN(result, SumOut(result, equation.output));
  ASSIGN_OR_RETURN(result, Arrange(result, equation.output));
  return One(result.value);
}

}  // namespace

std::vector<OnnxLowering> LowerEinsum() {
  return {{"Einsum", [](OnnxImport& c) { return Einsum(c).Run(); }}};
}

}  // namespace isomer::onnx
