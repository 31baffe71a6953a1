// Memory that only grows: aligned for vectors, zero at first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace sieve {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { grow(size); }

  /// Room for `size` values. What was there stays; a reader may look a vector beyond the end.
  T* grow(std::size_t size) {
    if (size > size_) {
      const std::size_t wanted = std::max(size, size_ + size_ / 2);
      std::unique_ptr<T[], Free> larger(allocate(wanted + kSlack));
      std::memset(static_cast<void*>(larger.get()), 0, (wanted + kSlack) * sizeof(T));
      if (size_ != 0) {
        std::memcpy(static_cast<void*>(larger.get()), data_.get(), size_ * sizeof(T));
      }
      data_ = std::move(larger);
      size_ = wanted;
    }
    return data_.get();
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kSlack = 64;

  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }
  };

  static T* allocate(std::size_t size) {
    if (size > static_cast<std::size_t>(-1) / 2 / sizeof(T)) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{kAlignment}));
  }

  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace sieve
