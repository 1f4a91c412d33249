/// @file
/// View: consecutive constant elements, like std::span<const T>. Each conversion to a std::span takes about one percent
/// of the time to compile a small program (benchmarks/LOG.md, "what compilers read twice"). For the library's own
/// tables and arguments.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// @pre the elements outlive the view
template <class T>
class View {
 public:
  constexpr View() = default;
  constexpr View(const T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t n>
  constexpr View(const T (&elements)[n]) : data_(elements), size_(n) {}
  template <std::size_t n>
  constexpr View(const std::array<T, n>& elements) : data_(elements.data()), size_(n) {}
  View(const std::vector<T>& elements) : data_(elements.data()), size_(elements.size()) {}

  __host__ __device__ constexpr const T* data() const { return data_; }
  __host__ __device__ constexpr std::size_t size() const { return size_; }
  __host__ __device__ constexpr bool empty() const { return size_ == 0; }
  __host__ __device__ constexpr const T* begin() const { return data_; }
  __host__ __device__ constexpr const T* end() const { return data_ + size_; }
  __host__ __device__ constexpr const T& operator[](std::size_t index) const { return data_[index]; }

  /// @pre count <= size()
  constexpr View first(std::size_t count) const { return {data_, count}; }
  constexpr View without_first(std::size_t count) const { return {data_ + count, size_ - count}; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dynasoar::detail
