// One test over the whole registry: whatever is added to ops/defs/ is checked
// here before anyone writes a test for it. Each operator's parts are held
// against each other on its worked examples, its cases and random calls:
// inference, kernels under every interpretation, index semantics, shardings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/elem_eval.h"
#include "ops/example.h"
#include "ops/op_def.h"
#include "ops/op_samples.h"
#include "ops/registry.h"
#include "ops/sharding.h"
#include "ops/symbolic_calls.h"
#include "ops/tensor_compare.h"

namespace isomer {
namespace {

using Outputs = absl::StatusOr<std::vector<Tensor>>;
using Values = SymbolValues;

constexpr int kLegalCalls = 30;
constexpr int kTries = 3000;
constexpr int kIllegalCalls = 300;
constexpr int64_t kElementsPerCall = 16;

std::vector<const Tensor*> Pointers(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> out;
  for (const Tensor& t : tensors) out.push_back(&t);
  return out;
}

Outputs Evaluate(const OpDef& op, const std::vector<Tensor>& inputs,
                 const Attrs& attrs, Interp interp) {
  return EvalOp(op, Pointers(inputs), attrs, interp);
}

// Tensors of doubles under another interpretation.
std::vector<Tensor> As(const std::vector<Tensor>& tensors, Interp interp) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(*Reinterpret(t, interp));
  return out;
}

// Tensors whose floating-point elements are symbols of their own.
std::vector<Tensor> Symbols(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (size_t k = 0; k < tensors.size(); ++k) {
    Tensor t = tensors[k];
    if (IsFloat(t.type.dtype)) {
      t = MakeTensor(t.type, Interp::kSymbolic);
      for (int64_t i = 0; i < t.size(); ++i) {
        t.as<Term>()[i] = Term::Symbol(absl::StrCat("x", k, "_", i));
      }
    }
    out.push_back(std::move(t));
  }
  return out;
}

// Whether a term is a rational function of symbols.
bool IsRational(const Polynomial& p) {
  for (const Monomial& m : p.monomials()) {
    for (const Factor& f : m.factors) {
      if (f.atom.is_symbol()) continue;
      if (!f.atom.Is("inv") || !IsRational(f.atom.args()[0])) return false;
    }
  }
  return p.ok();
}

bool HasDevices(const TypedCall& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(),
                     [](const TensorType& t) { return !t.device.empty(); });
}

class OperatorTest : public ::testing::TestWithParam<const OpDef*> {
 protected:
  const OpDef& op() const { return *GetParam(); }

  // The calls to try, made once per operator.
  const SampledCalls& Calls() const {
    static auto* cache = new std::map<std::string, SampledCalls>();
    auto it = cache->find(op().name);
    if (it == cache->end()) {
      absl::StatusOr<SampledCalls> calls =
          SampleCalls(op(), kLegalCalls, kTries);
      EXPECT_TRUE(calls.ok()) << calls.status();
      it = cache
               ->emplace(op().name,
                         calls.ok() ? *std::move(calls) : SampledCalls{})
               .first;
    }
    return it->second;
  }

  // The stream of values for one test of this operator.
  SampleStream Stream() const { return SampleStream(op().name.size()); }

  // Runs a call; without a result if the operator has no kernel for these
  // scalars, which only composites and operators with an order may lack.
  std::optional<std::vector<Tensor>> Result(const std::vector<Tensor>& inputs,
                                            const Attrs& attrs,
                                            Interp interp) const {
    Outputs out = Evaluate(op(), inputs, attrs, interp);
    if (out.ok()) return *std::move(out);
    EXPECT_EQ(out.status().code(), absl::StatusCode::kUnimplemented)
        << out.status();
    return std::nullopt;
  }

  // Whether the call is typed in this form; if so it must be typed as expected.
  bool CheckSymbolic(const TypedCall& call, const SymbolicCall& form,
                     const Inferred<int64_t>& expected) const;
  void CheckElements(const TypedCall& call, const SymbolicCall& form,
                     const Attrs& attrs, SampleStream& stream) const;
  template <class T>
  void CompareElements(const Elem& e, const std::vector<Tensor>& inputs,
                       const Tensor& expected, const Values& values) const;
  void CheckSharding(const TypedCall& call, const Attrs& attrs,
                     const Sharding& s, SampleStream& stream,
                     int& checked) const;
  void CheckDevices(const std::vector<Tensor>& inputs, const Attrs& attrs,
                    const std::vector<Tensor>& outputs) const;
};

TEST_P(OperatorTest, ExamplesHold) {
  EXPECT_TRUE(!op().examples.empty() || op().parallel)
      << "an operator has worked examples";
  for (const std::string& text : op().examples) {
    SCOPED_TRACE(text);
    absl::StatusOr<Example> e = ParseExample(text);
    ASSERT_TRUE(e.ok()) << e.status();
    ASSERT_EQ(e->op, op().name);
    for (Interp interp : {Interp::kRun, Interp::kReal}) {
      Outputs out = Evaluate(op(), As(e->inputs, interp), e->attrs, interp);
      // What is built of others runs where there are graphs.
      if (op().build && absl::IsUnimplemented(out.status())) continue;
      ASSERT_TRUE(out.ok()) << out.status();
      ASSERT_EQ(out->size(), e->outputs.size());
      for (size_t k = 0; k < out->size(); ++k) {
        const double close = 2 * Epsilon(e->outputs[k].type.dtype);
        EXPECT_EQ(Difference((*out)[k], e->outputs[k], 1e-5 + close, 1e-6), "");
      }
    }
  }
}

TEST_P(OperatorTest, ExamplesHoldInTheField) {
  for (const std::string& text : op().examples) {
    SCOPED_TRACE(text);
    absl::StatusOr<Example> e = ParseExample(text);
    ASSERT_TRUE(e.ok()) << e.status();
    auto field =
        Result(As(e->inputs, Interp::kField), e->attrs, Interp::kField);
    auto term = Result(Symbols(e->inputs), e->attrs, Interp::kSymbolic);
    if (!field || !term) continue;
    for (size_t k = 0; k < field->size(); ++k) {
      const std::vector<double> expected = ToDoubles(e->outputs[k]);
      ASSERT_EQ((*field)[k].size(), e->outputs[k].size());
      for (size_t i = 0; i < expected.size(); ++i) {
        if (!IsFloat((*field)[k].type.dtype)) {
          EXPECT_EQ((*field)[k].as<int64_t>()[i], expected[i]);
        } else if (expected[i] == std::trunc(expected[i]) &&
                   IsRational((*term)[k].as<Term>()[i].polynomial())) {
          EXPECT_EQ((*field)[k].as<Field>()[i].ToString(),
                    Field::FromDouble(expected[i]).ToString());
        }
      }
    }
  }
}

TEST_P(OperatorTest, InferenceAgreesWithEvaluation) {
  ASSERT_FALSE(Calls().legal.empty())
      << "no legal call found; give the operator some cases";
  SampleStream stream = Stream();
  for (const TypedCall& call : Calls().legal) {
    SCOPED_TRACE(TypedCallText(call));
    absl::StatusOr<Inferred<int64_t>> types =
        InferOp(op(), call.inputs, call.attrs);
    ASSERT_TRUE(types.ok()) << types.status();
    EXPECT_EQ(types->outputs.size(), static_cast<size_t>(op().outputs));
    // Attributes in canonical form mean the same and stay as they are.
    absl::StatusOr<Inferred<int64_t>> again =
        InferOp(op(), call.inputs, types->attrs);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->outputs, types->outputs);
    EXPECT_EQ(AttrsText<int64_t>(again->attrs),
              AttrsText<int64_t>(types->attrs));
    const std::vector<Tensor> inputs =
        RandomInputs(call, SampleValues::kReals, stream);
    Outputs out = Evaluate(op(), inputs, call.attrs, Interp::kReal);
    if (!out.ok()) {
      EXPECT_TRUE(op().is_composite()) << out.status();
      continue;
    }
    ASSERT_EQ(out->size(), types->outputs.size());
    for (size_t k = 0; k < out->size(); ++k) {
      EXPECT_EQ(TypeText((*out)[k].type), TypeText(types->outputs[k]));
      EXPECT_EQ((*out)[k].size(), NumElements(types->outputs[k]));
    }
    if (HasDevices(call) && !op().parallel) {
      CheckDevices(inputs, call.attrs, *out);
    }
  }
}

// What runs on several devices at once is what runs on each of them.
void OperatorTest::CheckDevices(const std::vector<Tensor>& inputs,
                                const Attrs& attrs,
                                const std::vector<Tensor>& outputs) const {
  auto part = [](const Tensor& t, int64_t device) {
    const std::vector<double> all = ToDoubles(t);
    const int64_t n = static_cast<int64_t>(all.size()) / 2;
    return FromDoubles({t.type.dtype, t.type.shape},
                       absl::MakeSpan(all).subspan(device * n, n),
                       Interp::kReal);
  };
  for (int64_t device : {0, 1}) {
    std::vector<Tensor> parts;
    for (const Tensor& t : inputs) parts.push_back(part(t, device));
    Outputs out = Evaluate(op(), parts, attrs, Interp::kReal);
    ASSERT_TRUE(out.ok()) << out.status();
    for (size_t k = 0; k < out->size(); ++k) {
      EXPECT_EQ(Difference((*out)[k], part(outputs[k], device), 0, 0), "");
    }
  }
}

TEST_P(OperatorTest, RejectionsNameTheOperator) {
  const std::vector<TypedCall>& calls = Calls().illegal;
  for (size_t i = 0; i < calls.size() && i < kIllegalCalls; ++i) {
    const TypedCall& call = calls[i];
    SCOPED_TRACE(TypedCallText(call));
    const absl::Status status = InferOp(op(), call.inputs, call.attrs).status();
    EXPECT_TRUE(absl::StartsWith(status.message(), op().name + ":")) << status;
    // Over symbols the same call is rejected too, or demands what is not so.
    for (Naming naming : {Naming::kEachDimension, Naming::kNumbers}) {
      const SymbolicCall form = Symbolic(call, call.attrs, naming);
      absl::StatusOr<Inferred<DimExpr>> types =
          InferOp(op(), form.inputs, form.attrs);
      if (types.ok()) {
        EXPECT_FALSE(Hold(types->obligations, form.values)) << status;
      } else {
        EXPECT_TRUE(absl::StartsWith(types.status().message(), op().name + ":"))
            << types.status();
      }
    }
  }
  const std::vector<TensorType> many(op().inputs.names.size() + 7);
  const absl::Status status =
      op().inputs.variadic
          ? InferOp(op(), std::vector<TensorType>{}, {}).status()
          : InferOp(op(), many, {}).status();
  EXPECT_TRUE(absl::StartsWith(status.message(), op().name + ": takes"))
      << status;
}

bool OperatorTest::CheckSymbolic(const TypedCall& call,
                                 const SymbolicCall& form,
                                 const Inferred<int64_t>& expected) const {
  absl::StatusOr<Inferred<DimExpr>> types =
      InferOp(op(), form.inputs, form.attrs);
  if (!types.ok()) {
    EXPECT_TRUE(absl::StartsWith(types.status().message(), op().name + ":"))
        << types.status();
    EXPECT_FALSE(form.values.empty()) << types.status();
    return false;
  }
  EXPECT_EQ(types->outputs.size(), expected.outputs.size());
  for (size_t k = 0; k < types->outputs.size(); ++k) {
    EXPECT_EQ(TypeText(TypeAt(types->outputs[k], form.values)),
              TypeText(expected.outputs[k]))
        << TypeText(types->outputs[k]);
  }
  EXPECT_TRUE(Hold(types->obligations, form.values))
      << ObligationText(types->obligations[0]) << " of "
      << types->obligations.size() << " for " << TypedCallText(call);
  return true;
}

TEST_P(OperatorTest, SymbolicInferenceAgreesWithNumbers) {
  int general = 0;  // calls typed with symbols for all dimensions but one
  for (const TypedCall& call : Calls().legal) {
    SCOPED_TRACE(TypedCallText(call));
    absl::StatusOr<Inferred<int64_t>> expected =
        InferOp(op(), call.inputs, call.attrs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const std::vector<SymbolicCall> forms =
        SymbolicForms(op(), call, expected->attrs);
    for (const SymbolicCall& form : forms) {
      CheckSymbolic(call, form, *expected);
    }
    general += CheckSymbolic(call, forms[0], *expected);
    // A dimension that decides a rank must be a number.
    for (const auto& [name, value] : forms[0].values) {
      general += CheckSymbolic(call, WithNumber(forms[0], name), *expected);
    }
  }
  EXPECT_GT(general, 0) << "no call is typed for all sizes at once";
}

template <class T>
void OperatorTest::CompareElements(const Elem& e,
                                   const std::vector<Tensor>& inputs,
                                   const Tensor& expected,
                                   const Values& values) const {
  const std::vector<const Tensor*> pointers = Pointers(inputs);
  const std::vector<int64_t>& shape = expected.type.shape;
  const int64_t n = NumElements(shape);
  const int64_t step = n / kElementsPerCall + 1;
  const std::vector<int64_t> strides = Strides(shape);
  for (int64_t at = 0; at < n; at += step) {
    Values symbols = values;
    for (size_t d = 0; d < shape.size(); ++d) {
      symbols[absl::StrCat("i", d)] = at / strides[d] % shape[d];
    }
    absl::StatusOr<T> value = EvalElem<T>(e, pointers, symbols);
    ASSERT_TRUE(value.ok()) << value.status();
    if constexpr (std::is_same_v<T, Field>) {
      if (IsFloat(expected.type.dtype)) {
        ASSERT_EQ(value->ToString(), expected.as<Field>()[at].ToString())
            << e.ToString();
      } else {
        ASSERT_EQ(*value, Field::FromInt(expected.as<int64_t>()[at]))
            << e.ToString();
      }
    } else if constexpr (std::is_same_v<T, Int>) {
      ASSERT_EQ(WrapTo(expected.type.dtype, value->value()),
                expected.as<int64_t>()[at])
          << e.ToString();
    } else {
      ASSERT_TRUE(Near(*value, ToDoubles(expected)[at], 1e-9, 1e-9))
          << *value << " and " << TensorText(expected) << " at " << at << ": "
          << e.ToString();
    }
  }
}

// A tensor with its device axes as first dimensions, as the index semantics of
// parallel operators has it.
Tensor Flat(Tensor t) {
  t.type = {t.type.dtype, AllDims(t.type)};
  return t;
}

std::vector<Tensor> Flat(std::vector<Tensor> list) {
  for (Tensor& t : list) t = Flat(std::move(t));
  return list;
}

void OperatorTest::CheckElements(const TypedCall& call,
                                 const SymbolicCall& form, const Attrs& attrs,
                                 SampleStream& stream) const {
  absl::StatusOr<Inferred<DimExpr>> types =
      InferOp(op(), form.inputs, form.attrs);
  if (!types.ok()) return;  // typed only with more numbers given
  std::vector<DimExpr> index;
  const SymType& out = types->outputs[0];
  for (size_t d = 0; d < out.device.size() + out.shape.size(); ++d) {
    index.push_back(DimExpr::Symbol(absl::StrCat("i", d)));
  }
  absl::StatusOr<Elem> e = IndexOp(op(), form.inputs, *types, index);
  ASSERT_TRUE(e.ok()) << e.status();
  const std::vector<Tensor> inputs =
      RandomInputs(call, SampleValues::kReals, stream);
  Outputs real = Evaluate(op(), inputs, attrs, Interp::kReal);
  ASSERT_TRUE(real.ok()) << real.status();
  bool floats = IsFloat((*real)[0].type.dtype);
  for (const Tensor& t : inputs) floats |= IsFloat(t.type.dtype);
  if (!floats) {
    CompareElements<Int>(*e, Flat(inputs), Flat((*real)[0]), form.values);
    return;
  }
  CompareElements<double>(*e, Flat(inputs), Flat((*real)[0]), form.values);
  const std::vector<Tensor> fields = As(inputs, Interp::kField);
  if (auto field = Result(fields, attrs, Interp::kField)) {
    CompareElements<Field>(*e, Flat(fields), Flat((*field)[0]), form.values);
  }
}

TEST_P(OperatorTest, IndexSemanticsAgreesWithKernel) {
  if (!op().element) GTEST_SKIP() << "no index semantics";
  SampleStream stream = Stream();
  for (const TypedCall& call : Calls().legal) {
    if (HasDevices(call) && !op().parallel) continue;
    SCOPED_TRACE(TypedCallText(call));
    absl::StatusOr<Inferred<int64_t>> types =
        InferOp(op(), call.inputs, call.attrs);
    ASSERT_TRUE(types.ok()) << types.status();
    for (const SymbolicCall& form : SymbolicForms(op(), call, types->attrs)) {
      CheckElements(call, form, types->attrs, stream);
      if (HasFatalFailure()) return;
    }
  }
}

// Half number `half` of a tensor of doubles or integers along a dimension.
Tensor Half(const Tensor& t, int dim, int64_t half) {
  const int64_t size = t.type.shape[dim];
  const int64_t inner = Strides(t.type.shape)[dim];
  TensorType type = t.type;
  type.shape[dim] = size / 2;
  const std::vector<double> all = ToDoubles(t);
  std::vector<double> part;
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) / inner % size;
    if (at / (size / 2) == half) part.push_back(all[i]);
  }
  return FromDoubles(type, part, Interp::kReal);
}

Tensor SumOf(const Tensor& a, const Tensor& b) {
  std::vector<double> sum = ToDoubles(a);
  const std::vector<double> other = ToDoubles(b);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  Tensor out = FromDoubles(a.type, sum, Interp::kReal);
  if (!IsFloat(a.type.dtype)) {
    for (int64_t& x : out.as<int64_t>()) x = WrapTo(a.type.dtype, x);
  }
  return out;
}

// The attributes of a part; nothing if a size is odd.
std::optional<Attrs> HalvedAttrs(Attrs attrs, const Sharding& s) {
  for (const AttrEntry& entry : s.resized) {
    Attr value = *attrs.Find(entry.name);
    auto* list = std::get_if<std::vector<int64_t>>(&value);
    int64_t& size = list ? (*list)[entry.at] : std::get<int64_t>(value);
    if (size % 2 != 0) return std::nullopt;
    size /= 2;
    attrs.Set(entry.name, std::move(value));
  }
  return attrs;
}

void OperatorTest::CheckSharding(const TypedCall& call, const Attrs& attrs,
                                 const Sharding& s, SampleStream& stream,
                                 int& checked) const {
  std::optional<Attrs> part_attrs = HalvedAttrs(attrs, s);
  if (!part_attrs) return;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const int dim = s.input_dims[k];
    if (dim >= 0 && call.inputs[k].shape[dim] % 2 != 0) return;
  }
  const std::vector<Tensor> inputs =
      RandomInputs(call, SampleValues::kReals, stream);
  Outputs whole = Evaluate(op(), inputs, attrs, Interp::kReal);
  ASSERT_TRUE(whole.ok()) << whole.status();
  std::vector<Tensor> results;
  for (int64_t half : {0, 1}) {
    std::vector<Tensor> parts;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int dim = s.input_dims[k];
      parts.push_back(dim < 0 ? inputs[k] : Half(inputs[k], dim, half));
    }
    Outputs out = Evaluate(op(), parts, *part_attrs, Interp::kReal);
    ASSERT_TRUE(out.ok()) << out.status();
    results.push_back((*out)[0]);
  }
  ++checked;
  if (s.output_dim < 0) {
    EXPECT_EQ(
        Difference(SumOf(results[0], results[1]), (*whole)[0], 1e-9, 1e-9), "");
    return;
  }
  for (int64_t half : {0, 1}) {
    EXPECT_EQ(Difference(results[half], Half((*whole)[0], s.output_dim, half),
                         1e-12, 1e-12),
              "");
  }
}

TEST_P(OperatorTest, ShardingsHold) {
  SampleStream stream = Stream();
  int checked = 0, derived = 0;
  for (const TypedCall& call : Calls().legal) {
    if (HasDevices(call)) continue;
    absl::StatusOr<Inferred<int64_t>> types =
        InferOp(op(), call.inputs, call.attrs);
    ASSERT_TRUE(types.ok()) << types.status();
    absl::StatusOr<std::vector<Sharding>> shardings =
        LegalShardings(op(), call.inputs, call.attrs);
    ASSERT_TRUE(shardings.ok()) << shardings.status();
    derived += static_cast<int>(shardings->size());
    for (const Sharding& s : *shardings) {
      SCOPED_TRACE(absl::StrCat(TypedCallText(call), ": ", ShardingText(s)));
      CheckSharding(call, types->attrs, s, stream, checked);
    }
  }
  RecordProperty("derived", derived);
  RecordProperty("checked", checked);
  if (derived == 0) GTEST_SKIP() << "no sharding derived";
}

TEST_P(OperatorTest, InterpretationsAgreeOnIntegers) {
  SampleStream stream = Stream();
  for (const TypedCall& call : Calls().legal) {
    SCOPED_TRACE(TypedCallText(call));
    const std::vector<Tensor> reals =
        RandomInputs(call, SampleValues::kIntegers, stream);
    auto real = Result(reals, call.attrs, Interp::kReal);
    auto integer =
        Result(As(reals, Interp::kInteger), call.attrs, Interp::kInteger);
    auto field = Result(As(reals, Interp::kField), call.attrs, Interp::kField);
    auto term = Result(Symbols(reals), call.attrs, Interp::kSymbolic);
    if (!real || !integer) continue;
    for (size_t k = 0; k < real->size(); ++k) {
      if (!IsFloat((*real)[k].type.dtype)) continue;
      const std::vector<Int>& exact = (*integer)[k].as<Int>();
      for (size_t i = 0; i < exact.size(); ++i) {
        if (!exact[i].ok()) continue;
        EXPECT_TRUE(
            Near((*real)[k].as<double>()[i], ToDouble(exact[i]), 1e-12, 1e-12))
            << (*real)[k].as<double>()[i] << " and " << exact[i].ToString();
        // The field agrees where no keyed function has a say.
        if (!field || !term) continue;
        if (!IsRational((*term)[k].as<Term>()[i].polynomial())) continue;
        EXPECT_EQ((*field)[k].as<Field>()[i].ToString(),
                  Field::FromInt(exact[i].value()).ToString());
      }
    }
  }
}

// The greatest finite value of a type that inputs below 2 could leave.
double Greatest(DType dtype) { return dtype == DType::kF16 ? 65504 : 1e38; }

TEST_P(OperatorTest, RunningIsNearTheReals) {
  SampleStream stream = Stream();
  for (const TypedCall& call : Calls().legal) {
    SCOPED_TRACE(TypedCallText(call));
    const std::vector<Tensor> inputs =
        RandomInputs(call, SampleValues::kReals, stream);
    auto real = Result(inputs, call.attrs, Interp::kReal);
    auto run = Result(As(inputs, Interp::kRun), call.attrs, Interp::kRun);
    ASSERT_EQ(real.has_value(), run.has_value());
    for (size_t k = 0; real && k < real->size(); ++k) {
      const std::vector<double> x = ToDoubles((*run)[k]),
                                y = ToDoubles((*real)[k]);
      ASSERT_EQ(x.size(), y.size());
      double largest = 1;
      for (double v : y) {
        if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
      }
      const DType dtype = (*run)[k].type.dtype;
      // One rounding to the type, and sums in float.
      const double relative = IsFloat(dtype) ? Epsilon(dtype) : 0;
      const double absolute = IsFloat(dtype) ? largest * 0x1p-18 : 0;
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::fabs(y[i]) > Greatest(dtype)) continue;
        EXPECT_TRUE(Near(x[i], y[i], relative, absolute))
            << x[i] << " and " << y[i] << " at " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, OperatorTest, ::testing::ValuesIn(Ops().all()),
    [](const ::testing::TestParamInfo<const OpDef*>& info) {
      return info.param->name;
    });

}  // namespace
}  // namespace isomer
