// A first-in first-out queue that grows by doubling and otherwise allocates nothing.
#pragma once

#include <cstddef>
#include <vector>

namespace foretrace::support {

template <typename T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const T& front() const { return data_[head_]; }
  const T& operator[](std::size_t i) const { return data_[(head_ + i) & (data_.size() - 1)]; }
  void clear() { head_ = size_ = 0; }
  T& front() { return data_[head_]; }
  void push(const T& value) {
    if (size_ == data_.size()) grow();
    data_[(head_ + size_++) & (data_.size() - 1)] = value;
  }
  T pop() {
    const T value = data_[head_];
    head_ = (head_ + 1) & (data_.size() - 1);
    --size_;
    return value;
  }

 private:
  void grow() {
    std::vector<T> larger(data_.empty() ? 16 : 2 * data_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = data_[(head_ + i) & (data_.size() - 1)];
    data_.swap(larger);
    head_ = 0;
  }
  std::vector<T> data_;  // a power of two of them
  std::size_t head_ = 0, size_ = 0;
};

}  // namespace foretrace::support
