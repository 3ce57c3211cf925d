// Element functions as CUDA C: statements that compute single elements of the
// values of a graph from elements in memory.
//
// An operator's element function, run over symbols, says what one output
// element is in terms of input elements. Following the inputs up to what lies
// in memory gives one expression for a whole fused kernel; views on the way are
// nothing but arithmetic on indices. So every operator that has an element
// function has CUDA code, whatever it is fused with.
//
// Statements stand in scopes (a row of threads, one thread, a loop, a branch).
// An element is computed in the outermost scope that knows its indices, once;
// nothing moves out of a branch, since what is read there may not exist
// elsewhere.
#ifndef ISOMER_CUDA_ELEMENT_CODE_H_
#define ISOMER_CUDA_ELEMENT_CODE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cuda/index_code.h"
#include "graph/graph.h"
#include "ops/elem.h"

namespace isomer::cuda {

// Where a value lies: element i at pointer[offset + sum of i[d] * stride[d]].
// Pointers are aligned to 16 bytes.
struct Place {
  std::string pointer;  // the C name of a kernel parameter
  DType dtype = DType::kF32;
  int64_t offset = 0;
  std::vector<int64_t> stride = {};
};

// The C type that elements of this type are computed in, and stored in.
absl::string_view ComputeType(DType dtype);
absl::string_view StorageType(DType dtype);

// True for operators of one operand that are computed by a function of their
// own, because they lose accuracy or overflow when they are composed of the few
// functions that element functions know.
bool HasCarefulFunction(absl::string_view op);

class ElementCode {
 public:
  explicit ElementCode(const ir::Graph& graph);

  // ---- What is known
  // The value lies in memory.
  void Bind(Value v, Place place) { places_[v] = std::move(place); }
  // The element of the value at `index` is the C variable `name`.
  void BindElement(Value v, const std::vector<DimExpr>& index,
                   const std::string& name);
  // All elements of the value are.
  void BindAll(Value v, std::string name) { everywhere_[v] = std::move(name); }
  // A new index in [0, extent), known in the current scope.
  DimExpr NewIndex(absl::string_view name, int64_t extent);
  // Elements at `symbol` * width + 0, ..., width - 1 are read together where
  // they lie side by side, also along shared sums.
  void SetVector(int width) { vector_ = width; }
  // Sums in the first scope are shared by `lanes` threads, of which `lane` is
  // one.
  void ShareSums(std::string lane, int lanes) {
    lane_ = std::move(lane);
    lanes_ = lanes;
  }

  // The elements of a row, in pieces that a thread takes whole: of the width of
  // SetVector, or of one, where that many rows lie side by side.
  struct Row {
    int64_t pieces = 0;
    int width = 1;
    std::string take_apart;  // statements that make indices of `piece`
    std::vector<std::pair<std::string, int64_t>> indices = {};  // and extents
    // How far into the row a piece starts; its elements are `step` apart.
    DimExpr first;
    int64_t step = 1;
    int bytes = 0;  // of a piece, as it is stored, at most
  };
  // Threads that share sums take pieces of a row each, in sums over all of it
  // and in what the caller does in a RowLoop. What the first such sum reads
  // stays in registers. False if a thread would have too many; then nothing
  // stays.
  bool SetRow(Row row);
  // True if a sum goes over pieces of the row.
  bool HasPieces() const { return has_pieces_; }
  // A loop over the pieces that this thread has.
  std::string RowLoop(absl::string_view body) const;

  // What lies in memory at indices that are known now is read apart from other
  // statements, if the C expression `condition` holds; "": it is not.
  void ReadAhead(std::string condition) {
    read_if_ = std::move(condition);
    for (const auto& [symbol, scope] : symbols_) ahead_.insert(symbol);
  }
  // What lies in memory is zero where the C expression does not hold, and not
  // read there.
  void ReadOnlyIf(std::string condition) { only_if_ = std::move(condition); }
  // The statements that read it. They stand before all others.
  const std::string& Reads() const { return reads_; }

  // ---- Scopes
  void Open();
  // Ends the scope and returns its statements.
  std::string Close();

  // ---- Elements
  // A C expression for an element; the statements that it needs are written.
  absl::StatusOr<std::string> At(Value v, std::vector<DimExpr> index);
  // The offset of an element of a place, tidied.
  DimExpr Offset(const Place& place, const std::vector<DimExpr>& index) const;
  std::string Text(const DimExpr& e) const { return IndexText(e, intervals_); }
  const Intervals& intervals() const { return intervals_; }
  // If all that the element needs is one element in memory: its place there.
  // Writes no statements. With a `part`, one concat on the way there is taken
  // for that operand of it; `past` is how far past the operand's start the
  // element is.
  struct Source {
    Value value;
    std::vector<DimExpr> index;
    DimExpr past = 0;
  };
  static constexpr int kWhole = -1;
  absl::StatusOr<std::optional<Source>> SourceOf(Value v,
                                                 std::vector<DimExpr> index,
                                                 int part = kWhole);
  // The sums that were written so far: their lengths, and the index of the
  // element they stand in.
  struct Sum {
    int64_t length = 0;
    std::vector<DimExpr> index = {};
  };
  const std::vector<Sum>& sums() const { return sums_; }

 private:
  struct Scope {
    Scope* parent = nullptr;
    int depth = 0;
    bool branch = false;
    std::string only_if = {};  // of a branch, if indices alone decide
    bool reads_pieces = false;
    bool keeps_pieces = false;
    std::string text = {};
    std::map<std::string, std::string> known = {};  // element -> C expression
  };
  enum class Kind { kInt, kFloat, kDouble };

  Scope* HomeOf(const std::vector<DimExpr>& index) const;
  const std::string* Known(const std::string& key) const;
  std::string Fresh(absl::string_view prefix);
  void Write(absl::string_view line);
  absl::StatusOr<std::string> Compute(Value v,
                                      const std::vector<DimExpr>& index);
  absl::StatusOr<std::string> Load(const Place& place,
                                   const std::vector<DimExpr>& index);
  // The element of a concat of values in memory: the place is chosen, and read
  // once. Nothing where the operands are computed.
  absl::StatusOr<std::optional<std::string>> LoadFromParts(
      const ir::Node& concat, const std::vector<DimExpr>& index);
  // How far into a piece of `vector_` elements the offset points, if elements
  // are read in such pieces there.
  std::optional<int64_t> InPiece(const DimExpr& offset) const;
  // Where a sum reads pieces: before all branches that indices alone decide
  // on, if what they ask holds.
  struct Guarded {
    Scope* scope;
    std::string condition = {};  // or nothing
  };
  Guarded OutsideBranches() const;
  // Element `at` of the piece that starts at `from`, which is read once;
  // `which` says the same wherever it is read.
  std::string Piece(DType dtype, const std::string& from,
                    const std::string& which, int64_t at, bool ahead);
  // A new variable, read if the condition holds.
  static std::string Read(const std::string& type, const std::string& name,
                          const std::string& from,
                          const std::string& condition);
  absl::StatusOr<Elem> ElementOf(const ir::Node& node, int output,
                                 const std::vector<DimExpr>& index);

  // Over the element of one node; `names` renames its bound variables.
  struct Walk {
    const ir::Node* node;
    std::map<std::string, DimExpr> names;
  };
  absl::StatusOr<std::string> ValueOf(const Elem& e, Kind kind, Walk& walk);
  absl::StatusOr<std::string> Function(const Elem& e, Kind kind, Walk& walk);
  absl::StatusOr<std::string> Fold(const Elem& e, Walk& walk);
  // What a sum adds up, and the variable that it is in.
  struct Folded {
    Elem body;
    Elem::Fold fold;
    Kind kind;
    std::string variable;
  };
  // One index that it runs along.
  struct Along {
    std::string name, variable;  // in C, and in the operator's element
    DimExpr extent;
  };
  // Writes that one element is added.
  absl::Status FoldIn(const Folded& f, Walk& walk);
  // The same for elements that are read together: those of a piece of the row,
  // or neighbours along the last index. Where there are none nothing is
  // written.
  enum class Together { kNone, kNeighbours, kRow };
  absl::StatusOr<Together> FoldTogether(const Folded& f,
                                        const std::vector<Along>& along,
                                        int64_t total, Walk& walk);
  absl::Status FoldPiece(const Folded& f, const std::vector<Along>& along,
                         int64_t total, Walk& walk);
  absl::Status FoldNeighbours(const Folded& f, const Along& last, Walk& walk);
  // A loop over all indices, of which each of the threads that share it has
  // some.
  std::string SharedLoop(const std::vector<Along>& along, int64_t total,
                         const std::string& body);
  absl::StatusOr<std::string> Choice(const Elem& e, Kind kind, Walk& walk);
  absl::StatusOr<std::string> Condition(const ElemCond& c, Walk& walk);
  static bool IsOfIndices(const ElemCond& c);
  absl::StatusOr<DimExpr> Index(const DimExpr& e, Walk& walk);
  absl::StatusOr<Polynomial> IndexPoly(const Polynomial& p, Walk& walk);
  absl::StatusOr<std::vector<DimExpr>> Indices(const std::vector<DimExpr>& e,
                                               Walk& walk);
  Kind KindOf(const Elem& e, const Walk& walk, Kind otherwise) const;
  static absl::string_view TypeOf(Kind kind);
  static Kind KindOf(DType dtype);

  const ir::Graph& graph_;
  std::map<Value, Place> places_;
  std::map<Value, std::string> everywhere_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  Scope* scope_ = nullptr;
  std::map<std::string, Scope*> symbols_;  // where a symbol is known
  Intervals intervals_;
  int fresh_ = 0;
  std::vector<Sum> sums_;
  std::vector<DimExpr> element_index_;  // of the element being written
  int vector_ = 1;
  std::string lane_;
  int lanes_ = 1;
  std::optional<Row> row_;
  int64_t pieces_each_ = 0;  // of a thread, at most
  bool keeps_pieces_ = false, has_pieces_ = false;
  int64_t kept_bytes_ = 0;                   // of a thread
  std::map<std::string, std::string> kept_;  // which piece -> array
  std::string read_if_, only_if_, reads_;
  std::set<std::string> ahead_;  // symbols that are known ahead
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_ELEMENT_CODE_H_
