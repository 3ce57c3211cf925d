// Sums and the like: by one thread each, or shared by several, which take
// neighbours or pieces of a row.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cuda/element_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Before a loop that sums up, where what it reads is not kept.
constexpr absl::string_view kUnrolled = "#pragma unroll 4\n";

}  // namespace

absl::Status ElementCode::FoldIn(const Folded& f, Walk& walk) {
  ASSIGN_OR_RETURN(const std::string x, ValueOf(f.body, f.kind, walk));
  const std::string& acc = f.variable;
  switch (f.fold) {
    case Elem::Fold::kSum:
      Write(absl::StrCat(acc, " += ", x, ";"));
      break;
    case Elem::Fold::kProd:
      Write(absl::StrCat(acc, " *= ", x, ";"));
      break;
    case Elem::Fold::kMax:
      Write(absl::StrCat(acc, " = iso_max(", acc, ", (", TypeOf(f.kind), ")", x,
                         ");"));
      break;
    case Elem::Fold::kMin:
      Write(absl::StrCat(acc, " = iso_min(", acc, ", (", TypeOf(f.kind), ")", x,
                         ");"));
      break;
  }
  return absl::OkStatus();
}

absl::Status ElementCode::FoldPiece(const Folded& f,
                                    const std::vector<Along>& along,
                                    int64_t total, Walk& walk) {
  for (const auto& [name, extent] : row_->indices) NewIndex(name, extent);
  for (int u = 0; u < row_->width; ++u) {
    const DimExpr at = row_->first + DimExpr(u * row_->step);
    int64_t below = total;
    for (const Along& a : along) {
      below /= *a.extent.constant();
      walk.names[a.variable] =
          Tidy(Mod(FloorDiv(at, DimExpr(below)), a.extent), intervals_);
    }
    RETURN_IF_ERROR(FoldIn(f, walk));
  }
  return absl::OkStatus();
}

absl::Status ElementCode::FoldNeighbours(const Folded& f, const Along& last,
                                         Walk& walk) {
  const DimExpr first =
      NewIndex(last.name, *last.extent.constant() / vector_) * DimExpr(vector_);
  for (int u = 0; u < vector_; ++u) {
    walk.names[last.variable] = first + DimExpr(u);
    RETURN_IF_ERROR(FoldIn(f, walk));
  }
  return absl::OkStatus();
}

absl::StatusOr<ElementCode::Together> ElementCode::FoldTogether(
    const Folded& f, const std::vector<Along>& along, int64_t total,
    Walk& walk) {
  if (vector_ == 1 || total == 0) return Together::kNone;
  const Scope empty{.parent = scope_->parent, .depth = scope_->depth};
  const std::map<std::string, DimExpr> names = walk.names;
  if (row_ && total == row_->pieces * row_->width) {
    // On trial first: sums that stand in one that keeps pieces are written
    // then, so before it. They must not read what it keeps, and it has what
    // they keep.
    for (int written = 0; written < (keeps_pieces_ ? 2 : 1); ++written) {
      *scope_ = empty;
      scope_->keeps_pieces = written == 1;
      RETURN_IF_ERROR(FoldPiece(f, along, total, walk));
    }
    if (scope_->reads_pieces) {
      has_pieces_ = true;
      return Together::kRow;
    }
    walk.names = names;
  }
  const Along& last = along.back();
  const int64_t extent = *last.extent.constant();
  if (extent % vector_ == 0) {
    *scope_ = empty;
    RETURN_IF_ERROR(FoldNeighbours(f, last, walk));
    if (scope_->reads_pieces) return Together::kNeighbours;
    walk.names[last.variable] = NewIndex(last.name, extent);
  }
  *scope_ = empty;
  return Together::kNone;
}

std::string ElementCode::RowLoop(absl::string_view body) const {
  return absl::StrCat(keeps_pieces_ ? "#pragma unroll\n" : "",
                      "for (int n = 0; n < ", pieces_each_,
                      "; ++n) {\nconst int piece = n * ", lanes_, " + ", lane_,
                      ";\nif (piece >= ", row_->pieces, ") continue;\n",
                      row_->take_apart, body, "}");
}

std::string ElementCode::SharedLoop(const std::vector<Along>& along,
                                    int64_t total, const std::string& body) {
  const std::string t = Fresh("t");
  std::string text =
      absl::StrCat(kUnrolled, "for (int ", t, " = ", lane_, "; ", t, " < ",
                   total, "; ", t, " += ", lanes_, ") {\n");
  int64_t below = total;
  for (const Along& a : along) {
    const int64_t extent = std::max<int64_t>(*a.extent.constant(), 1);
    below /= extent;
    absl::StrAppend(&text, "const int ", a.name, " = ", t, " / ",
                    std::max<int64_t>(below, 1), " % ", extent, ";\n");
  }
  return absl::StrCat(text, body, "}");
}

absl::StatusOr<std::string> ElementCode::Fold(const Elem& e, Walk& walk) {
  const Elem::Fold fold = e.fold();
  Elem body = e;
  std::vector<Along> along;
  int64_t total = 1;     // at most
  bool constant = true;  // the extents are numbers
  Open();
  absl::Status status;
  const std::map<std::string, DimExpr> outer_names = walk.names;
  while (body.kind() == Elem::Kind::kReduce && body.fold() == fold) {
    const auto extent = Index(body.expr(), walk);
    const auto range = extent.ok() ? IntervalOf(*extent, intervals_)
                                   : std::optional<Interval>();
    if (!range) {
      status = Unsupported("a sum whose length is not known");
      break;
    }
    along.push_back({Fresh("r"), body.name(), *extent});
    constant = constant && extent->constant().has_value();
    total *= std::max<int64_t>(range->high, 0);
    walk.names[body.name()] =
        NewIndex(along.back().name, std::max<int64_t>(range->high, 1));
    const Elem inner = body.args()[0];
    body = inner;
  }
  const Kind kind = KindOf(body, walk, Kind::kInt);
  const std::string acc = Fresh("s");
  const Folded folded{body, fold, kind, acc};
  const bool shared = lanes_ > 1 && scope_->depth == 1 && constant;
  absl::StatusOr<Together> together = Together::kNone;
  if (status.ok() && shared) {
    together = FoldTogether(folded, along, total, walk);
    status = together.status();
  }
  if (status.ok() && *together == Together::kNone) {
    status = FoldIn(folded, walk);
  }
  const std::string inside = Close();
  walk.names = outer_names;
  RETURN_IF_ERROR(status);
  sums_.push_back({total, element_index_});
  static constexpr const char* kFolds[] = {"sum", "prod", "max", "min"};
  const std::string which = kFolds[static_cast<int>(fold)];
  Write(absl::StrCat(TypeOf(kind), " ", acc, " = iso_start_", which, "<",
                     TypeOf(kind), ">();"));
  if (shared) {
    if (*together == Together::kNeighbours) {
      Along& last = along.back();
      last.extent = DimExpr(*last.extent.constant() / vector_);
      total /= vector_;
    }
    Write(*together == Together::kRow
              ? absl::StrCat(keeps_pieces_ ? "" : kUnrolled, RowLoop(inside))
              : SharedLoop(along, total, inside));
    Write(absl::StrCat(acc, " = iso_share_", which, "<ISO_LANES>(", acc, ");"));
    return acc;
  }
  std::string header, end;
  for (const Along& a : along) {
    absl::StrAppend(&header, "for (int ", a.name, " = 0; ", a.name, " < ",
                    Text(a.extent), "; ++", a.name, ") {\n");
    end += "}";
  }
  Write(absl::StrCat(header, inside, end));
  return acc;
}

}  // namespace isomer::cuda
