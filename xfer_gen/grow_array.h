// An array that grows in place where the system can move pages instead of
// copying them, so that a large one is never held twice.
#ifndef ISOMER_XFER_GEN_GROW_ARRAY_H_
#define ISOMER_XFER_GEN_GROW_ARRAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "ops/status.h"

namespace isomer::gen {

template <class T>
class GrowArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }

  void push_back(const T& value) {
    const T copy = value;  // it may lie in the array
    resize(size_ + 1);
    data_.get()[size_ - 1] = copy;
  }
  // New elements are as T's constructor makes them.
  void resize(size_t size) {
    if (size > capacity_) Grow(size);
    if (size > size_) std::uninitialized_fill(end(), begin() + size, T());
    size_ = size;
  }
  void clear() {
    data_.reset();
    size_ = capacity_ = 0;
  }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  void Grow(size_t size) {
    capacity_ = std::max(size, 2 * capacity_);
    T* grown =
        static_cast<T*>(std::realloc(data_.release(), capacity_ * sizeof(T)));
    Check(grown != nullptr, "no memory for an array");
    data_.reset(grown);
  }

  std::unique_ptr<T, Free> data_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GROW_ARRAY_H_
