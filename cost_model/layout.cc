// Strides through transposes, slices, broadcasts and reshapes.
#include "cost_model/layout.h"

#include "absl/algorithm/container.h"
#include "ops/attr.h"

namespace isomer::cost {

namespace {

Layout Transposed(const Layout& x, const std::vector<int64_t>& perm) {
  Layout y;
  for (int64_t d : perm) {
    y.size.push_back(x.size[d]);
    y.stride.push_back(x.stride[d]);
  }
  return y;
}

Layout Sliced(Layout x, const Attrs& attrs, absl::Span<const int64_t> shape) {
  const std::vector<int64_t>&axes = attrs.Ints("axes"),
        &step = attrs.Ints("step");
  for (size_t i = 0; i < axes.size(); ++i) {
    x.size[axes[i]] = shape[axes[i]];
    x.stride[axes[i]] *= step[i];
  }
  return x;
}

// One place along an axis; the dimension is gone, or of size one.
Layout Picked(Layout x, int64_t axis, absl::Span<const int64_t> shape) {
  x.size.erase(x.size.begin() + axis);
  x.stride.erase(x.stride.begin() + axis);
  while (x.size.size() < shape.size()) {
    x.size.insert(x.size.begin() + axis, 1);
    x.stride.insert(x.stride.begin() + axis, 1);
  }
  return x;
}

Layout Broadcasted(const Layout& x, const std::vector<int64_t>& dims,
                   absl::Span<const int64_t> shape) {
  Layout y;
  y.size.assign(shape.begin(), shape.end());
  y.stride.assign(shape.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) y.stride[dims[i]] = x.stride[i];
  return y;
}

// Merges neighbouring dimensions that lie one behind the other, and drops
// those of size one.
Layout Merged(const Layout& x) {
  Layout y;
  for (size_t d = 0; d < x.size.size(); ++d) {
    if (x.size[d] == 1) continue;
    if (!y.size.empty() && y.stride.back() == x.stride[d] * x.size[d]) {
      y.size.back() *= x.size[d];
      y.stride.back() = x.stride[d];
    } else {
      y.size.push_back(x.size[d]);
      y.stride.push_back(x.stride[d]);
    }
  }
  return y;
}

// Cuts the merged dimensions of `x` into `shape`; nothing where a dimension of
// the shape would straddle two of them.
std::optional<Layout> Reshaped(const Layout& x,
                               absl::Span<const int64_t> shape) {
  if (absl::c_linear_search(shape, 0)) return Layout::Dense(shape);
  const Layout m = Merged(x);
  Layout y;
  y.size.assign(shape.begin(), shape.end());
  y.stride.assign(shape.size(), 1);
  int at = static_cast<int>(m.size.size()) - 1;
  int64_t taken = 1;  // of dimension `at`, by the dimensions to the right
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    if (at >= 0 && taken == m.size[at]) {
      --at;
      taken = 1;
    }
    if (at < 0 || m.size[at] % (taken * shape[d]) != 0) return std::nullopt;
    y.stride[d] = m.stride[at] * taken;
    taken *= shape[d];
  }
  return y;
}

// A matrix, or a batch of them at any distances, of which rows or columns are
// dense: what BLAS calls a leading dimension.
bool IsMatrix(const Layout& x, bool one_batch) {
  const size_t rank = x.size.size();
  Layout rows;
  const size_t split = one_batch ? 0 : rank - 2;
  rows.size.assign(x.size.begin() + split, x.size.end() - 1);
  rows.stride.assign(x.stride.begin() + split, x.stride.end() - 1);
  const Layout r = Merged(rows);
  if (r.size.size() > 1) return false;
  const int64_t column_stride = x.size.back() == 1 ? 1 : x.stride.back();
  const int64_t row_stride = r.size.empty() ? 1 : r.stride[0];
  return column_stride == 1 || row_stride == 1;
}

}  // namespace

Layout Layout::Dense(absl::Span<const int64_t> shape) {
  Layout x;
  x.size.assign(shape.begin(), shape.end());
  x.stride.assign(shape.size(), 1);
  for (int d = static_cast<int>(shape.size()) - 2; d >= 0; --d) {
    x.stride[d] = x.stride[d + 1] * shape[d + 1];
  }
  return x;
}

bool Layout::IsDense() const {
  const Layout m = Merged(*this);
  return m.size.empty() || (m.size.size() == 1 && m.stride[0] == 1);
}

std::optional<Layout> ViewOf(const ir::Node& view, OpClass op_class,
                             const Layout& operand) {
  if (view.op == nullptr || !(*view.types)[0]) return std::nullopt;
  const std::vector<int64_t>& shape = (*view.types)[0]->shape;
  switch (op_class) {
    case OpClass::kReshape:
      return Reshaped(operand, shape);
    case OpClass::kTranspose:
      return Transposed(operand, view.attrs->Ints("perm"));
    case OpClass::kSlice:
      return view.attrs->Find("from") != nullptr
                 ? Sliced(operand, *view.attrs, shape)
                 : Picked(operand, view.attrs->Int("axis"), shape);
    case OpClass::kBroadcast:
      return Broadcasted(operand, view.attrs->Ints("dims"), shape);
    default:
      return std::nullopt;
  }
}

std::optional<Layout> WrittenThrough(const ir::Node& view, OpClass op_class,
                                     absl::Span<const int64_t> operand_shape,
                                     const Layout& output) {
  if (op_class == OpClass::kReshape) return Reshaped(output, operand_shape);
  if (op_class != OpClass::kTranspose) return std::nullopt;
  const std::vector<int64_t>& perm = view.attrs->Ints("perm");
  Layout operand = output;
  for (size_t d = 0; d < perm.size(); ++d) {
    operand.size[perm[d]] = output.size[d];
    operand.stride[perm[d]] = output.stride[d];
  }
  return operand;
}

bool IsStrided(Family family) {
  return family == Family::kMatmul || family == Family::kAttention;
}

bool Writes(Family family, int right_rank, const Layout& layout) {
  return Reads(family, 0, right_rank, layout);
}

bool Reads(Family family, int index, int right_rank, const Layout& layout) {
  if (layout.size.empty()) return true;
  if (family == Family::kMatmul) {
    return layout.size.size() >= 2 &&
           IsMatrix(layout, index == 0 && right_rank == 2);
  }
  return layout.size.back() == 1 || layout.stride.back() == 1;
}

}  // namespace isomer::cost
