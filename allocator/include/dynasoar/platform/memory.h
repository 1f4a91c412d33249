/// @file
/// Device memory: an owning array that lives where the parallel loops run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

namespace detail {

/// Copies device memory to the host. Waits for the device.
inline void copy_from_device(void* to, const void* from, std::size_t bytes) {
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
#else
  if (bytes > 0) std::memcpy(to, from, bytes);  // else they may be null
#endif
}

/// Copies host memory to the device. Waits for the device.
inline void copy_to_device(void* to, const void* from, std::size_t bytes) {
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
#else
  if (bytes > 0) std::memcpy(to, from, bytes);  // else they may be null
#endif
}

}  // namespace detail

/// An array of `size` elements in the memory of the device, not initialized.
///
/// @tparam T   trivially copyable
/// @throws Error if there is not enough memory, on construction and on copies that fail
/// @par Concurrency   copies wait for the device; they are for set-up and results, not for loops
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "dynasoar: DeviceArray<T> needs a trivially copyable T");

 public:
  DeviceArray() = default;

  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    if (size > (std::numeric_limits<std::size_t>::max() - kAlignment) / sizeof(T)) throw_out_of_memory(0);
#if DYNASOAR_CUDA_BACKEND
    void* memory = nullptr;
    if (const cudaError_t code = cudaMalloc(&memory, bytes()); code == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());  // not sticky: forget it, the exception carries it
      throw_out_of_memory(bytes());
    } else {
      detail::check_cuda(code, "cudaMalloc");
    }
    data_ = static_cast<T*>(memory);
#else
    // Aligned to a GPU's cache line, so that both backends have one layout.
    data_ = static_cast<T*>(std::aligned_alloc(kAlignment, (bytes() + kAlignment - 1) / kAlignment * kAlignment));
    if (data_ == nullptr) throw_out_of_memory(bytes());
#endif
  }

  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~DeviceArray() {
#if DYNASOAR_CUDA_BACKEND
    static_cast<void>(cudaFree(data_));
#else
    std::free(data_);
#endif
  }

  /// Address in device memory; null if the array is empty.
  T* data() const {
    return data_;
  }
  std::size_t size() const {
    return size_;
  }
  std::size_t bytes() const {
    return size_ * sizeof(T);
  }

  /// Sets every byte to `value`.
  void fill_bytes(unsigned char value) {
    if (size_ == 0) return;
#if DYNASOAR_CUDA_BACKEND
    detail::check_cuda(cudaMemset(data_, value, bytes()), "cudaMemset");
#else
    std::memset(static_cast<void*>(data_), value, bytes());
#endif
  }

  /// Copies `values` to the start of the array. @pre values.size() <= size()
  void upload(const std::vector<T>& values) {
    if (values.size() > size_) throw Error("dynasoar: DeviceArray::upload of more elements than the array has");
    if (values.empty()) return;
#if DYNASOAR_CUDA_BACKEND
    detail::check_cuda(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
                       "cudaMemcpy");
#else
    std::memcpy(static_cast<void*>(data_), values.data(), values.size() * sizeof(T));
#endif
  }

  /// A copy of the array in host memory.
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ > 0) detail::copy_from_device(static_cast<void*>(values.data()), data_, bytes());
    return values;
  }

 private:
  static constexpr std::size_t kAlignment = 256;

  [[noreturn]] static void throw_out_of_memory(std::size_t bytes) {
    throw Error("dynasoar: the device has no " + std::to_string(bytes) +
                " bytes of memory left; ask for a smaller heap or free device memory");
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Words in the host's memory that device code writes and the host reads without waiting; zero at first.
///
/// @throws Error if there is no memory for them
class MailedWords {
 public:
  explicit MailedWords(std::size_t size) : words_(allocate(size)) {
    for (std::size_t i = 0; i < size; ++i) words_[i] = 0;
  }
  MailedWords(const MailedWords&) = delete;
  MailedWords& operator=(const MailedWords&) = delete;
#if DYNASOAR_CUDA_BACKEND
  ~MailedWords() {
    static_cast<void>(cudaFreeHost(const_cast<std::uint64_t*>(words_)));
  }
#else
  ~MailedWords() {
    delete[] words_;
  }
#endif

  /// For device code, which puts `mail_fence` between words that must arrive in order.
  volatile std::uint64_t* data() const {
    return words_;
  }

  /// What has arrived.
  std::uint64_t operator[](std::size_t index) const {
    return words_[index];
  }

 private:
  static volatile std::uint64_t* allocate(std::size_t size) {
#if DYNASOAR_CUDA_BACKEND
    void* memory = nullptr;
    detail::check_cuda(cudaMallocHost(&memory, size * sizeof(std::uint64_t)), "cudaMallocHost");
    return static_cast<volatile std::uint64_t*>(memory);
#else
    return new volatile std::uint64_t[size];
#endif
  }

  volatile std::uint64_t* words_;
};

/// Words written before it arrive at the host before those written after it.
__device__ inline void mail_fence() {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
#endif  // host code reads its mail when the loop has ended
}

}  // namespace dynasoar
