// argmax(x, axis=a, select_last=0) and argmin: where along dimension a the
// largest (smallest) element is, as i64; of equal ones the first, or the last
// if select_last is 1. The result does not have dimension a.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferArg(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", c.in(0).rank()));
  ASSIGN_OR_RETURN(const int64_t last, c.Number("select_last"));
  if (last != 0 && last != 1) return c.Fail("select_last must be 0 or 1");
  TypeT<D> out{DType::kI64, c.in(0).shape};
  RETURN_IF_ERROR(
      c.AtLeast(out.shape[axis], D(1), "the dimension 'axis' is empty"));
  out.shape.erase(out.shape.begin() + axis);
  return std::vector{out};
}

// Numbers scan the dimension. Symbols count the elements before the first (or
// after the last) extreme one: element k counts if none up to it is extreme,
//
//   sum over k of the product over j <= k of (x[j] = best ? 0 : 1).
template <bool kMax>
auto ArgElement() {
  return [](const auto& c) {
    using C = std::decay_t<decltype(c)>;
    const int axis = static_cast<int>(c.Number("axis"));
    const bool last = c.Number("select_last") != 0;
    return [&c, axis, last, n = c.dim(0, axis)](const auto& i) {
      auto at = i;
      at.insert(at.begin() + axis, typename C::Index(0));
      auto x = [&](const typename C::Index& k) {
        at[axis] = k;
        return c.At(0, at);
      };
      if constexpr (C::kSymbolic) {
        auto any = [&](const auto& k) { return x(k[0]); };
        const Elem best = kMax ? c.MaxOver({n}, any) : c.MinOver({n}, any);
        auto counts = [&](const auto& k) {
          return c.Prod({n}, [&](const auto& j) {
            const auto reached = last ? c.Ge(j[0], k[0]) : c.Ge(k[0], j[0]);
            return Elem::If(c.And(reached, c.Equal(x(j[0]), best)), c.Const(0),
                            c.Const(1));
          });
        };
        const Elem passed = c.Sum({n}, counts);
        return last ? c.FromIndex(n - 1) - passed : passed;
      } else {
        int64_t best = 0;
        for (int64_t k = 1; k < n; ++k) {
          const auto a = x(best), b = x(k);
          const bool better = kMax ? c.Less(a, b) : c.Less(b, a);
          if (better || (last && c.Equal(a, b))) best = k;
        }
        return best;
      }
    };
  };
}

FromOnnx ImportArg(std::string op) {
  return [op = std::move(op)](OnnxImport& c) -> Imported {
    ASSIGN_OR_RETURN(Value x, c.In(0));
    const int64_t axis = c.node().Int("axis", 0);
    const int64_t rank = c.type(x).rank();
    ASSIGN_OR_RETURN(
        Value out,
        c.Add(op, {x},
              {{"axis", axis},
               {"select_last", c.node().Int("select_last_index", 0)}}));
    if (c.node().Int("keepdims", 1) == 0) return One(out);
    std::vector<int64_t> shape = c.type(x).shape;
    shape[axis < 0 ? axis + rank : axis] = 1;
    return One(c.Reshape(out, shape));
  };
}

// select_last_index came with opset 12.
ToOnnx ExportArg(std::string op_type) {
  return [op_type = std::move(op_type)](OnnxExport& c) -> Exported {
    std::vector<OnnxAttr> attrs = {{"axis", c.attrs().Int("axis")},
                                   {"keepdims", int64_t{0}}};
    if (c.attrs().Int("select_last") != 0) {
      if (c.opset() < 12) {
        return Unsupported(op_type, ": select_last_index needs opset 12, the ",
                           "model has ", c.opset());
      }
      attrs.push_back({"select_last_index", int64_t{1}});
    }
    return c.Emit(op_type, {c.In(0)}, std::move(attrs));
  };
}

template <bool kMax>
OpDef ArgOp(std::string name, std::string onnx,
            std::vector<std::string> examples) {
  return {
      .name = name,
      .inputs = Inputs({"x"}),
      .attrs = {AxisAttr("axis").Samples({0, 1, -1}),
                IntAttr("select_last").Default(0).Samples({0, 1})},
      .infer = Infer([](auto& c) { return InferArg(c); }),
      .element = OrderedElement(ArgElement<kMax>()),
      .examples = std::move(examples),
      .cases = {absl::StrCat(name, "(f32[2,3,4], axis=1)"),
                absl::StrCat(name, "(f16[4], axis=0, select_last=1)"),
                absl::StrCat(name, "(i64[2,3], axis=-1)")},
      .onnx = {.from = {{onnx, ImportArg(name)}}, .to = ExportArg(onnx)},
      .flops = [](absl::Span<const TensorType> in, auto,
                  const Attrs&) { return NumElements(in[0]); },
  };
}

}  // namespace

std::vector<OpDef> DefineArgmax() {
  return {ArgOp<true>("argmax", "ArgMax",
                      {"argmax([1 3 3 2], axis=0) = 1:i64",
                       "argmax([1 3 3 2], axis=0, select_last=1) = 2:i64",
                       "argmax([[1 2] [4 3]], axis=-1) = [1 0]:i64"}),
          ArgOp<false>("argmin", "ArgMin",
                       {"argmin([2 1 1 3], axis=0) = 1:i64",
                        "argmin([2 1 1 3]:i64, axis=-1, select_last=1) = 2:i64",
                        "argmin([[1 2] [4 3]], axis=0) = [0 0]:i64"})};
}

}  // namespace isomer
