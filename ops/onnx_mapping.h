// How an operator comes from ONNX and goes back, without protobuf. An operator
// gives a pair of functions on the two small interfaces below; onnx/
// implements them. An Unsupported error from an import function means: this
// form is not modelled, keep the node as it is (it becomes opaque).
#ifndef ISOMER_OPS_ONNX_MAPPING_H_
#define ISOMER_OPS_ONNX_MAPPING_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/attr.h"
#include "ops/onnx_node.h"
#include "ops/op_builder.h"
#include "ops/tensor.h"
#include "ops/value.h"

namespace isomer {

// One ONNX node on its way in: its inputs as values of the graph being built.
class OnnxImport : public OpBuilder {
 public:
  virtual const OnnxNode& node() const = 0;
  // The version of the node's operator set.
  virtual int opset() const = 0;
  // Input i; an error if it is omitted or its type is not known.
  virtual absl::StatusOr<Value> In(int i) = 0;
  // The elements of input i where they are known at import (constants and
  // shape arithmetic); nothing otherwise.
  virtual std::optional<Tensor> Known(int i) = 0;
  virtual absl::StatusOr<Value> Constant(Tensor tensor) = 0;

  // True if input i is given.
  bool Has(int i) const { return node().HasInput(i); }
  // All given inputs.
  absl::StatusOr<std::vector<Value>> AllIn();
  // Integers that must be known at import: input i.
  absl::StatusOr<std::vector<int64_t>> KnownInts(int i);
  // A list that is attribute `name` up to some opset and input i from then on;
  // nothing if neither is given.
  absl::StatusOr<std::optional<std::vector<int64_t>>> AttrOrInput(
      absl::string_view name, int i);
  // `v` broadcast to `shape` by ONNX's rules (trailing dimensions align).
  absl::StatusOr<Value> BroadcastTo(Value v, std::vector<int64_t> shape);
  // All values broadcast to their common shape.
  absl::StatusOr<std::vector<Value>> Broadcast(std::vector<Value> values);
  // A constant of one element, as a scalar of type `dtype`.
  absl::StatusOr<Value> Scalar(DType dtype, double value);
};

// The values that stand for the node's outputs, in order.
using Imported = absl::StatusOr<std::vector<Value>>;
using FromOnnx = std::function<Imported(OnnxImport&)>;

// One graph node on its way out.
class OnnxExport {
 public:
  virtual ~OnnxExport() = default;
  // The version of ONNX's own operator set in the model.
  virtual int opset() const = 0;
  virtual const Attrs& attrs() const = 0;
  virtual int size() const = 0;
  // The name and type of input i. Where the mapping says that ONNX broadcasts,
  // this is the operand before its broadcast.
  virtual std::string In(int i) = 0;
  virtual const TensorType& in_type(int i) const = 0;
  virtual const TensorType& out_type(int i) const = 0;
  // Emits an ONNX node and returns the names of its outputs.
  virtual std::vector<std::string> Emit(absl::string_view op_type,
                                        std::vector<std::string> inputs,
                                        std::vector<OnnxAttr> attrs = {},
                                        int outputs = 1) = 0;
  // Adds an initializer and returns its name.
  virtual std::string Constant(const Tensor& tensor) = 0;

  // The names of all inputs.
  std::vector<std::string> AllIn();
  // An int64 initializer of rank 1.
  std::string Ints(absl::Span<const int64_t> values);
  // A scalar initializer.
  std::string Scalar(DType dtype, double value);
  // Emits a node that has `axes` as an attribute before opset `since` and as
  // an input from then on.
  std::vector<std::string> EmitWithAxes(absl::string_view op_type,
                                        std::vector<std::string> inputs,
                                        absl::string_view name,
                                        std::vector<int64_t> axes, int since,
                                        std::vector<OnnxAttr> attrs = {});
};

// The names of the node's outputs.
using Exported = absl::StatusOr<std::vector<std::string>>;
using ToOnnx = std::function<Exported(OnnxExport&)>;

// The ONNX operators that become one operator of ours, and the way back.
struct OnnxMapping {
  struct From {
    std::string op_type;
    FromOnnx import;
    std::string domain = "";
  };
  std::vector<From> from = {};
  ToOnnx to = nullptr;
  // The ONNX form broadcasts its operands itself, but for so many of their last
  // dimensions.
  bool broadcasts = false;
  int own_dims = 0;
  // The output dimension along which the ONNX form adds a bias, given as one
  // more input to `to`; nothing where it takes none.
  std::function<std::optional<int64_t>(absl::Span<const TensorType>)> bias_dim =
      nullptr;
};

// An ONNX operator that is taken apart and has no operator of ours to return
// to as such (Gemm, Split, Einsum, ...): the files of onnx/lower/.
using OnnxLowering = OnnxMapping::From;

// ONNX's number for an element type (TensorProto.DataType), and back.
int32_t OnnxDType(DType dtype);
absl::StatusOr<DType> FromOnnxDType(int32_t dtype);

// The shape that ONNX's broadcasting gives.
absl::StatusOr<std::vector<int64_t>> BroadcastShape(
    absl::Span<const std::vector<int64_t>> shapes);

}  // namespace isomer

#endif  // ISOMER_OPS_ONNX_MAPPING_H_
