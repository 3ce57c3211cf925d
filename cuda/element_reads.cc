// What lies in memory: elements, and pieces of neighbours, which are read once
// and may stay in registers.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cuda/element_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// The function that reads neighbours together; with "_if" it reads zeros where
// a condition does not hold, if they have so many bytes.
constexpr absl::string_view kLoadPieces = "iso_load_pack";
constexpr int kLoadIfBytes = 16;

// Pieces of a row that a thread takes, and bytes that it keeps of one operand
// and of all.
constexpr int64_t kMostPieces = 16, kMostBytes = 128, kMostKept = 256;

}  // namespace

DimExpr ElementCode::Offset(const Place& place,
                            const std::vector<DimExpr>& index) const {
  DimExpr offset = place.offset;
  for (size_t d = 0; d < index.size(); ++d) {
    offset += index[d] * DimExpr(place.stride[d]);
  }
  return Tidy(offset, intervals_);
}

std::optional<int64_t> ElementCode::InPiece(const DimExpr& offset) const {
  const Polynomial& p = offset.polynomial();
  if (vector_ == 1 || p.monomials().empty()) return std::nullopt;
  for (const Monomial& m : p.monomials()) {
    if (!m.coefficient.IsInteger() || m.coefficient.num() % vector_ != 0) {
      return std::nullopt;
    }
  }
  return Mod(p.constant_term().num(), vector_);
}

std::string ElementCode::Read(const std::string& type, const std::string& name,
                              const std::string& from,
                              const std::string& condition) {
  if (condition.empty()) {
    return absl::StrCat("const ", type, " ", name, " = ", from, ";\n");
  }
  return absl::StrCat(type, " ", name, " = {};\nif (", condition, ") ", name,
                      " = ", from, ";\n");
}

bool ElementCode::SetRow(Row row) {
  pieces_each_ = CeilDiv(row.pieces, int64_t{lanes_});
  keeps_pieces_ =
      pieces_each_ <= kMostPieces && pieces_each_ * row.bytes <= kMostBytes;
  row_ = std::move(row);
  return keeps_pieces_;
}

ElementCode::Guarded ElementCode::OutsideBranches() const {
  Guarded out{scope_, only_if_};
  while (out.scope->branch) {
    const std::string& condition = out.scope->only_if;
    if (condition.empty()) return {scope_, only_if_};
    out.condition = out.condition.empty()
                        ? condition
                        : absl::StrCat(condition, " && ", out.condition);
    out.scope = out.scope->parent;
  }
  return out.scope->parent == nullptr ? Guarded{scope_, only_if_} : out;
}

std::string ElementCode::Piece(DType dtype, const std::string& from,
                               const std::string& which, int64_t at,
                               bool ahead) {
  const Guarded guarded = OutsideBranches();
  Scope& scope = *guarded.scope;
  scope.reads_pieces = true;
  const std::string of =
      absl::StrCat("<", StorageType(dtype), ", ", vector_, ">");
  const std::string type = absl::StrCat("iso_pack", of);
  const std::string load = absl::StrCat(kLoadPieces, of, "(", from, ")");
  const std::string kept = absl::StrCat(guarded.condition, "|", which);
  const int64_t bytes = pieces_each_ * vector_ * ByteSize(dtype);
  if (scope.keeps_pieces && !kept_.count(kept) &&
      kept_bytes_ + bytes <= kMostKept) {
    kept_bytes_ += bytes;
    const std::string array = kept_[kept] = Fresh("w");
    absl::StrAppend(&scope.parent->text, type, " ", array, "[", pieces_each_,
                    "];\n");
    if (!guarded.condition.empty()) {
      absl::StrAppend(&scope.text, "if (", guarded.condition, ") ");
    }
    absl::StrAppend(&scope.text, array, "[n] = ", load, ";\n");
  }
  if (const auto it = kept_.find(kept); it != kept_.end()) {
    return absl::StrCat("iso_value(", it->second, "[n].at[", at, "])");
  }
  const std::string key = absl::StrCat("piece|", guarded.condition, "|", from);
  const std::string* known = Known(key);
  std::string name = known == nullptr ? Fresh("w") : *known;
  if (known == nullptr) {
    const std::string& condition = ahead ? read_if_ : guarded.condition;
    const bool zeros = !ahead && !condition.empty() &&
                       vector_ * ByteSize(dtype) == kLoadIfBytes;
    const std::string load_if =
        absl::StrCat(kLoadPieces, "_if", of, "(", condition, ", ", from, ")");
    absl::StrAppend(ahead ? &reads_ : &scope.text,
                    zeros ? Read(type, name, load_if, "")
                          : Read(type, name, load, condition));
    scope.known[key] = name;
  }
  return absl::StrCat("iso_value(", name, ".at[", at, "])");
}

absl::StatusOr<std::optional<std::string>> ElementCode::LoadFromParts(
    const ir::Node& concat, const std::vector<DimExpr>& index) {
  const int64_t axis = concat.attrs->Int("axis");
  std::string text;
  std::optional<int64_t> piece;
  int64_t start = 0;
  DType dtype = DType::kF32;
  for (size_t k = 0; k < concat.inputs.size(); ++k) {
    std::vector<DimExpr> inside = index;
    inside[axis] -= DimExpr(start);
    ASSIGN_OR_RETURN(const auto source, SourceOf(concat.inputs[k], inside));
    if (!source) return std::nullopt;
    const Place& place = places_.at(source->value);
    dtype = place.dtype;
    const DimExpr offset = Offset(place, source->index);
    const auto at = InPiece(offset);
    if (k == 0) piece = at;
    if (at != piece || !IsFloat(dtype)) return std::nullopt;
    const std::string from = absl::StrCat(
        place.pointer, " + ", Text(offset - DimExpr(piece.value_or(0))));
    if (k == 0) {
      text = from;
    } else {
      // Whole pieces lie in one part, so that neighbours ask the same.
      const DimExpr past = Tidy(index[axis] - DimExpr(start), intervals_);
      const int64_t width = piece ? vector_ : 1;
      text = absl::StrCat(
          "(", Text(Tidy(FloorDiv(past, DimExpr(width)), intervals_)),
          " >= 0 ? ", from, " : ", text, ")");
    }
    start += graph_.type(concat.inputs[k]).shape[axis];
  }
  const std::string key = absl::StrCat("parts|", text);
  const std::string* known = Known(key);
  const std::string name = known == nullptr ? Fresh("p") : *known;
  if (known == nullptr) {
    Scope& scope = *OutsideBranches().scope;
    absl::StrAppend(&scope.text, "const ", StorageType(dtype), "* const ", name,
                    " = ", text, ";\n");
    scope.known[key] = name;
  }
  if (piece) return Piece(dtype, name, text, *piece, false);
  const std::string value = absl::StrCat("iso_value(*", name, ")");
  return only_if_.empty() ? value
                          : absl::StrCat("(", only_if_, " ? ", value, " : 0)");
}

absl::StatusOr<std::string> ElementCode::Load(
    const Place& place, const std::vector<DimExpr>& index) {
  const DimExpr offset = Offset(place, index);
  if (!offset.ok()) return Invalid("an offset leaves 64 bits");
  // What is read in a loop or a branch stays there.
  const bool ahead =
      !read_if_.empty() && scope_->parent == nullptr &&
      absl::c_all_of(offset.Symbols(),
                     [&](const std::string& s) { return ahead_.count(s) > 0; });
  if (const auto at = InPiece(offset); at && IsFloat(place.dtype)) {
    const std::string from =
        absl::StrCat(place.pointer, " + ", Text(offset - DimExpr(*at)));
    return Piece(place.dtype, from, from, *at, ahead);
  }
  const std::string name = Fresh("v");
  const std::string element =
      absl::StrCat(place.pointer, "[", Text(offset), "]");
  if (ahead) {
    // What is converted has come: that is left to where it is needed.
    absl::StrAppend(&reads_, Read(std::string(StorageType(place.dtype)), name,
                                  element, read_if_));
    return absl::StrCat("iso_value(", name, ")");
  }
  absl::StrAppend(&scope_->text,
                  Read(std::string(ComputeType(place.dtype)), name,
                       absl::StrCat("iso_value(", element, ")"), only_if_));
  return name;
}

}  // namespace isomer::cuda
