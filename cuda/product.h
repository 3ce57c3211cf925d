// Products and convolutions seen as one thing: for each batch a matrix product
//
//   out[m, n] = sum over k of a[m, k] * b[k, n]
//
// whose operands are found in memory by index arithmetic, and whose result
// goes through the rest of the fused kernel. A convolution's rows are places
// of the output, its columns filters, its k taps and channels, channels
// fastest; its groups are batches.
#ifndef ISOMER_CUDA_PRODUCT_H_
#define ISOMER_CUDA_PRODUCT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/kernel.h"
#include "graph/graph.h"
#include "ops/onnx_node.h"

namespace isomer::cuda {

// What the kernel is to compute: `core` is a matmul or conv2d, the one output
// depends on it through pointwise operators, casts, reshapes and transposes;
// or, where there are several parts, outputs of one type are pointwise
// functions of so many equal parts of the core's rows, and the columns of b of
// which one element is made lie side by side in memory.
struct ProductCall {
  const ir::Graph* graph = nullptr;
  Value core;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  int parts = 1;
  bool two_places = false;  // b may lie in two
};

// How an operand lies in memory.
enum class Run {
  kNone,    // in no way that a fast kernel reads
  kInner,   // k is contiguous
  kOuter,   // m (of a) or n (of b) is contiguous
  kWindow,  // a of a convolution: channels are contiguous
};

struct OperandRun {
  Run run = Run::kNone;
  std::string pointer;
  // kInner, kOuter: the offset of element 0 of the contiguous index, a C
  // expression in zb and mm, nn or kk. kWindow: unused.
  std::string offset;
  // The steps of batch, of m or n, and of k, and the offset, if it is made of
  // these.
  std::optional<std::array<int64_t, 4>> steps = {};
  // So many batches, one after the other, read the same.
  int64_t shared = 1;
  // Where the C expression `if_rest` holds, the elements lie elsewhere. It is
  // in what the offset is in.
  std::string if_rest = {}, rest_pointer = {}, rest_offset = {};
};

// The address of the elements from `at` on of the contiguous index, if there
// are any `there`.
std::string AddressText(const OperandRun& run);

// The geometry of a convolution with two spatial dimensions at most.
struct WindowRun {
  int64_t channels = 0;  // of one group
  int64_t in[2] = {1, 1}, out[2] = {1, 1}, kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1}, pad[2] = {0, 0}, dilation[2] = {1, 1};
  int64_t step_n = 0, step[2] = {0, 0}, step_group = 0, offset = 0;
  int64_t filter_offset = 0;
  // Of the filters, where every channel is a group of its own.
  int64_t filter_step[2] = {0, 0};
};

struct Product {
  DType dtype = DType::kF32;
  bool convolution = false;
  // Every channel is convolved by itself: columns are channels, k is taps.
  bool depthwise = false;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int parts = 1;  // columns of which one result is made
  OperandRun a, b;
  WindowRun window;
  double flops() const { return 2.0 * batch * m * n * k; }
};

// A matrix of results or of what is added to them: rows are `step` apart,
// batches `batch`, in elements.
struct LibraryMatrix {
  std::string pointer = {};  // "": there is none
  int64_t step = 0, batch = 0, offset = 0;
};

// A product as libraries take it. `a_inner`: k is contiguous in a; otherwise m
// is. Steps are those of the other index, in elements, offsets too. The library
// multiplies the product by `scale`, adds `added` and the row `bias`, and takes
// the function of that. With `tf32` it may round factors to ten bits.
struct LibraryProduct {
  enum class Function { kNone, kRelu, kGeluTanh };
  DType dtype = DType::kF16;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool a_inner = true, b_inner = false;
  int64_t a_step = 0, b_step = 0, a_batch = 0, b_batch = 0;
  int64_t a_offset = 0, b_offset = 0;
  LibraryMatrix added = {}, bias = {}, out = {};
  double scale = 1;
  Function function = Function::kNone;
  bool tf32 = false;
};

// The product in that form, if it has it.
std::optional<LibraryProduct> AsLibraryProduct(const Product& product);

// The number that all elements of a value are, where the graph shows it: as
// ir::SplatOf, or as a view or a product of such values.
std::optional<double> NumberOf(const ir::Graph& graph, Value v);
// The same of a value of a call's graph, which may be an operand.
std::optional<double> NumberOf(const ProductCall& call, Value v);

// The same with all that comes after the product, if a library takes that.
absl::StatusOr<std::optional<LibraryProduct>> WithEpilogue(
    const ProductCall& call, const Product& product, LibraryProduct library);

// The sizes of the product, and how its operands lie. Operands whose run is
// kNone can be computed element by element only.
absl::StatusOr<Product> Analyze(const ProductCall& call);

// Which operands are there before the network runs, and if b comes from memory
// in every run, as the call says.
struct Ready {
  bool a = false, b = false;
};
Ready ReadyOf(const ProductCall& call, const Product& product);
bool HasColdB(const ProductCall& call, const Product& product);
// The share of it that is in the cache all the same.
double KeptOfB(const ProductCall& call, const Product& product);

// Statements that take the sum `acc[0..width)` of columns j * width + u of row
// (zb, mm), as they lie in memory, through the rest of the kernel to `pack`, a
// variable of the given type, and that store it. The width is a multiple of the
// parts where there are several. With a condition, `reads` are statements that
// read what is computed with, if it holds; they need the indices alone, and may
// stand further ahead.
struct Epilogue {
  std::string type, reads, compute, store;
};
absl::StatusOr<Epilogue> EpilogueOf(const ProductCall& call,
                                    const Product& product, int width,
                                    const std::string& read_if = "");
// One after the other.
absl::StatusOr<std::string> EpilogueText(const ProductCall& call,
                                         const Product& product, int width);

// The columns of b, of which the parts of one result lie side by side, in the
// order that the core's have.
SharedBytes InPlainOrder(const SharedBytes& b, const Product& product);

// The kernel with this body, where each of `count` threads, numbered through
// all blocks, does its own part. If `blocks` is not 0, threads have as many
// registers as let so many blocks fit on a multiprocessor.
KernelSource KernelOfThreads(const ProductCall& call, absl::string_view body,
                             int64_t count, int block, int blocks = 0);

// Statements that take the sum `acc[0]` of element (zb, mm, nn) of the core
// through the rest of the kernel, and the expression of the result. Nothing if
// the result is another element than that at (zb, mm, nn) of a dense output.
struct ElementText {
  std::string statements, value;
};
absl::StatusOr<std::optional<ElementText>> ResultText(const ProductCall& call,
                                                      const Product& product);

// Statements for one element of an operand at zb, mm or nn, and kk, and the
// expression of its value. The element is 0 where it is outside of the image.
absl::StatusOr<ElementText> OperandText(const ProductCall& call,
                                        const Product& product, int operand);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PRODUCT_H_
