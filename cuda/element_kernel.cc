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

struct Shape {
  std::vector<int> rows, inner;  // dimensions, outermost in memory first
  bool shared = false;           // rows share sums
  int64_t longest = 1;           // of the sums
  int vector = 1;                // elements a thread computes side by side
};

int64_t SizeOf(const std::vector<int>& dims,
               const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int d : dims) n *= shape[d];
  return n;
}

class Writer {
 public:
  Writer(const ir::Graph& graph, const std::vector<Operand>& inputs,
         const std::vector<Operand>& outputs, int lanes)
      : graph_(graph), inputs_(inputs), outputs_(outputs), lanes_(lanes) {
    size_ = graph.type(outputs[0].value).shape;
  }

  absl::StatusOr<KernelSource> Write() {
    RETURN_IF_ERROR(FindShape());
    ChooseVector();
    return shape_.shared ? WriteRows() : WriteElements();
  }

 private:
  static std::string Name(int d) { return absl::StrCat("i", d); }

  ElementCode NewCode() const {
    ElementCode code(graph_);
    for (const Operand& o : inputs_) code.Bind(o.value, o.place);
    return code;
  }

  // Dimensions by their steps in the memory of the first output.
  std::vector<int> MemoryOrder() const {
    std::vector<int> order(size_.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
    const std::vector<int64_t>& stride = outputs_[0].place.stride;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return (size_[a] == 1 ? INT64_MAX : stride[a]) >
             (size_[b] == 1 ? INT64_MAX : stride[b]);
    });
    return order;
  }

  absl::Status FindShape() {
    ElementCode code = NewCode();
    std::vector<DimExpr> index;
    for (size_t d = 0; d < size_.size(); ++d) {
      index.push_back(code.NewIndex(Name(d), std::max<int64_t>(size_[d], 1)));
    }
    for (const Operand& o : outputs_) {
      RETURN_IF_ERROR(code.At(o.value, index).status());
    }
    std::set<std::string> rows;
    const int64_t elements = NumElements(size_);
    for (const ElementCode::Sum& sum : code.sums()) {
      int64_t count = 1, known = 0;
      for (size_t d = 0; d < size_.size(); ++d) {
        if (sum.symbols.count(Name(d)) == 0) continue;
        count *= size_[d];
        known += 1;
      }
      // A sum inside another one is not shared.
      if (static_cast<int64_t>(sum.symbols.size()) != known) continue;
      const bool repeated = count < elements && sum.length >= kSharedSum;
      const bool worth = sum.length >= kLongSum && count < kManySums;
      if (!repeated && !worth && sum.length < 8 * kLongSum) continue;
      shape_.shared = true;
      shape_.longest = std::max(shape_.longest, sum.length);
      rows.insert(sum.symbols.begin(), sum.symbols.end());
    }
    inline_sums_ = !code.sums().empty() && !shape_.shared;
    for (int d : MemoryOrder()) {
      (shape_.shared && rows.count(Name(d)) ? shape_.rows : shape_.inner)
          .push_back(d);
    }
    return absl::OkStatus();
  }

  // Elements of inputs that can be read at once. What is the same everywhere is
  // read by itself.
  int ReadTogether() const {
    int width = 16;
    for (const Operand& o : inputs_) {
      const bool varies =
          absl::c_any_of(o.place.stride, [](int64_t s) { return s != 0; });
      if (IsFloat(o.place.dtype) && varies) {
        width = std::min(width, 16 / ByteSize(o.place.dtype));
      }
    }
    return width;
  }

  void ChooseVector() {
    // Sums of neighbours are loops of their own, which share no reading.
    if (shape_.inner.empty() || inline_sums_ || NumElements(size_) == 0) return;
    const int last = shape_.inner.back();
    int width = 16;
    for (const Operand& o : outputs_) {
      width = std::min(width, 16 / ByteSize(o.place.dtype));
    }
    width = std::min(width, ReadTogether());
    const int64_t elements = NumElements(size_);
    while (width > 1 && !shape_.shared && elements / width < 8192) width /= 2;
    while (width > 1 && shape_.shared &&
           SizeOf(shape_.inner, size_) / width < 32) {
      width /= 2;
    }
    for (; width > 1; width /= 2) {
      bool fits = size_[last] % width == 0;
      for (const Operand& o : outputs_) {
        fits = fits && o.place.offset % width == 0;
        for (size_t d = 0; d < size_.size(); ++d) {
          if (size_[d] == 1) continue;
          fits = fits &&
                 (static_cast<int>(d) == last ? o.place.stride[d] == 1
                                              : o.place.stride[d] % width == 0);
        }
      }
      if (fits) break;
    }
    shape_.vector = std::max(width, 1);
  }

  // Statements that take `linear` apart into the indices of `dims`; the last
  // one counts in vectors.
  std::string TakeApart(const std::string& linear, const std::vector<int>& dims,
                        bool vectors) {
    std::string text;
    int64_t below = 1;
    for (size_t k = dims.size(); k-- > 0;) {
      const int d = dims[k];
      const bool packed = vectors && k + 1 == dims.size();
      const int64_t n = size_[d] / (packed ? shape_.vector : 1);
      absl::StrAppend(&text, "const int ", packed ? "j" : Name(d), " = ",
                      "(int)((unsigned)", linear, " / ", below, "u",
                      k == 0 ? "" : absl::StrCat(" % ", n, "u"), ");\n");
      below *= n;
    }
    return text;
  }

  void Declare(ElementCode& code, const std::vector<int>& dims, bool vectors) {
    index_.resize(size_.size());
    for (size_t k = 0; k < dims.size(); ++k) {
      const int d = dims[k];
      if (vectors && k + 1 == dims.size()) {
        packed_ = d;
        index_[d] = code.NewIndex("j", size_[d] / shape_.vector) *
                    DimExpr(shape_.vector);
      } else {
        index_[d] = code.NewIndex(Name(d), size_[d]);
      }
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
        std::max(shape_.longest, SizeOf(shape_.inner, size_) / shape_.vector);
    int lanes = 32;
    while (lanes < 512 && work > int64_t{lanes} * 8) lanes *= 2;
    return lanes;
  }

  absl::StatusOr<KernelSource> WriteRows() {
    const int lanes = lanes_ > 0 ? lanes_ : Lanes();
    const int64_t rows = SizeOf(shape_.rows, size_);
    const int per_block = lanes > 32 ? 1 : rows >= 132 * 4 ? 4 : 1;
    ElementCode code = NewCode();
    code.ShareSums("lane", lanes);
    code.SetVector(shape_.inner.empty() ? ReadTogether() : shape_.vector);
    const int64_t count = SizeOf(shape_.inner, size_) / shape_.vector;
    const bool keeps = shape_.inner.size() == 1 && shape_.vector > 1 &&
                       code.KeepPieces("j", count);
    Declare(code, shape_.rows, false);
    std::string stores, inner;
    // On trial first where sums keep pieces: then what they keep is known.
    for (int written = 0; written < (keeps ? 2 : 1); ++written) {
      code.Open();
      Declare(code, shape_.inner, shape_.vector > 1 && !shape_.inner.empty());
      ASSIGN_OR_RETURN(stores, Body(code));
      inner = code.Close();
    }
    std::string body = absl::StrCat(
        "const int row = blockIdx.x * ", per_block, " + threadIdx.x / ", lanes,
        ", lane = threadIdx.x % ", lanes, ";\niso_wait();\nif (row >= ", rows,
        ") return;\n", TakeApart("row", shape_.rows, false), code.Close());
    if (shape_.inner.empty()) {
      absl::StrAppend(&body, "if (lane == 0) {\n", inner, stores, "}\n");
    } else if (keeps) {
      absl::StrAppend(&body, code.PiecesLoop(absl::StrCat(inner, stores)),
                      "\n");
    } else {
      absl::StrAppend(&body, "for (int k = lane; k < ", count, "; k += ", lanes,
                      ") {\n", TakeApart("k", shape_.inner, shape_.vector > 1),
                      inner, stores, "}\n");
    }
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
  for (const std::vector<Operand>* list : {&inputs, &outputs}) {
    for (const Operand& o : *list) {
      if (NumElements(graph.type(o.value)) >= int64_t{1} << 31) {
        return Unsupported("a tensor of ", TypeText(graph.type(o.value)),
                           " is too large for CUDA kernels");
      }
    }
  }
  return Writer(graph, inputs, outputs, lanes).Write();
}

}  // namespace isomer::cuda
