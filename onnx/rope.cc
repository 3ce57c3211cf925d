// Generated pieces are made a few megabytes at a time.
#include "onnx/rope.h"

#include <algorithm>
#include <utility>

#include "ops/status.h"

namespace isomer::onnx {
namespace {

constexpr int64_t kBufferBytes = int64_t{4} << 20;

}  // namespace

void Rope::Append(const SharedBytes& bytes) {
  const int64_t size = bytes.view.size();
  if (size == 0) return;
  size_ += size;
  if (!pieces_.empty()) {
    Piece& last = pieces_.back();
    if (!last.fill && last.bytes.owner == bytes.owner &&
        last.bytes.view.data() + last.size == bytes.view.data()) {
      last.size += size;
      last.bytes.view = absl::string_view(last.bytes.view.data(), last.size);
      return;
    }
  }
  pieces_.push_back({bytes, size, nullptr});
}

void Rope::AppendString(std::string bytes) {
  Append(SharedBytes::Own(std::move(bytes)));
}

void Rope::AppendGenerated(int64_t size, Fill fill) {
  if (size == 0) return;
  size_ += size;
  pieces_.push_back({{}, size, std::move(fill)});
}

void Rope::Append(Rope rope) {
  for (Piece& piece : rope.pieces_) {
    if (piece.fill) {
      AppendGenerated(piece.size, std::move(piece.fill));
    } else {
      Append(piece.bytes);
    }
  }
}

bool Rope::IsExactly(const SharedBytes& bytes) const {
  if (bytes.empty()) return size_ == 0;
  return pieces_.size() == 1 && !pieces_[0].fill &&
         pieces_[0].bytes.view.data() == bytes.view.data() &&
         pieces_[0].bytes.view.size() == bytes.view.size();
}

absl::Status Rope::ForEachPiece(
    absl::FunctionRef<absl::Status(absl::string_view)> write) const {
  std::string buffer;
  for (const Piece& piece : pieces_) {
    if (!piece.fill) {
      RETURN_IF_ERROR(write(piece.bytes.view));
      continue;
    }
    for (int64_t at = 0; at < piece.size; at += kBufferBytes) {
      buffer.resize(std::min(kBufferBytes, piece.size - at));
      piece.fill(at, absl::MakeSpan(buffer.data(), buffer.size()));
      RETURN_IF_ERROR(write(buffer));
    }
  }
  return absl::OkStatus();
}

}  // namespace isomer::onnx
