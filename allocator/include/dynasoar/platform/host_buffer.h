/// @file
/// HostBuffer: host memory that a device copies to and from at full speed, and the copies. Used for checkpoints.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Bytes of the host's memory, not initialized; on a GPU's host they are pinned.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// @throws Error if there is no memory
  explicit HostBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
#if DYNASOAR_CUDA_BACKEND
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    data_ = static_cast<char*>(memory);
#else
    data_ = static_cast<char*>(std::malloc(bytes));
    if (data_ == nullptr) throw Error("dynasoar: there is no memory left for a buffer");
#endif
  }
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HostBuffer() {
#if DYNASOAR_CUDA_BACKEND
    static_cast<void>(cudaFreeHost(data_));
#else
    std::free(data_);
#endif
  }

  char* data() const {
    return data_;
  }
  std::size_t bytes() const {
    return bytes_;
  }

 private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Copies between host and device in the executor's order; on a GPU the host does not wait.
inline void submit_copy([[maybe_unused]] Executor& executor, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, executor.stream()), "cudaMemcpyAsync");
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace dynasoar::detail
