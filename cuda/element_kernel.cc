// The shape of the kernel is found by writing the expression once on trial: the
// sums in it say which dimensions are rows.
#include "cuda/element_kernel.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// A sum of this length or more is worth several threads; one that many
// elements share is, from the lower length on.
constexpr int64_t kLongSum = 32, kSharedSum = 4;
// Above this many sums threads are busy enough without sharing.
constexpr int64_t kManySums = 65536;

// What a dimension of the results runs along, or a part of one: an index is the
// sum of its axes times their steps.
struct Axis {
  std::string name;
  int dim = 0;
  int64_t extent = 1, step = 1;
};
using Axes = std::vector<Axis>;  // outermost in memory first

struct Shape {
  Axes rows, inner;
  bool shared = false;  // rows share sums
  int64_t longest = 1;  // of the sums
  int vector = 1;       // elements a thread computes side by side
};

int64_t SizeOf(const Axes& axes) {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.extent;
  return n;
}

std::set<std::string> SymbolsOf(const std::vector<DimExpr>& index) {
  std::set<std::string> symbols;
  for (const DimExpr& e : index) symbols.merge(e.Symbols());
  return symbols;
}

class Writer {
 public:
  Writer(const ir::Graph& graph, const std::vector<Operand>& inputs,
         const std::vector<Operand>& outputs, int lanes)
      : graph_(graph), inputs_(inputs), outputs_(outputs), lanes_(lanes) {
    size_ = graph.type(outputs[0].value).shape;
  }

  absl::StatusOr<KernelSource> Write() {
    RETURN_IF_ERROR(FindShape(kManySums));
    ChooseVector();
    return shape_.shared ? WriteRows() : WriteElements();
  }

  absl::StatusOr<std::optional<KernelSource>> WriteColumns() {
    RETURN_IF_ERROR(FindShape(INT64_MAX));
    if (!shape_.shared || shape_.rows.empty() || SizeOf(shape_.inner) != 1) {
      return std::nullopt;
    }
    shape_.vector = Together(shape_.rows.back(), MostTogether());
    if (shape_.vector == 1) return std::nullopt;
    ElementCode code = NewCode();
    code.ShareSums("lane", lanes_);
    code.SetVector(shape_.vector);
    if (!code.SetRow({.pieces = shape_.longest,
                      .take_apart = "const int r = piece;\n",
                      .indices = {{"r", shape_.longest}},
                      .first = DimExpr::Symbol("r"),
                      .bytes = shape_.vector * BytesRead()})) {
      return std::nullopt;
    }
    const std::string wait = WaitText(inputs_, code);
    index_.assign(size_.size(), 0);
    Declare(code, shape_.rows, true);
    code.ReadAhead("true");
    code.Open();
    ASSIGN_OR_RETURN(const std::string stores, Body(code));
    const std::string inner = code.Close();
    if (!code.HasPieces()) return std::nullopt;
    KernelSource out;
    out.lanes = lanes_;
    out.block = lanes_ > 32 ? lanes_ : 128;
    const int64_t threads = SizeOf(shape_.rows) / shape_.vector * lanes_;
    out.grid[0] = static_cast<int>(CeilDiv(threads, int64_t{out.block}));
    // Threads past the end help with sums that are stored by others.
    out.text =
        Text(lanes_, out.block,
             absl::StrCat("const int linear = blockIdx.x * ", out.block,
                          " + threadIdx.x, lane = threadIdx.x % ", lanes_,
                          ";\n", wait, "const int row = (linear < ", threads,
                          " ? linear : ", threads - 1, ") / ", lanes_, ";\n",
                          TakeApart("row", shape_.rows, true), code.Reads(),
                          code.Close(), "if (lane == 0 && linear < ", threads,
                          ") {\n", inner, stores, "}\n"));
    return out;
  }

 private:
  static std::string Name(size_t d) { return absl::StrCat("i", d); }

  ElementCode NewCode() const {
    ElementCode code(graph_);
    for (const Operand& o : inputs_) code.Bind(o.value, o.place);
    return code;
  }

  // By their steps in the memory of the first output.
  Axes InMemoryOrder(Axes axes) const {
    const std::vector<int64_t>& stride = outputs_[0].place.stride;
    const auto step = [&](const Axis& a) {
      return size_[a.dim] == 1 ? INT64_MAX : stride[a.dim] * a.step;
    };
    absl::c_stable_sort(
        axes, [&](const Axis& a, const Axis& b) { return step(a) > step(b); });
    return axes;
  }

  // How many neighbours along the dimension always have the same sums: what
  // depends on its index divided by so many depends on nothing else of it.
  int64_t SameAlong(size_t d,
                    const std::vector<std::vector<DimExpr>>& sums) const {
    for (int64_t n = size_[d] / 2; n > 1; --n) {
      if (size_[d] % n != 0) continue;
      const DimExpr index =
          DimExpr::Symbol("group") * DimExpr(n) + DimExpr::Symbol("inside");
      Intervals known = {{"group", {0, size_[d] / n - 1}},
                         {"inside", {0, n - 1}}};
      for (size_t i = 0; i < size_.size(); ++i) {
        known[Name(i)] = {0, size_[i] - 1};
      }
      const auto depends = [&](const DimExpr& e) {
        return Tidy(e.Substitute({{Name(d), index}}), known)
                   .Symbols()
                   .count("inside") > 0;
      };
      if (absl::c_none_of(sums, [&](const std::vector<DimExpr>& sum) {
            return absl::c_any_of(sum, depends);
          })) {
        return n;
      }
    }
    return 1;
  }

  absl::Status CheckSizes() const {
    for (const std::vector<Operand>* list : {&inputs_, &outputs_}) {
      for (const Operand& o : *list) {
        if (NumElements(graph_.type(o.value)) >= int64_t{1} << 31) {
          return Unsupported("a tensor of ", TypeText(graph_.type(o.value)),
                             " is too large for CUDA kernels");
        }
      }
    }
    return absl::OkStatus();
  }

  // From so many sums on, threads do not share them to be busy.
  absl::Status FindShape(int64_t many) {
    RETURN_IF_ERROR(CheckSizes());
    ElementCode code = NewCode();
    std::vector<DimExpr> index;
    for (size_t d = 0; d < size_.size(); ++d) {
      index.push_back(code.NewIndex(Name(d), std::max<int64_t>(size_[d], 1)));
    }
    for (const Operand& o : outputs_) {
      RETURN_IF_ERROR(code.At(o.value, index).status());
    }
    std::set<std::string> rows;
    std::vector<std::vector<DimExpr>> sums;  // that are shared
    const int64_t elements = NumElements(size_);
    for (const ElementCode::Sum& sum : code.sums()) {
      const std::set<std::string> symbols = SymbolsOf(sum.index);
      size_t known = 0;
      int64_t count = 1;
      for (size_t d = 0; d < size_.size(); ++d) {
        if (symbols.count(Name(d)) == 0) continue;
        count *= size_[d];
        known += 1;
      }
      // A sum inside another one is not shared.
      if (symbols.size() != known) continue;
      const bool repeated = count < elements && sum.length >= kSharedSum;
      const bool worth = sum.length >= kLongSum && count < many;
      if (!repeated && !worth && sum.length < 8 * kLongSum) continue;
      shape_.shared = true;
      shape_.longest = std::max(shape_.longest, sum.length);
      rows.insert(symbols.begin(), symbols.end());
      sums.push_back(sum.index);
    }
    inline_sums_ = !code.sums().empty() && !shape_.shared;
    for (size_t d = 0; d < size_.size(); ++d) {
      const int dim = static_cast<int>(d);
      if (!shape_.shared || rows.count(Name(d)) == 0) {
        shape_.inner.push_back({Name(d), dim, size_[d]});
        continue;
      }
      const int64_t same = SameAlong(d, sums);
      shape_.rows.push_back({Name(d), dim, size_[d] / same, same});
      if (same > 1) {
        shape_.inner.push_back({absl::StrCat("e", d), dim, same});
      }
    }
    shape_.rows = InMemoryOrder(std::move(shape_.rows));
    shape_.inner = InMemoryOrder(std::move(shape_.inner));
    return absl::OkStatus();
  }

  // The size of the largest elements that are read. What is the same everywhere
  // is read by itself.
  int BytesRead() const {
    int bytes = 1;
    for (const Operand& o : inputs_) {
      if (IsFloat(o.place.dtype) && !IsUniform(o.place)) {
        bytes = std::max(bytes, ByteSize(o.place.dtype));
      }
    }
    return bytes;
  }

  void ChooseVector() {
    // Sums of neighbours are loops of their own, which share no reading.
    if (shape_.inner.empty() || inline_sums_ || NumElements(size_) == 0) return;
    int width = MostTogether();
    const int64_t elements = NumElements(size_);
    while (width > 1 && !shape_.shared && elements / width < 8192) width /= 2;
    while (width > 1 && shape_.shared && SizeOf(shape_.inner) / width < 32) {
      width /= 2;
    }
    shape_.vector = Together(shape_.inner.back(), width);
  }

  // Elements that can be read and stored at once, by their size.
  int MostTogether() const {
    int width = 16 / BytesRead();
    for (const Operand& o : outputs_) {
      width = std::min(width, 16 / ByteSize(o.place.dtype));
    }
    return width;
  }

  // Of so many elements along the axis, how many can be stored at once.
  int Together(const Axis& last, int width) const {
    while (width > 1 && !FitsTogether(last, width)) width /= 2;
    return std::max(width, 1);
  }

  // Whether so many elements along the axis can be stored at once.
  bool FitsTogether(const Axis& last, int width) const {
    if (last.extent % width != 0 || last.step != 1) return false;
    for (const Operand& o : outputs_) {
      if (o.place.offset % width != 0) return false;
      if (o.place.stride[last.dim] != 1) return false;
      for (const Axes* axes : {&shape_.rows, &shape_.inner}) {
        for (const Axis& a : *axes) {
          if (size_[a.dim] == 1 || a.name == last.name) continue;
          if (o.place.stride[a.dim] * a.step % width != 0) return false;
        }
      }
    }
    return true;
  }

  // Statements that take `linear` apart into the indices of axes; the last one
  // counts in vectors.
  std::string TakeApart(const std::string& linear, const Axes& axes,
                        bool vectors) {
    std::string text;
    int64_t below = 1;
    for (size_t k = axes.size(); k-- > 0;) {
      const bool packed = vectors && k + 1 == axes.size();
      const int64_t n = axes[k].extent / (packed ? shape_.vector : 1);
      absl::StrAppend(&text, "const int ", packed ? "j" : axes[k].name, " = ",
                      "(int)((unsigned)", linear, " / ", below, "u",
                      k == 0 ? "" : absl::StrCat(" % ", n, "u"), ");\n");
      below *= n;
    }
    return text;
  }

  // Adds the axes to the index; the last one counts in vectors.
  void Declare(ElementCode& code, const Axes& axes, bool vectors) {
    for (size_t k = 0; k < axes.size(); ++k) {
      const Axis& a = axes[k];
      const bool packed = vectors && k + 1 == axes.size();
      if (packed) packed_ = a.dim;
      index_[a.dim] += packed
                           ? code.NewIndex("j", a.extent / shape_.vector) *
                                 DimExpr(shape_.vector)
                           : code.NewIndex(a.name, a.extent) * DimExpr(a.step);
    }
  }

  // The statements that compute and store all outputs at the current index.
  absl::StatusOr<std::string> Body(ElementCode& code) {
    const int n = shape_.vector;
    std::string stores;
    for (const Operand& o : outputs_) {
      const std::string type(StorageType(o.place.dtype));
      const DimExpr at = code.Offset(o.place, index_);
      const std::string pack = absl::StrCat("out_", o.place.pointer);
      if (n > 1) {
        absl::StrAppend(&stores, "iso_pack<", type, ", ", n, "> ", pack, ";\n");
      }
      for (int u = 0; u < n; ++u) {
        std::vector<DimExpr> index = index_;
        if (packed_ >= 0) index[packed_] += DimExpr(u);
        ASSIGN_OR_RETURN(const std::string x, code.At(o.value, index));
        if (n > 1) {
          absl::StrAppend(&stores, pack, ".at[", u, "] = iso_store_as<", type,
                          ">(", x, ");\n");
        } else {
          absl::StrAppend(&stores, o.place.pointer, "[", code.Text(at),
                          "] = iso_store_as<", type, ">(", x, ");\n");
        }
      }
      if (n > 1) {
        absl::StrAppend(&stores, "iso_store_pack<", type, ", ", n, ">(",
                        o.place.pointer, " + ", code.Text(at), ", ", pack,
                        ");\n");
      }
    }
    return stores;
  }

  std::string Text(int lanes, int block, const std::string& body) const {
    return KernelText({.inputs = inputs_,
                       .outputs = outputs_,
                       .threads = block,
                       .lanes = lanes},
                      body);
  }

  absl::StatusOr<KernelSource> WriteElements() {
    ElementCode code = NewCode();
    const int64_t count = NumElements(size_) / shape_.vector;
    code.SetVector(shape_.vector);
    index_.assign(size_.size(), 0);
    Declare(code, shape_.inner, shape_.vector > 1);
    ASSIGN_OR_RETURN(const std::string stores, Body(code));
    const int block = count >= 132 * 256 ? 256 : count >= 132 * 128 ? 128 : 64;
    const std::string body = absl::StrCat(
        "const int linear = blockIdx.x * ", block,
        " + threadIdx.x;\niso_wait();\nif (linear >= ", count, ") return;\n",
        TakeApart("linear", shape_.inner, shape_.vector > 1), code.Close(),
        stores);
    KernelSource out;
    out.text = Text(1, block, body);
    out.block = block;
    out.grid[0] = static_cast<int>(CeilDiv(count, int64_t{block}));
    return out;
  }

  int Lanes() const {
    const int64_t work =
        std::max(shape_.longest, SizeOf(shape_.inner) / shape_.vector);
    const int most = SizeOf(shape_.rows) < 132 ? 1024 : 512;
    int lanes = 32;
    while (lanes < most && work > int64_t{lanes} * 8) lanes *= 2;
    return lanes;
  }

  // The elements of a row of results, in pieces.
  ElementCode::Row RowOfPieces(bool vectors) {
    ElementCode::Row row;
    row.pieces = SizeOf(shape_.inner) / shape_.vector;
    row.width = shape_.vector;
    row.take_apart = TakeApart("piece", shape_.inner, vectors);
    row.bytes = shape_.vector * BytesRead();
    // Counted as indices count, whatever the order in memory.
    Axes order = shape_.inner;
    absl::c_sort(order,
                 [](const Axis& a, const Axis& b) { return a.dim > b.dim; });
    int64_t below = 1;
    for (const Axis& a : order) {
      const bool packed = vectors && a.name == shape_.inner.back().name;
      const int64_t step = packed ? shape_.vector : 1;
      const std::string name = packed ? "j" : a.name;
      row.first += DimExpr::Symbol(name) * DimExpr(step * below);
      row.indices.push_back({name, a.extent / step});
      if (packed) row.step = below;
      below *= a.extent;
    }
    return row;
  }

  absl::StatusOr<KernelSource> WriteRows() {
    const int lanes = lanes_ > 0 ? lanes_ : Lanes();
    const int64_t rows = SizeOf(shape_.rows);
    const int per_block = lanes > 32 ? 1 : rows >= 132 * 4 ? 4 : 1;
    ElementCode code = NewCode();
    code.ShareSums("lane", lanes);
    code.SetVector(shape_.inner.empty() ? 16 / BytesRead() : shape_.vector);
    const bool whole = !shape_.inner.empty();
    const bool packed = whole && shape_.vector > 1;
    const bool keeps = whole && code.SetRow(RowOfPieces(packed));
    const std::string wait = WaitText(inputs_, code);
    index_.assign(size_.size(), 0);
    Declare(code, shape_.rows, false);
    // What belongs to a whole row, before what sums wait for.
    code.ReadAhead("true");
    const std::vector<DimExpr> row_index = index_;
    std::string stores, inner;
    // On trial first where sums keep pieces: then what they keep is known.
    for (int written = 0; written < (keeps ? 2 : 1); ++written) {
      code.Open();
      index_ = row_index;
      Declare(code, shape_.inner, packed);
      ASSIGN_OR_RETURN(stores, Body(code));
      inner = code.Close();
    }
    std::string body = absl::StrCat(
        "const int row = blockIdx.x * ", per_block, " + threadIdx.x / ", lanes,
        ", lane = threadIdx.x % ", lanes, ";\n", wait, "if (row >= ", rows,
        ") return;\n", TakeApart("row", shape_.rows, false), code.Reads(),
        code.Close());
    absl::StrAppend(
        &body,
        whole ? code.RowLoop(absl::StrCat(inner, stores))
              : absl::StrCat("if (lane == 0) {\n", inner, stores, "}"),
        "\n");
    KernelSource out;
    out.lanes = lanes;
    out.block = lanes * per_block;
    out.text = Text(lanes, out.block, body);
    out.grid[0] = static_cast<int>(CeilDiv(rows, int64_t{per_block}));
    return out;
  }

  const ir::Graph& graph_;
  const std::vector<Operand>& inputs_;
  const std::vector<Operand>& outputs_;
  const int lanes_;
  std::vector<int64_t> size_;
  Shape shape_;
  std::vector<DimExpr> index_;
  int packed_ = -1;
  bool inline_sums_ = false;
};

}  // namespace

absl::StatusOr<KernelSource> ElementKernel(const ir::Graph& graph,
                                           const std::vector<Operand>& inputs,
                                           const std::vector<Operand>& outputs,
                                           int lanes) {
  return Writer(graph, inputs, outputs, lanes).Write();
}

absl::StatusOr<std::optional<KernelSource>> ColumnsKernel(
    const ir::Graph& graph, const std::vector<Operand>& inputs,
    const std::vector<Operand>& outputs, int lanes) {
  return Writer(graph, inputs, outputs, lanes).WriteColumns();
}

}  // namespace isomer::cuda
