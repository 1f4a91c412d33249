/// @file
/// DeviceArray: an owning array in the memory of the device that runs parallel loops. MailedWords: host memory to which
/// loops write. Copies between host and device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

namespace detail {

/// Copies device memory to the host. Waits for the device.
void copy_from_device(void* to, const void* from, std::size_t bytes);

/// Copies host memory to the device. Waits for the device.
void copy_to_device(void* to, const void* from, std::size_t bytes);

/// Device memory, aligned to 256 bytes; null for 0 bytes. @throws Error if there is not enough
void* allocate_device_memory(std::size_t count, std::size_t element_bytes);
void free_device_memory(void* memory) noexcept;

/// Sets every byte to `value`.
void fill_device_memory(void* memory, unsigned char value, std::size_t bytes);

[[noreturn]] void throw_upload_too_large();

/// @param pointer   the bits of argument `number` of a loop: a pointer to memory, or to an object
/// @throws Error if it points to memory of the host that a GPU cannot read
void check_reachable(std::uint64_t pointer, int number);

}  // namespace detail

/// An array of `size` elements in the memory of the device, not initialized.
///
/// @tparam T   trivially copyable
/// @throws Error if there is not enough memory, on construction and on copies that fail
/// @par Concurrency   copies wait for the device, so use them for set-up and results only
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "dynasoar: DeviceArray<T> needs a trivially copyable T");

 public:
  DeviceArray() = default;

  explicit DeviceArray(std::size_t size)
      : data_(static_cast<T*>(detail::allocate_device_memory(size, sizeof(T)))), size_(size) {}

  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~DeviceArray() { detail::free_device_memory(data_); }

  /// Address in device memory; null if the array is empty.
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  // Like data(), the functions that change elements are const: a const array can be written by loops, too.

  /// Sets every byte to `value`.
  void fill_bytes(unsigned char value) const { detail::fill_device_memory(data_, value, bytes()); }

  /// Copies `values` to the start of the array. @pre values.size() <= size()
  void upload(const std::vector<T>& values) const {
    if (values.size() > size_) detail::throw_upload_too_large();
    if (!values.empty()) detail::copy_to_device(static_cast<void*>(data_), values.data(), values.size() * sizeof(T));
  }

  /// A copy of the array in host memory.
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ > 0) detail::copy_from_device(static_cast<void*>(values.data()), data_, bytes());
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Words in the host's memory that device code writes and the host reads without waiting; initially zero.
///
/// @throws Error if there is no memory for them
class MailedWords {
 public:
  explicit MailedWords(std::size_t size);
  MailedWords(const MailedWords&) = delete;
  MailedWords& operator=(const MailedWords&) = delete;
  ~MailedWords();

  /// For device code, which must call `mail_fence` between writes of words that must arrive in order.
  volatile std::uint64_t* data() const { return words_; }

  /// The last value that has arrived.
  std::uint64_t operator[](std::size_t index) const { return words_[index]; }

 private:
  volatile std::uint64_t* words_;
};

/// Words that are written before this call arrive at the host before words that are written after it.
__device__ inline void mail_fence() {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
#endif  // host code reads the words when the loop has ended
}

}  // namespace dynasoar
