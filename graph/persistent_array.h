// A sparse array that is copied by copying one pointer. Two copies share what
// neither has changed: setting an element copies the few tree nodes on its
// path, and not even those if nobody else holds them. This is what makes a
// graph cheap to copy for a rewrite that may be thrown away.
#ifndef ISOMER_GRAPH_PERSISTENT_ARRAY_H_
#define ISOMER_GRAPH_PERSISTENT_ARRAY_H_

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace isomer::ir {

// Elements have indices in [0, kCapacity) and start out as T().
template <class T>
class PersistentArray {
 public:
  static constexpr int64_t kCapacity = int64_t{1} << 25;

  // The element at `i`, or null if it was never set.
  const T* Find(int64_t i) const {
    const Base* b = root_.get();
    for (int shift = kTopShift; shift > 0; shift -= kBits) {
      if (b == nullptr) return nullptr;
      b = static_cast<const Branch*>(b)->child[(i >> shift) & kMask].get();
    }
    return b == nullptr ? nullptr
                        : &static_cast<const Leaf*>(b)->item[i & kMask];
  }

  // The element at `i`, for writing: this copy alone will see the change.
  T& Edit(int64_t i) {
    Branch* b = Own<Branch>(root_);
    for (int shift = kTopShift; shift > kBits; shift -= kBits) {
      b = Own<Branch>(b->child[(i >> shift) & kMask]);
    }
    return Own<Leaf>(b->child[(i >> kBits) & kMask])->item[i & kMask];
  }

 private:
  static constexpr int kBits = 5;
  static constexpr int kWidth = 1 << kBits;
  static constexpr int64_t kMask = kWidth - 1;
  static constexpr int kTopShift = 20;  // five levels

  struct Base {
    virtual ~Base() = default;
  };
  struct Branch : Base {
    std::array<std::shared_ptr<Base>, kWidth> child;
  };
  struct Leaf : Base {
    std::array<T, kWidth> item;
  };

  // The node of type N that `slot` holds, made or copied so that it is ours.
  template <class N, class P>
  static N* Own(std::shared_ptr<P>& slot) {
    if (slot == nullptr) {
      slot = std::make_shared<N>();
    } else if (slot.use_count() > 1) {
      slot = std::make_shared<N>(static_cast<const N&>(*slot));
    }
    return static_cast<N*>(slot.get());
  }

  std::shared_ptr<Branch> root_;
};

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_PERSISTENT_ARRAY_H_
