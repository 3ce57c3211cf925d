// The reductions: sum, mean, max, min, prod, sum of squares, L1, L2,
// log-sum-exp and log-sum, over the dimensions `axes`, which the result does
// not have any more. Over no dimension they act on single elements. ONNX's
// keepdims is a reshape, and its global pools are reductions.
#include <algorithm>
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// What the reductions differ in, beside their fold.
struct Row {
  std::string name;
  std::string onnx;
  std::string on_one;  // the ONNX operator that it is over no dimension
  int axes_as_input;   // the first opset with axes as an input
  bool integers;       // makes sense of integers
  bool empty;          // has a value over no elements
  std::vector<std::string> examples;
};

InferFn InferReduce(bool integers, bool empty) {
  return Infer([integers, empty](auto& c) -> Types<DimOf<decltype(c)>> {
    using D = DimOf<decltype(c)>;
    RETURN_IF_ERROR(integers ? c.Numeric(0) : c.Float(0));
    const TypeT<D>& x = c.in(0);
    ASSIGN_OR_RETURN(const std::vector<int> axes, c.Axes("axes", x.rank()));
    TypeT<D> out{x.dtype, {}};
    size_t next = 0;
    for (int d = 0; d < x.rank(); ++d) {
      if (next == axes.size() || axes[next] != d) {
        out.shape.push_back(x.shape[d]);
        continue;
      }
      ++next;
      if (empty) continue;
      RETURN_IF_ERROR(c.AtLeast(x.shape[d], D(1),
                                absl::StrCat("dimension ", d, " is empty")));
    }
    return std::vector{out};
  });
}

// `fold` takes the context, the extents of the reduced dimensions and the
// element at an index into them.
template <class Fold>
ElementFn Reduction(Fold fold) {
  return Element([fold](const auto& c) {
    using Indices = typename std::decay_t<decltype(c)>::Indices;
    const std::vector<int64_t> axes = c.Numbers("axes");
    Indices extents;
    std::vector<int> kept;
    for (int d = 0; d < c.rank(0); ++d) {
      if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
        kept.push_back(d);
      } else {
        extents.push_back(c.dim(0, d));
      }
    }
    return [&c, fold, axes, kept, extents](const auto& i) {
      Indices at(c.rank(0));
      for (size_t d = 0; d < kept.size(); ++d) at[kept[d]] = i[d];
      return fold(c, extents, [&](const auto& k) {
        for (size_t a = 0; a < axes.size(); ++a) at[axes[a]] = k[a];
        return c.At(0, at);
      });
    };
  });
}

// The number of elements that are reduced to one, as an element.
template <class C>
auto Count(const C& c, const typename C::Indices& extents) {
  typename C::Index n = 1;
  for (const auto& e : extents) n = n * e;
  return c.FromIndex(n);
}

// What ONNX allows and the operator does not.
absl::Status CheckModelled(const TensorType& x, absl::Span<const int64_t> axes,
                           const Row& row) {
  if (!IsFloat(x.dtype) && !(row.integers && IsInteger(x.dtype))) {
    return Unsupported(row.onnx, ": elements of type ", DTypeName(x.dtype));
  }
  const int64_t rank = x.rank();
  for (int64_t a : axes) {
    if (a < -rank || a >= rank) {
      return Invalid(row.onnx, ": axis ", a, " is not a dimension of ",
                     TypeText(x));
    }
    if (!row.empty && x.shape[a < 0 ? a + rank : a] == 0) {
      return Unsupported(row.onnx, ": a reduction of no elements of ",
                         TypeText(x));
    }
  }
  return absl::OkStatus();
}

Imported ImportReduce(OnnxImport& c, const Row& row) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  ASSIGN_OR_RETURN(auto given, c.AttrOrInput("axes", 1));
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  if (axes.empty()) {
    if (c.node().Int("noop_with_empty_axes", 0) != 0) {
      if (row.on_one != "Identity") {
        // The versions of ONNX disagree on whether the function is applied.
        return Unsupported(row.onnx, ": noop_with_empty_axes");
      }
    } else {
      for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
    }
  }
  RETURN_IF_ERROR(CheckModelled(c.type(x), axes, row));
  ASSIGN_OR_RETURN(Value out, c.Add(row.name, {x}, {{"axes", axes}}));
  if (c.node().Int("keepdims", 1) == 0) return One(out);
  std::vector<int64_t> kept = shape;
  for (int64_t a : axes) kept[a < 0 ? a + rank : a] = 1;
  return One(c.Reshape(out, kept));
}

// GlobalAveragePool and GlobalMaxPool reduce all but the first two dimensions.
FromOnnx ImportGlobalPool(std::string op) {
  return [op = std::move(op)](OnnxImport& c) -> Imported {
    ASSIGN_OR_RETURN(Value x, c.In(0));
    std::vector<int64_t> shape = c.type(x).shape, axes;
    if (shape.size() < 2) {
      return Invalid(c.node().op_type, ": the input ", TypeText(c.type(x)),
                     " must have rank 2 or more");
    }
    for (size_t d = 2; d < shape.size(); ++d) {
      if (shape[d] == 0) {
        return Unsupported(c.node().op_type, ": a pool of no elements");
      }
      axes.push_back(static_cast<int64_t>(d));
      shape[d] = 1;
    }
    ASSIGN_OR_RETURN(Value out, c.Add(op, {x}, {{"axes", axes}}));
    return One(c.Reshape(out, shape));
  };
}

// An empty list of axes means all of them to ONNX, so that a reduction over
// none leaves as the function of single elements that it is.
Exported ExportReduce(OnnxExport& c, const Row& row) {
  const std::vector<int64_t>& axes = c.attrs().Ints("axes");
  if (axes.empty()) {
    if (row.on_one == "Mul") return c.Emit("Mul", {c.In(0), c.In(0)});
    return c.Emit(row.on_one, {c.In(0)});
  }
  return c.EmitWithAxes(row.onnx, {c.In(0)}, "axes", axes, row.axes_as_input,
                        {{"keepdims", int64_t{0}}});
}

template <class Fold>
OpDef Reduce(const Row& row, Fold fold) {
  OpDef op{
      .name = row.name,
      .inputs = Inputs({"x"}),
      .attrs = {AxesAttr("axes").Samples({std::vector<int64_t>{0},
                                          std::vector<int64_t>{-1},
                                          std::vector<int64_t>{0, 1}})},
      .infer = InferReduce(row.integers, row.empty),
      .element = Reduction(fold),
      .examples = row.examples,
      .cases = {absl::StrCat(row.name, "(f32[2,3,4], axes=[0 2])"),
                absl::StrCat(row.name, "(f16[3,2], axes=[-1])"),
                absl::StrCat(row.name, "(f32[2,3], axes=[0 1])"),
                absl::StrCat(row.name, "(f64[2,3], axes=[])")},
      .onnx = {.from = {{row.onnx,
                         [row](OnnxImport& c) {
                           return ImportReduce(c, row);
                         }}},
               .to = [row](OnnxExport& c) { return ExportReduce(c, row); }},
      .flops = [](absl::Span<const TensorType> in, auto,
                  const Attrs&) { return NumElements(in[0]); },
  };
  if (row.integers) {
    op.cases.push_back(absl::StrCat(row.name, "(i64[2,3], axes=[1])"));
  }
  return op;
}

OpDef SumOp() {
  return Reduce({"reduce_sum",
                 "ReduceSum",
                 "Identity",
                 13,
                 /*integers=*/true,
                 /*empty=*/true,
                 {"reduce_sum([[1 2] [3 4]], axes=[0]) = [4 6]",
                  "reduce_sum([[1 2] [3 4]], axes=[0 -1]) = 10",
                  "reduce_sum([1 2], axes=[]) = [1 2]"}},
                [](const auto& c, const auto& extents, auto x) {
                  return c.Sum(extents, x);
                });
}

OpDef MeanOp() {
  OpDef op = Reduce({"reduce_mean",
                     "ReduceMean",
                     "Identity",
                     18,
                     /*integers=*/true,
                     /*empty=*/false,
                     {"reduce_mean([[1 2] [3 6]], axes=[-1]) = [1.5 4.5]",
                      "reduce_mean([1 2 4]:i64, axes=[0]) = 2:i64"}},
                    [](const auto& c, const auto& extents, auto x) {
                      return Quotient(c.out_type().dtype, c.Sum(extents, x),
                                      Count(c, extents));
                    });
  op.onnx.from.push_back({"GlobalAveragePool", ImportGlobalPool(op.name)});
  return op;
}

OpDef MaxOp() {
  OpDef op = Reduce({"reduce_max",
                     "ReduceMax",
                     "Identity",
                     18,
                     /*integers=*/true,
                     /*empty=*/false,
                     {"reduce_max([[1 -2] [-3 4]], axes=[1]) = [1 4]",
                      "reduce_max([-1 -2]:i64, axes=[0]) = -1:i64"}},
                    [](const auto& c, const auto& extents, auto x) {
                      return c.MaxOver(extents, x);
                    });
  op.onnx.from.push_back({"GlobalMaxPool", ImportGlobalPool(op.name)});
  return op;
}

OpDef MinOp() {
  return Reduce({"reduce_min",
                 "ReduceMin",
                 "Identity",
                 18,
                 /*integers=*/true,
                 /*empty=*/false,
                 {"reduce_min([[1 -2] [-3 4]], axes=[1]) = [-2 -3]",
                  "reduce_min([1 2]:i64, axes=[0]) = 1:i64"}},
                [](const auto& c, const auto& extents, auto x) {
                  return c.MinOver(extents, x);
                });
}

OpDef ProdOp() {
  return Reduce({"reduce_prod",
                 "ReduceProd",
                 "Identity",
                 18,
                 /*integers=*/true,
                 /*empty=*/true,
                 {"reduce_prod([[1 2] [3 4]], axes=[0]) = [3 8]",
                  "reduce_prod([2 3 -4]:i64, axes=[0]) = -24:i64"}},
                [](const auto& c, const auto& extents, auto x) {
                  return c.Prod(extents, x);
                });
}

OpDef SumSquareOp() {
  return Reduce({"reduce_sum_square",
                 "ReduceSumSquare",
                 "Mul",
                 18,
                 /*integers=*/true,
                 /*empty=*/true,
                 {"reduce_sum_square([[1 2] [3 4]], axes=[1]) = [5 25]",
                  "reduce_sum_square([-3], axes=[]) = [9]"}},
                [](const auto& c, const auto& extents, auto x) {
                  return c.Dot(extents, x, x);
                });
}

OpDef L1Op() {
  return Reduce({"reduce_l1",
                 "ReduceL1",
                 "Abs",
                 18,
                 /*integers=*/true,
                 /*empty=*/true,
                 {"reduce_l1([[1 -2] [-3 4]], axes=[1]) = [3 7]",
                  "reduce_l1([-3 3], axes=[]) = [3 3]"}},
                [](const auto& c, const auto& extents, auto x) {
                  return c.Sum(extents,
                               [&](const auto& k) { return Abs(x(k)); });
                });
}

OpDef L2Op() {
  return Reduce({"reduce_l2",
                 "ReduceL2",
                 "Abs",
                 18,
                 /*integers=*/false,
                 /*empty=*/true,
                 {"reduce_l2([[3 -4] [5 12]], axes=[1]) = [5 13]",
                  "reduce_l2([-3], axes=[]) = [3]"}},
                [](const auto& c, const auto& extents, auto x) {
                  return Sqrt(c.Dot(extents, x, x));
                });
}

OpDef LogSumOp() {
  return Reduce({"reduce_log_sum",
                 "ReduceLogSum",
                 "Log",
                 18,
                 /*integers=*/false,
                 /*empty=*/true,
                 {"reduce_log_sum([[0.25 0.75] [1 1]], axes=[1]) = "
                  "[0 0.69314718]"}},
                [](const auto& c, const auto& extents, auto x) {
                  return Log(c.Sum(extents, x));
                });
}

// log(sum(exp(x))); numbers take their largest out first, so that exp does
// not overflow.
OpDef LogSumExpOp() {
  return Reduce(
      {"reduce_log_sum_exp",
       "ReduceLogSumExp",
       "Identity",
       18,
       /*integers=*/false,
       /*empty=*/false,
       {"reduce_log_sum_exp([[0 0] [1 1]], axes=[1]) = "
        "[0.69314718 1.69314718]",
        "reduce_log_sum_exp([1000 1000], axes=[0]) = 1000.69314718"}},
      [](const auto& c, const auto& extents, auto x) {
        using T = typename std::decay_t<decltype(c)>::Value;
        if constexpr (kExact<T>) {
          return Log(c.Sum(extents, [&](const auto& k) { return Exp(x(k)); }));
        } else {
          const T most = c.MaxOver(extents, x);
          if (!std::isfinite(most)) return most;
          return most + Log(c.Sum(extents, [&](const auto& k) {
                   return Exp(x(k) - most);
                 }));
        }
      });
}

}  // namespace

std::vector<OpDef> DefineReduce() {
  return {SumOp(),       MeanOp(), MaxOp(), MinOp(),    ProdOp(),
          SumSquareOp(), L1Op(),   L2Op(),  LogSumOp(), LogSumExpOp()};
}

}  // namespace isomer
