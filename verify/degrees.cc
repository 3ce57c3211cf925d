// A tensor's degrees are relative to those of the inputs: a factor for each
// dimension, 1 where there is none.
#include "verify/degrees.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/foreign_ops.h"
#include "ops/rational.h"
#include "ops/status.h"

namespace isomer::verify {

namespace {

using Degrees = std::map<int, Rational>;
using Kind = ir::ForeignOp::Kind;

std::string Text(const Degrees& degrees) {
  return absl::StrCat("{",
                      absl::StrJoin(degrees, " ",
                                    [](std::string* out, const auto& d) {
                                      absl::StrAppend(out, d.first, ":",
                                                      d.second.ToString());
                                    }),
                      "}");
}

void Multiply(Degrees& degrees, int dim, const Rational& factor) {
  auto [it, added] = degrees.try_emplace(dim, Rational(1));
  it->second = it->second * factor;
  if (it->second == Rational(1)) degrees.erase(it);
}

absl::StatusOr<Degrees> DegreesOf(const ir::WireOp& op,
                                  const std::vector<Degrees>& inputs) {
  const ir::ForeignOp* info =
      ir::FindForeignOp(ir::ForeignDialect::kUnity, op.type);
  if (info == nullptr) return Invalid("operator number ", op.type);
  switch (info->kind) {
    case Kind::kPartition:
    case Kind::kReplicate:
    case Kind::kCombine:
    case Kind::kReduce: {
      const int* dim = op.Find(ir::WireKey::kParallelDim);
      const int* degree = op.Find(ir::WireKey::kParallelDegree);
      if (!dim || !degree || *degree < 1) {
        return Invalid(info->foreign, " without a degree");
      }
      Degrees out = inputs[0];
      const bool up =
          info->kind == Kind::kPartition || info->kind == Kind::kReplicate;
      Multiply(out, *dim,
               up ? Rational(*degree) : Rational(1) / Rational(*degree));
      return out;
    }
    case Kind::kUnary:
    case Kind::kBinary:
    case Kind::kConcat:
    case Kind::kSplit:
      for (const Degrees& d : inputs) {
        if (d != inputs[0]) {
          return Invalid(info->foreign, " of operands with degrees ",
                         Text(inputs[0]), " and ", Text(d));
        }
      }
      return inputs[0];
    default:
      for (const Degrees& d : inputs) {
        if (!d.empty()) {
          return Invalid(info->foreign, " of an operand with degrees ",
                         Text(d));
        }
      }
      return Degrees();
  }
}

absl::StatusOr<std::vector<Degrees>> SideDegrees(
    const std::vector<ir::WireOp>& side) {
  std::vector<Degrees> out;
  for (const ir::WireOp& op : side) {
    std::vector<Degrees> inputs;
    for (const ir::WireTensor& t : op.inputs) {
      inputs.push_back(t.op < 0 ? Degrees() : out[t.op]);
    }
    ASSIGN_OR_RETURN(Degrees degrees, DegreesOf(op, inputs));
    out.push_back(std::move(degrees));
  }
  return out;
}

}  // namespace

std::string JudgeDegrees(const ir::WireRule& rule) {
  const auto source = SideDegrees(rule.source);
  const auto target = SideDegrees(rule.target);
  for (const auto* side : {&source, &target}) {
    if (!side->ok()) {
      return absl::StrCat("unknown: ", side->status().message());
    }
  }
  auto of = [](const std::vector<Degrees>& side, const ir::WireTensor& t) {
    return t.op < 0 ? Degrees() : side[t.op];
  };
  for (size_t i = 0; i < rule.outputs.size(); ++i) {
    const Degrees s = of(*source, rule.outputs[i].source);
    const Degrees t = of(*target, rule.outputs[i].target);
    if (s != t) {
      return absl::StrCat("changed: output ", i, " from ", Text(s), " to ",
                          Text(t));
    }
  }
  return "kept";
}

}  // namespace isomer::verify
