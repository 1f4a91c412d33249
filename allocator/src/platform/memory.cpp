#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace dynasoar {

namespace detail {

namespace {

constexpr std::size_t kAlignment = 256;  // of a GPU's memory, so that both backends have one layout

[[noreturn]] void throw_out_of_memory(std::size_t count, std::size_t element_bytes) {
  throw Error("dynasoar: the device has no memory left for " + std::to_string(count) + " elements of " +
              std::to_string(element_bytes) + " bytes; ask for a smaller heap or free device memory");
}

}  // namespace

void copy_from_device(void* to, const void* from, std::size_t bytes) {
  Executor::check_may_submit();
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
#else
  if (bytes > 0) std::memcpy(to, from, bytes);  // otherwise they may be null
#endif
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  Executor::check_may_submit();
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
#else
  if (bytes > 0) std::memcpy(to, from, bytes);  // otherwise they may be null
#endif
}

void* allocate_device_memory(std::size_t count, std::size_t element_bytes) {
  if (count == 0) return nullptr;
  Executor::check_may_submit();
  if (count > (std::numeric_limits<std::size_t>::max() - kAlignment) / element_bytes)
    throw_out_of_memory(count, element_bytes);
  const std::size_t bytes = count * element_bytes;
  void* memory = nullptr;
#if DYNASOAR_CUDA_BACKEND
  if (const cudaError_t code = cudaMalloc(&memory, bytes); code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // not sticky: clear it, because the exception carries it
    throw_out_of_memory(count, element_bytes);
  } else {
    check_cuda(code, "cudaMalloc");
  }
#else
  memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) throw_out_of_memory(count, element_bytes);
#endif
  return memory;
}

void free_device_memory(void* memory) noexcept {
#if DYNASOAR_CUDA_BACKEND
  if (device_is_out_of_reach()) return;
  static_cast<void>(cudaFree(memory));
#else
  std::free(memory);
#endif
}

void fill_device_memory(void* memory, unsigned char value, std::size_t bytes) {
  Executor::check_may_submit();
  if (bytes == 0) return;
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemset(memory, value, bytes), "cudaMemset");
#else
  std::memset(memory, value, bytes);
#endif
}

#if DYNASOAR_CUDA_BACKEND

namespace {

/// Whether CUDA knows the memory at this address.
bool is_known(std::uint64_t address) {
  cudaPointerAttributes attributes{};
  check_cuda(cudaPointerGetAttributes(&attributes, reinterpret_cast<const void*>(address)), "cudaPointerGetAttributes");
  return attributes.type != cudaMemoryTypeUnregistered;
}

/// Whether the device can read all memory of the host, so that loops may have pointers to it.
bool reads_host_memory() {
  int device = 0;
  int reads = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&reads, cudaDevAttrPageableMemoryAccess, device), "cudaDeviceGetAttribute");
  return reads != 0;
}

}  // namespace

#endif

void check_reachable([[maybe_unused]] std::uint64_t pointer, [[maybe_unused]] int number) {
#if DYNASOAR_CUDA_BACKEND
  const bool is_object = pointer >> 56 != 0;  // no address has these bits
  // The end of an array may be an address outside of all memory; the address before it belongs to the array.
  if (pointer == 0 || is_object || is_known(pointer) || is_known(pointer - 1) || reads_host_memory()) return;
  throw Error("dynasoar: argument " + std::to_string(number) +
              " of a loop points to memory of the host, or memory that was freed, which the GPU cannot use: put the "
              "values into a DeviceArray and pass its data(), or pass them by value");
#endif
}

void throw_upload_too_large() {
  throw Error("dynasoar: DeviceArray::upload of more elements than the array has");
}

}  // namespace detail

#if DYNASOAR_CUDA_BACKEND

MailedWords::MailedWords(std::size_t size) : words_(nullptr) {
  void* memory = nullptr;
  detail::check_cuda(cudaMallocHost(&memory, size * sizeof(std::uint64_t)), "cudaMallocHost");
  words_ = static_cast<volatile std::uint64_t*>(memory);
  for (std::size_t i = 0; i < size; ++i) words_[i] = 0;
}
MailedWords::~MailedWords() {
  if (detail::device_is_out_of_reach()) return;
  static_cast<void>(cudaFreeHost(const_cast<std::uint64_t*>(words_)));
}

#else

MailedWords::MailedWords(std::size_t size) : words_(new volatile std::uint64_t[size]) {
  for (std::size_t i = 0; i < size; ++i) words_[i] = 0;
}
MailedWords::~MailedWords() {
  delete[] words_;
}

#endif

}  // namespace dynasoar
