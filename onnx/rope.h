// A long byte string in pieces that are not copied: ranges of mapped files,
// short strings, and data that is generated while it is written. Neighbouring
// ranges of one file join, so a model that nobody edited is a single piece.
#ifndef ISOMER_ONNX_ROPE_H_
#define ISOMER_ONNX_ROPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "onnx/tensor_entry.h"
#include "ops/onnx_node.h"

namespace isomer::onnx {

class Rope {
 public:
  void Append(const SharedBytes& bytes);
  void AppendString(std::string bytes);
  void AppendGenerated(int64_t size, Fill fill);
  void Append(Rope rope);

  int64_t size() const { return size_; }

  // Whether the rope is these very bytes, in the same place.
  bool IsExactly(const SharedBytes& bytes) const;

  // Gives all bytes to `write`, piece by piece.
  absl::Status ForEachPiece(
      absl::FunctionRef<absl::Status(absl::string_view)> write) const;

 private:
  struct Piece {
    SharedBytes bytes;
    int64_t size = 0;
    Fill fill;  // if set, makes the piece
  };
  std::vector<Piece> pieces_;
  int64_t size_ = 0;
};

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_ROPE_H_
