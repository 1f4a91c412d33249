#include <dynasoar/platform/memory.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace dynasoar {

namespace detail {

namespace {

constexpr std::size_t kAlignment = 256;  // of a GPU's memory, so that both backends have one layout

[[noreturn]] void throw_out_of_memory(std::size_t bytes) {
  throw Error("dynasoar: the device has no " + std::to_string(bytes) +
              " bytes of memory left; ask for a smaller heap or free device memory");
}

}  // namespace

void copy_from_device(void* to, const void* from, std::size_t bytes) {
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
#else
  if (bytes > 0) std::memcpy(to, from, bytes);  // else they may be null
#endif
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
#else
  if (bytes > 0) std::memcpy(to, from, bytes);  // else they may be null
#endif
}

void* allocate_device_memory(std::size_t count, std::size_t element_bytes) {
  if (count == 0) return nullptr;
  if (count > (std::numeric_limits<std::size_t>::max() - kAlignment) / element_bytes) throw_out_of_memory(0);
  const std::size_t bytes = count * element_bytes;
  void* memory = nullptr;
#if DYNASOAR_CUDA_BACKEND
  if (const cudaError_t code = cudaMalloc(&memory, bytes); code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // not sticky: forget it, the exception carries it
    throw_out_of_memory(bytes);
  } else {
    check_cuda(code, "cudaMalloc");
  }
#else
  memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) throw_out_of_memory(bytes);
#endif
  return memory;
}

void free_device_memory(void* memory) noexcept {
#if DYNASOAR_CUDA_BACKEND
  static_cast<void>(cudaFree(memory));
#else
  std::free(memory);
#endif
}

void fill_device_memory(void* memory, unsigned char value, std::size_t bytes) {
  if (bytes == 0) return;
#if DYNASOAR_CUDA_BACKEND
  check_cuda(cudaMemset(memory, value, bytes), "cudaMemset");
#else
  std::memset(memory, value, bytes);
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
