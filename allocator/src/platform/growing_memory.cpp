#include <dynasoar/platform/growing_memory.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory_limits.h>

#if DYNASOAR_CUDA_BACKEND
#include <cuda.h>
#include <cudaTypedefs.h>
#else
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#endif

namespace dynasoar::detail {

namespace {

/// Throws the error for a heap that has no memory to grow.
[[noreturn]] void throw_no_memory(std::size_t bytes, const char* call) {
  throw Error("dynasoar: there are no " + std::to_string(bytes) + " bytes of memory left for the heap to grow (" +
              call + "); delete objects, set heap_limit_bytes to what there is, or free memory elsewhere");
}

#if DYNASOAR_CUDA_BACKEND

/// The driver's calls for virtual memory, found at run time, so that no program has to link the driver's library.
class VirtualMemory {
 public:
  /// The calls, found once per process. @throws Error if the driver lacks one
  static const VirtualMemory& get() {
    static const VirtualMemory calls;
    return calls;
  }

  std::size_t granularity() const { return granularity_; }

  CUdeviceptr reserve(std::size_t bytes) const {
    CUdeviceptr address = 0;
    check(reserve_(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
    return address;
  }
  void free(CUdeviceptr address, std::size_t bytes) const { static_cast<void>(free_(address, bytes)); }

  /// Maps memory to reserved addresses. Kernels may run. @throws Error if there is no memory; nothing has changed then
  void map(CUdeviceptr address, std::size_t bytes) const {
    CUmemGenericAllocationHandle memory{};
    if (const CUresult code = create_(&memory, bytes, &properties_, 0); code == CUDA_ERROR_OUT_OF_MEMORY) {
      throw_no_memory(bytes, "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY");
    } else {
      check(code, "cuMemCreate");
    }
    CUresult code = map_(address, bytes, 0, memory, 0);
    static_cast<void>(release_(memory));  // the mapping keeps it
    check(code, "cuMemMap");
    const CUmemAccessDesc access{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    code = set_access_(address, bytes, &access, 1);
    if (code != CUDA_SUCCESS) unmap(address, bytes);
    check(code, "cuMemSetAccess");
  }

  /// @pre mapped as a whole, and no kernel uses it
  void unmap(CUdeviceptr address, std::size_t bytes) const { static_cast<void>(unmap_(address, bytes)); }

 private:
  VirtualMemory() {
    find(reserve_, "cuMemAddressReserve");
    find(free_, "cuMemAddressFree");
    find(create_, "cuMemCreate");
    find(release_, "cuMemRelease");
    find(map_, "cuMemMap");
    find(unmap_, "cuMemUnmap");
    find(set_access_, "cuMemSetAccess");
    PFN_cuMemGetAllocationGranularity_v10020 get_granularity = nullptr;
    find(get_granularity, "cuMemGetAllocationGranularity");
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = device;
    check(get_granularity(&granularity_, &properties_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
          "cuMemGetAllocationGranularity");
  }

  template <class Call>
  static void find(Call& call, const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    check_cuda(cudaGetDriverEntryPointByVersion(name, &found, 10020, cudaEnableDefault, &result),
               "cudaGetDriverEntryPointByVersion");
#else
    check_cuda(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result), "cudaGetDriverEntryPoint");
#endif
    if (result != cudaDriverEntryPointSuccess) {
      throw Error(std::string("dynasoar: the driver has no ") + name + kFixedInstead);
    }
    call = reinterpret_cast<Call>(found);
  }

  static void check(CUresult code, const char* call) {
    if (code == CUDA_SUCCESS) return;
    throw Error(std::string("dynasoar: ") + call + " failed with code " + std::to_string(static_cast<int>(code)) +
                kFixedInstead);
  }

  static constexpr const char* kFixedInstead =
      "; if heaps cannot grow on this device, give heap_bytes and no heap_limit_bytes";

  PFN_cuMemAddressReserve_v10020 reserve_ = nullptr;
  PFN_cuMemAddressFree_v10020 free_ = nullptr;
  PFN_cuMemCreate_v10020 create_ = nullptr;
  PFN_cuMemRelease_v10020 release_ = nullptr;
  PFN_cuMemMap_v10020 map_ = nullptr;
  PFN_cuMemUnmap_v10020 unmap_ = nullptr;
  PFN_cuMemSetAccess_v10020 set_access_ = nullptr;
  CUmemAllocationProp properties_{};
  std::size_t granularity_ = 0;
};

CUdeviceptr as_address(char* memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

#else

/// The system's calls for virtual memory.
class VirtualMemory {
 public:
  static const VirtualMemory& get() {
    static const VirtualMemory calls;
    return calls;
  }

  std::size_t granularity() const { return granularity_; }

  char* reserve(std::size_t bytes) const {
    void* const address = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
      throw Error("dynasoar: mmap of " + std::to_string(bytes) + " bytes of addresses failed: " + std::strerror(errno) +
                  "; set a smaller heap_limit_bytes, or give heap_bytes alone");
    }
    return static_cast<char*>(address);
  }
  void free(char* address, std::size_t bytes) const { static_cast<void>(munmap(address, bytes)); }

  /// Maps zeroed memory to reserved addresses. @throws Error if the system has no memory; nothing has changed then
  void map(char* address, std::size_t bytes) const {
    if (mprotect(address, bytes, PROT_READ | PROT_WRITE) != 0) {
      throw_no_memory(bytes, (std::string("mprotect: ") + std::strerror(errno)).c_str());
    }
  }

  void unmap(char* address, std::size_t bytes) const {
    static_cast<void>(mprotect(address, bytes, PROT_NONE));
    static_cast<void>(madvise(address, bytes, MADV_DONTNEED));
  }

 private:
  VirtualMemory() : granularity_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {}
  std::size_t granularity_;
};

char* as_address(char* memory) {
  return memory;
}

#endif

}  // namespace

#if DYNASOAR_CUDA_BACKEND

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  int device = 0;
  int is_integrated = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&is_integrated, cudaDevAttrIntegrated, device), "cudaDeviceGetAttribute");
  return device_memory_left(free, is_integrated != 0);
}

#else

std::size_t free_memory() {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return device_memory_left(pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), true);
}

#endif

GrowingMemory::GrowingMemory(std::size_t limit, std::size_t tail, bool grows) {
  if (!grows) {
    whole_ = DeviceArray<char>(limit);
    address_ = whole_.data();
    return;
  }
  const VirtualMemory& calls = VirtualMemory::get();
  const std::size_t unit = calls.granularity();
  reserved_ = (limit + unit - 1) / unit * unit;
  tail_begin_ = tail == 0 ? reserved_ : (limit - tail) / unit * unit;
  address_ = reinterpret_cast<char*>(calls.reserve(reserved_));
  try {
    if (tail_begin_ < reserved_) map(tail_begin_, reserved_);
  } catch (...) {
    free();
    throw;
  }
}

GrowingMemory& GrowingMemory::operator=(GrowingMemory&& other) noexcept {
  std::swap(whole_, other.whole_);
  std::swap(address_, other.address_);
  std::swap(reserved_, other.reserved_);
  std::swap(tail_begin_, other.tail_begin_);
  std::swap(committed_, other.committed_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

void GrowingMemory::commit(std::size_t bytes) {
  if (reserved_ == 0) return;
  const std::size_t unit = VirtualMemory::get().granularity();
  const std::size_t end = std::min((bytes + unit - 1) / unit * unit, tail_begin_);
  if (end <= committed_) return;
  map(committed_, end);
  committed_ = end;
}

void GrowingMemory::take_back(std::size_t bytes) {
  if (reserved_ == 0 || mapped_.empty()) return;
  const Mapped last = mapped_.back();
  if (last.begin == tail_begin_ || last.begin < bytes) return;
  VirtualMemory::get().unmap(as_address(address_ + last.begin), last.end - last.begin);
  committed_ = last.begin;
  mapped_.pop_back();
}

void GrowingMemory::map(std::size_t begin, std::size_t end) {
  mapped_.reserve(mapped_.size() + 1);
  VirtualMemory::get().map(as_address(address_ + begin), end - begin);
  mapped_.push_back({begin, end});
}

void GrowingMemory::free() noexcept {
  if (reserved_ == 0) return;
#if DYNASOAR_CUDA_BACKEND
  if (device_is_out_of_reach()) return;
  static_cast<void>(cudaDeviceSynchronize());  // like cudaFree
#endif
  for (const Mapped& piece : mapped_)
    VirtualMemory::get().unmap(as_address(address_ + piece.begin), piece.end - piece.begin);
  VirtualMemory::get().free(as_address(address_), reserved_);
  reserved_ = 0;
}

}  // namespace dynasoar::detail
