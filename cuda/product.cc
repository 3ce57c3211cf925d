// Offsets of operands are polynomials in the indices of the product; where one
// index stands alone with coefficient 1, the operand is contiguous along it.
#include "cuda/product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cuda/product_index.h"
#include "graph/match.h"
#include "graph/move_bytes.h"
#include "ops/dtype.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Elements that a 16-byte access holds.
constexpr int64_t kChunk = 8;

// True if every coefficient but that of `symbol` is a multiple of a chunk, and
// `symbol` stands alone with coefficient 1.
bool IsContiguous(const DimExpr& offset, const std::string& symbol) {
  const Polynomial& p = offset.polynomial();
  if (p.constant_term().num() % kChunk != 0) return false;
  bool found = false;
  for (const Monomial& m : p.monomials()) {
    const bool alone = m.factors.size() == 1 && m.factors[0].power == 1 &&
                       m.factors[0].atom.is_symbol() &&
                       m.factors[0].atom.name() == symbol;
    if (alone) {
      if (!m.coefficient.IsOne()) return false;
      found = true;
      continue;
    }
    if (!m.coefficient.IsInteger() || m.coefficient.num() % kChunk != 0) {
      return false;
    }
    for (const Factor& f : m.factors) {
      if (Polynomial(f.atom).Symbols().count(symbol)) return false;
    }
  }
  return found;
}

constexpr int64_t kMaxBatches = 4096;  // that are compared

// The largest power of two g so that batches zb and zb - zb % g have the same
// offset.
int64_t SharedBatches(const DimExpr& offset, int64_t batch) {
  auto at = [&](int64_t zb) {
    return offset.Substitute({{"zb", DimExpr(zb)}});
  };
  int64_t shared = 1;
  if (batch > kMaxBatches) return shared;
  while (batch % (2 * shared) == 0 && at(shared) == at(0)) shared *= 2;
  for (int64_t zb = 0; zb < batch && shared > 1; ++zb) {
    if (!(at(zb) == at(zb - zb % shared))) shared = 1;
  }
  return shared;
}

// How an operand, or one part of what is put together to it, lies.
absl::StatusOr<OperandRun> RunOf(const ProductCall& call, const Product& p,
                                 int operand, int part, DimExpr* past) {
  ElementCode code = NewCode(call);
  const Indices i = NewIndices(code, p);
  OperandRun run;
  ASSIGN_OR_RETURN(const auto source,
                   code.SourceOf(CoreOf(call).inputs[operand],
                                 FactorIndex(call, p, operand, i), part));
  const Operand* o = source ? Find(call, source->value) : nullptr;
  if (o == nullptr || o->place.dtype != p.dtype) return run;
  const DimExpr offset = code.Offset(o->place, source->index);
  *past = source->past;
  run.pointer = o->place.pointer;
  const std::string outer = operand == 0 ? "mm" : "nn";
  if (const auto steps = Affine(offset, {"zb", outer, "kk"})) {
    run.steps = {(*steps)[0], (*steps)[1], (*steps)[2], (*steps)[3]};
  }
  run.shared = SharedBatches(offset, p.batch);
  auto without = [&](const std::string& symbol) {
    return code.Text(
        Tidy(offset.Substitute({{symbol, DimExpr(0)}}), code.intervals()));
  };
  if (IsContiguous(offset, "kk")) {
    run.run = Run::kInner;
    run.offset = without("kk");
  } else if (IsContiguous(offset, outer)) {
    run.run = Run::kOuter;
    run.offset = without(outer);
  }
  return run;
}

absl::StatusOr<OperandRun> FactorRun(const ProductCall& call, const Product& p,
                                     int operand) {
  DimExpr past;
  ASSIGN_OR_RETURN(OperandRun whole,
                   RunOf(call, p, operand, ElementCode::kWhole, &past));
  if (whole.run != Run::kNone || operand == 0 || !call.two_places) return whole;
  ASSIGN_OR_RETURN(OperandRun first, RunOf(call, p, operand, 0, &past));
  ASSIGN_OR_RETURN(const OperandRun rest, RunOf(call, p, operand, 1, &past));
  ASSIGN_OR_RETURN(const OperandRun more, RunOf(call, p, operand, 2, &past));
  // What is contiguous lies in one place.
  const bool inner = first.run == Run::kInner;
  const auto steps = Affine(past, {"zb", "nn", "kk"});
  if (first.run == Run::kNone || rest.run != first.run ||
      more.run != Run::kNone || !steps || (*steps)[inner ? 2 : 1] != 0) {
    return whole;
  }
  first.steps = std::nullopt;
  first.shared = std::min(first.shared, rest.shared);
  ElementCode code = NewCode(call);
  NewIndices(code, p);
  first.if_rest = absl::StrCat(code.Text(past), " >= 0");
  first.rest_pointer = rest.pointer;
  first.rest_offset = rest.offset;
  return first;
}

// Channels that lie side by side, in the image and in the filters.
void AnalyzeDepthwise(const std::vector<int64_t>& image,
                      const std::vector<int64_t>& filter,
                      const std::vector<int64_t>& x, Product& p) {
  const int space = static_cast<int>(x.size()) - 2;
  WindowRun& g = p.window;
  bool fits = x[1] % kChunk == 0 && image[1] == 1 && filter[0] == 1 &&
              image[0] % kChunk == 0;
  for (int j = 0; j < space; ++j) {
    const int s = j + 2 - space;
    g.step[s] = image[j + 2];
    g.filter_step[s] = filter[j + 2];
    fits = fits && image[j + 2] % kChunk == 0 && filter[j + 2] % kChunk == 0;
  }
  g.step_n = image[0];
  g.offset = image.back();
  g.filter_offset = filter.back();
  fits = fits && g.offset % kChunk == 0 && g.filter_offset % kChunk == 0;
  if (!fits || ByteSize(p.dtype) != 2) return;
  p.depthwise = true;
  p.batch = 1;
  p.n = x[1];
}

absl::Status AnalyzeWindow(const ProductCall& call, Product& p) {
  const ir::Node& core = CoreOf(call);
  const std::vector<int64_t> x = ShapeOf(call, core.inputs[0]);
  const std::vector<int64_t> w = ShapeOf(call, core.inputs[1]);
  const std::vector<int64_t> out = ShapeOf(call, call.core);
  const int space = static_cast<int>(x.size()) - 2;
  p.batch = core.attrs->Int("group");
  p.n = w[0] / p.batch;
  p.k = NumElements(w) / w[0];
  p.m = NumElements(out) / out[1];
  p.window.channels = w[1];
  if (space > 2) return absl::OkStatus();
  WindowRun& g = p.window;
  for (int j = 0; j < space; ++j) {
    const int s = j + 2 - space;
    g.in[s] = x[j + 2];
    g.out[s] = out[j + 2];
    g.kernel[s] = w[j + 2];
    g.stride[s] = core.attrs->Ints("stride")[j];
    g.pad[s] = core.attrs->Ints("pad")[j];
    g.dilation[s] = core.attrs->Ints("dilation")[j];
  }
  ASSIGN_OR_RETURN(const auto image, ImageSteps(call, 0, &p.a.pointer));
  if (image && (*image)[1] == 1 && w[1] % kChunk == 0) {
    g.step_n = (*image)[0];
    g.step_group = w[1];
    for (int j = 0; j < space; ++j) g.step[j + 2 - space] = (*image)[j + 2];
    g.offset = image->back();
    bool aligned =
        g.offset % kChunk == 0 && (x[0] == 1 || g.step_n % kChunk == 0);
    for (int s = 0; s < 2; ++s) {
      aligned = aligned && (g.in[s] == 1 || g.step[s] % kChunk == 0);
    }
    if (aligned) p.a.run = Run::kWindow;
  }
  ASSIGN_OR_RETURN(const auto filter, ImageSteps(call, 1, &p.b.pointer));
  if (filter && image && w[1] == 1 && w[0] == p.batch) {
    AnalyzeDepthwise(*image, *filter, x, p);
    return absl::OkStatus();
  }
  if (!filter || p.k % kChunk != 0) return absl::OkStatus();
  // Filters must lie one after the other, taps and then channels.
  int64_t step = w[1];
  bool dense = (*filter)[1] == 1 || w[1] == 1;
  for (int j = space; j-- > 0;) {
    dense = dense && (w[j + 2] == 1 || (*filter)[j + 2] == step);
    step *= w[j + 2];
  }
  dense = dense && (w[0] == 1 || (*filter)[0] == step);
  if (dense && filter->back() % kChunk == 0) {
    p.b.run = Run::kInner;
    g.filter_offset = filter->back();
    p.b.offset = absl::StrCat("((zb * ", p.n, " + nn) * ", p.k, " + ",
                              filter->back(), ")");
  }
  return absl::OkStatus();
}

// An element of the output: where it is, and the C expression of its value.
struct Result {
  std::vector<DimExpr> index;
  std::string value;
};

// What element `index` of the core, which is `acc`, becomes along the path.
absl::StatusOr<Result> ResultAt(const ProductCall& call, ElementCode& code,
                                const std::vector<NodeId>& path,
                                std::vector<DimExpr> core,
                                const std::string& acc) {
  std::map<NodeId, std::vector<DimExpr>> index;
  for (DimExpr& e : core) e = Tidy(e, code.intervals());
  code.BindElement(call.core, core, acc);
  index[call.core.node] = std::move(core);
  NodeId last = call.core.node;
  for (NodeId id : path) {
    NodeId from;
    for (Value in : call.graph->node(id).inputs) {
      if (index.count(in.node)) from = in.node;
    }
    ASSIGN_OR_RETURN(index[id],
                     Forward(*call.graph, id, index[from], code.intervals()));
    const ir::Node& node = call.graph->node(id);
    if (node.Is("transpose") || node.Is("reshape")) {
      ASSIGN_OR_RETURN(const std::string x, code.At({from, 0}, index[from]));
      code.BindElement({id, 0}, index[id], x);
    }
    last = id;
  }
  ASSIGN_OR_RETURN(std::string value, code.At({last, 0}, index[last]));
  return Result{index[last], std::move(value)};
}

// The elements of one output that a thread makes.
struct Stored {
  Place place;
  std::vector<std::string> values = {};
  std::vector<DimExpr> offsets = {};
};

// One pack has the elements of all outputs, one output after the other.
Epilogue NewEpilogue(const std::vector<Stored>& all, ElementCode& code) {
  Epilogue out;
  std::vector<std::string> values;
  for (const Stored& s : all) {
    values.insert(values.end(), s.values.begin(), s.values.end());
  }
  out.type = PackType(all[0].place, values.size());
  out.reads = code.Reads();
  out.compute = absl::StrCat(code.Close(), PackElements(all[0].place, values));
  PackPart part{0, static_cast<int>(values.size())};
  for (const Stored& s : all) {
    out.store += StorePack(s.place, s.offsets, code, part);
    part.from += static_cast<int>(s.values.size());
  }
  return out;
}

// The epilogue of elements j * count + u of all parts of row mm, whose columns
// lie side by side.
absl::StatusOr<Epilogue> PartsEpilogue(const ProductCall& call,
                                       const Product& p, int count,
                                       const std::string& read_if) {
  ElementCode code = NewCode(call);
  code.SetVector(count);
  const DimExpr b = code.NewIndex("zb", p.batch), m = code.NewIndex("mm", p.m);
  const int64_t size = p.n / p.parts;
  const DimExpr j = code.NewIndex("j", size / count);
  code.ReadAhead(read_if);
  for (int u = 0; u < count; ++u) {
    const DimExpr element = j * DimExpr(count) + DimExpr(u);
    for (int i = 0; i < p.parts; ++i) {
      code.BindElement(call.core,
                       OutputIndex(call, p, b, m, element + DimExpr(i * size)),
                       absl::StrCat("acc[", u * p.parts + i, "]"));
    }
  }
  std::vector<Stored> all;
  for (const Operand& output : call.outputs) {
    Stored& stored = all.emplace_back(Stored{output.place});
    for (int u = 0; u < count; ++u) {
      // An output has the core's dimensions but the last.
      const std::vector<DimExpr> index =
          OutputIndex(call, p, b, m, j * DimExpr(count) + DimExpr(u));
      ASSIGN_OR_RETURN(std::string value, code.At(output.value, index));
      stored.values.push_back(std::move(value));
      stored.offsets.push_back(code.Offset(output.place, index));
    }
  }
  return NewEpilogue(all, code);
}

// The operand that lies there, or null.
const Operand* At(const ProductCall& call, const OperandRun& run) {
  const auto it = absl::c_find_if(call.inputs, [&](const Operand& o) {
    return o.place.pointer == run.pointer;
  });
  return it == call.inputs.end() ? nullptr : &*it;
}

std::optional<double> UnroundedNumber(const ir::Graph& graph, Value v) {
  if (const auto splat = ir::SplatOf(graph, v)) return splat;
  const ir::Node& node = graph.node(v.node);
  if (node.op == nullptr) return std::nullopt;
  if (node.Is("broadcast") || node.Is("reshape")) {
    return UnroundedNumber(graph, node.inputs[0]);
  }
  if (!node.Is("mul")) return std::nullopt;
  const auto a = UnroundedNumber(graph, node.inputs[0]);
  const auto b = UnroundedNumber(graph, node.inputs[1]);
  return a && b ? std::optional<double>(*a * *b) : std::nullopt;
}

}  // namespace

absl::StatusOr<Product> Analyze(const ProductCall& call) {
  const ir::Node& core = CoreOf(call);
  Product p;
  p.dtype = call.graph->type(call.core).dtype;
  p.parts = call.parts;
  p.convolution = core.Is("conv2d");
  if (p.convolution) {
    RETURN_IF_ERROR(AnalyzeWindow(call, p));
    return p;
  }
  const std::vector<int64_t> y = ShapeOf(call, core.inputs[1]);
  const std::vector<int64_t> out = ShapeOf(call, call.core);
  p.n = out.back();
  p.k = y[y.size() - 2];
  p.m = y.size() > 2 ? out[out.size() - 2] : NumElements(out) / p.n;
  p.batch = NumElements(out) / (p.m * p.n);
  ASSIGN_OR_RETURN(p.a, FactorRun(call, p, 0));
  ASSIGN_OR_RETURN(p.b, FactorRun(call, p, 1));
  return p;
}

std::optional<LibraryProduct> AsLibraryProduct(const Product& p) {
  LibraryProduct out;
  out.dtype = p.dtype;
  out.batch = p.batch;
  out.m = p.m;
  out.n = p.n;
  out.k = p.k;
  if (p.dtype != DType::kF16 && p.dtype != DType::kBF16 &&
      p.dtype != DType::kF32) {
    return std::nullopt;
  }
  if (p.convolution) {
    // One tap: the image's places are rows, its channels lie side by side.
    const WindowRun& g = p.window;
    bool plain = p.a.run == Run::kWindow && p.b.run == Run::kInner &&
                 p.batch == 1 && g.kernel[0] * g.kernel[1] == 1;
    for (int s = 0; s < 2; ++s) {
      plain = plain && g.stride[s] == 1 && g.pad[s] == 0 && g.in[s] == g.out[s];
    }
    const int64_t row = g.in[1] > 1 ? g.step[1] : g.step[0];
    const int64_t places = g.in[0] * g.in[1];
    plain = plain && (g.in[0] == 1 || g.step[0] == row * g.in[1]) &&
            (p.m == places || g.step_n == row * places);
    if (!plain) return std::nullopt;
    out.a_step = std::max(row, p.k);
    out.a_offset = g.offset;
    out.b_inner = true;
    out.b_step = p.k;
    out.b_offset = g.filter_offset;
    return out;
  }
  if (!p.a.steps || !p.b.steps) return std::nullopt;
  const auto &a = *p.a.steps, &b = *p.b.steps;
  out.a_inner = a[2] == 1;
  out.b_inner = b[2] == 1 && b[1] != 1;
  if ((!out.a_inner && a[1] != 1) || (!out.b_inner && b[1] != 1)) {
    return std::nullopt;
  }
  out.a_step = std::max(out.a_inner ? a[1] : a[2], out.a_inner ? p.k : p.m);
  out.b_step = std::max(out.b_inner ? b[1] : b[2], out.b_inner ? p.k : p.n);
  if ((out.a_inner ? p.m : p.k) > 1 &&
      out.a_step != (out.a_inner ? a[1] : a[2]))
    return std::nullopt;
  if ((out.b_inner ? p.n : p.k) > 1 &&
      out.b_step != (out.b_inner ? b[1] : b[2]))
    return std::nullopt;
  out.a_batch = a[0];
  out.b_batch = b[0];
  out.a_offset = a[3];
  out.b_offset = b[3];
  const int64_t chunk = 16 / ByteSize(p.dtype);
  for (int64_t x : {out.a_step, out.b_step, out.a_batch, out.b_batch,
                    out.a_offset, out.b_offset}) {
    if (x % chunk != 0) return std::nullopt;
  }
  return out;
}

std::optional<double> NumberOf(const ir::Graph& graph, Value v) {
  const std::optional<double> number = UnroundedNumber(graph, v);
  if (!number) return std::nullopt;
  return RoundTo(graph.type(v).dtype, *number);
}

std::optional<double> NumberOf(const ProductCall& call, Value v) {
  const Operand* operand = Find(call, v);
  return operand != nullptr ? operand->number : NumberOf(*call.graph, v);
}

absl::StatusOr<std::optional<LibraryProduct>> WithEpilogue(
    const ProductCall& call, const Product& p, LibraryProduct library) {
  using Function = LibraryProduct::Function;
  ElementCode code = NewCode(call);
  const Indices i = NewIndices(code, p);
  // Where the element at the product's indices lies, if rows are contiguous.
  auto matrix = [&](const Place& place, const std::vector<DimExpr>& index,
                    LibraryMatrix& to) {
    const auto steps = Affine(code.Offset(place, index), {"zb", "mm", "nn"});
    if (!steps || (*steps)[2] != 1 || place.dtype != p.dtype) return false;
    to = {place.pointer, (*steps)[1], (*steps)[0], steps->back()};
    if (p.m == 1) to.step = p.n;
    const int64_t chunk = 16 / ByteSize(p.dtype);
    return to.step % chunk == 0 && to.batch % chunk == 0 &&
           to.offset % chunk == 0;
  };
  std::map<NodeId, std::vector<DimExpr>> index;
  index[call.core.node] = OutputIndex(call, p, i.b, i.m, i.n);
  NodeId last = call.core.node;
  for (NodeId id : Path(call)) {
    const ir::Node& node = call.graph->node(id);
    const NodeId from = last;
    int uses = 0;
    for (Value in : node.inputs) uses += in.node == from;
    if (uses != 1) return std::nullopt;
    ASSIGN_OR_RETURN(index[id],
                     Forward(*call.graph, id, index[from], code.intervals()));
    last = id;
    if (node.Is("reshape") || node.Is("transpose")) continue;
    if (library.function != Function::kNone) return std::nullopt;
    // The library's gelu of single precision is rounded.
    if (node.Is("relu") || (node.Is("gelu_tanh") && p.dtype != DType::kF32)) {
      library.function =
          node.Is("relu") ? Function::kRelu : Function::kGeluTanh;
      continue;
    }
    if (node.inputs.size() != 2) return std::nullopt;
    const Value other = node.inputs[node.inputs[0].node == from ? 1 : 0];
    if (node.Is("mul")) {
      library.scale *= NumberOf(call, other).value_or(0);
      const auto scale = static_cast<float>(library.scale);
      // A library does not multiply what it adds, nor anything by 0.
      if (!library.added.pointer.empty() || !library.bias.pointer.empty() ||
          scale == 0 || !std::isfinite(scale)) {
        return std::nullopt;
      }
      continue;
    }
    if (!node.Is("add")) return std::nullopt;
    if (index.count(other.node)) return std::nullopt;
    ASSIGN_OR_RETURN(const auto source, code.SourceOf(other, index[id]));
    const Operand* o = source ? Find(call, source->value) : nullptr;
    LibraryMatrix found;
    if (o == nullptr || !matrix(o->place, source->index, found)) {
      return std::nullopt;
    }
    const bool row = (found.step == 0 || p.m == 1) && found.batch == 0;
    LibraryMatrix& to =
        row && library.bias.pointer.empty() ? library.bias : library.added;
    if (!to.pointer.empty() || (&to == &library.added && found.step < p.n)) {
      return std::nullopt;
    }
    to = found;
  }
  if (!matrix(call.outputs[0].place, index[last], library.out) ||
      library.out.step < p.n) {
    return std::nullopt;
  }
  return library;
}

std::string AddressText(const OperandRun& run) {
  if (run.if_rest.empty()) {
    return absl::StrCat(run.pointer, " + (there > 0 ? ", run.offset,
                        " + at : 0)");
  }
  return absl::StrCat("(there > 0 && ", run.if_rest, " ? ", run.rest_pointer,
                      " + (", run.rest_offset, " + at) : ", run.pointer,
                      " + (there > 0 ? ", run.offset, " + at : 0))");
}

Ready ReadyOf(const ProductCall& call, const Product& p) {
  const Operand *a = At(call, p.a), *b = At(call, p.b);
  return {a != nullptr && a->there, b != nullptr && b->there};
}

bool HasColdB(const ProductCall& call, const Product& p) {
  const Operand* b = At(call, p.b);
  return b != nullptr && b->cold;
}

double KeptOfB(const ProductCall& call, const Product& p) {
  const Operand* b = At(call, p.b);
  return b == nullptr ? 0 : b->kept;
}

SharedBytes InPlainOrder(const SharedBytes& b, const Product& p) {
  const int64_t size = p.n / p.parts;
  return ir::WithSteps(b, {p.dtype, {p.k, size, p.parts}}, {p.n, 1, size});
}

KernelSource KernelOfThreads(const ProductCall& call, absl::string_view body,
                             int64_t count, int block, int blocks) {
  KernelSource out;
  out.text = KernelText({.inputs = call.inputs,
                         .outputs = call.outputs,
                         .threads = block,
                         .blocks = blocks},
                        body);
  out.grid[0] = static_cast<int>(CeilDiv(count, int64_t{block}));
  out.block = block;
  return out;
}

absl::StatusOr<Epilogue> EpilogueOf(const ProductCall& call, const Product& p,
                                    int width, const std::string& read_if) {
  if (p.parts > 1) return PartsEpilogue(call, p, width / p.parts, read_if);
  ElementCode code = NewCode(call);
  code.SetVector(width);
  const DimExpr b = code.NewIndex("zb", p.batch), m = code.NewIndex("mm", p.m);
  const DimExpr j = code.NewIndex("j", p.n / width);
  code.ReadAhead(read_if);
  const std::vector<NodeId> path = Path(call);
  Stored stored{call.outputs[0].place};
  for (int u = 0; u < width; ++u) {
    const DimExpr n = j * DimExpr(width) + DimExpr(u);
    ASSIGN_OR_RETURN(const Result result,
                     ResultAt(call, code, path, OutputIndex(call, p, b, m, n),
                              absl::StrCat("acc[", u, "]")));
    stored.values.push_back(result.value);
    stored.offsets.push_back(code.Offset(stored.place, result.index));
  }
  return NewEpilogue({stored}, code);
}

absl::StatusOr<std::string> EpilogueText(const ProductCall& call,
                                         const Product& p, int width) {
  ASSIGN_OR_RETURN(const Epilogue e, EpilogueOf(call, p, width));
  return absl::StrCat(e.type, " pack;\n", e.compute, e.store);
}

absl::StatusOr<std::optional<ElementText>> ResultText(const ProductCall& call,
                                                      const Product& p) {
  ElementCode code = NewCode(call);
  const Indices i = NewIndices(code, p);
  ASSIGN_OR_RETURN(const Result result,
                   ResultAt(call, code, Path(call),
                            OutputIndex(call, p, i.b, i.m, i.n), "acc[0]"));
  const auto steps = Affine(code.Offset(call.outputs[0].place, result.index),
                            {"zb", "mm", "nn"});
  auto is = [](int64_t step, int64_t want, int64_t extent) {
    return step == want || extent == 1;
  };
  if (!steps || steps->back() != 0 || !is((*steps)[0], p.m * p.n, p.batch) ||
      !is((*steps)[1], p.n, p.m) || !is((*steps)[2], 1, p.n)) {
    return std::nullopt;
  }
  return ElementText{code.Close(), result.value};
}

absl::StatusOr<ElementText> OperandText(const ProductCall& call,
                                        const Product& p, int operand) {
  ElementCode code = NewCode(call);
  const Indices i = NewIndices(code, p);
  const ir::Node& core = CoreOf(call);
  std::vector<DimExpr> index;
  std::string inside;
  if (!p.convolution) {
    index = FactorIndex(call, p, operand, i);
  } else {
    const std::vector<int64_t> x = ShapeOf(call, core.inputs[0]);
    const std::vector<int64_t> w = ShapeOf(call, core.inputs[1]);
    std::vector<int64_t> taps(w.begin() + 2, w.end());
    taps.push_back(w[1]);
    const std::vector<DimExpr> tap = TakeApart(i.k, taps);
    if (operand == 1) {
      index = {i.b * DimExpr(p.n) + i.n, tap.back()};
      index.insert(index.end(), tap.begin(), tap.end() - 1);
    } else {
      const std::vector<DimExpr> place =
          TakeApart(i.m, Places(ShapeOf(call, call.core)));
      index = {place[0], i.b * DimExpr(w[1]) + tap.back()};
      for (size_t s = 0; s + 2 < x.size(); ++s) {
        const DimExpr at =
            Tidy(place[s + 1] * DimExpr(core.attrs->Ints("stride")[s]) +
                     tap[s] * DimExpr(core.attrs->Ints("dilation")[s]) -
                     DimExpr(core.attrs->Ints("pad")[s]),
                 code.intervals());
        index.push_back(at);
        const auto range = IntervalOf(at, code.intervals());
        if (range && range->low >= 0 && range->high < x[s + 2]) continue;
        absl::StrAppend(&inside, inside.empty() ? "" : " && ", "(unsigned)",
                        code.Text(at), " < ", x[s + 2], "u");
      }
    }
  }
  ASSIGN_OR_RETURN(const std::string value,
                   code.At(core.inputs[operand], index));
  ElementText text{code.Close(), value};
  if (!inside.empty()) {
    const std::string type(ComputeType(p.dtype));
    text.statements =
        absl::StrCat(type, " padded = 0;\nif (", inside, ") {\n",
                     text.statements, "padded = ", value, ";\n}\n");
    text.value = "padded";
  }
  return text;
}

}  // namespace isomer::cuda
