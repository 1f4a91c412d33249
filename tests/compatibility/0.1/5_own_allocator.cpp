/// @file
/// An allocator of one's own, for the same classes: chunks of one size, each with a word that says whether it is taken.
///
/// Prints:
///     500 of 1000 are left
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>

using Flag = dynasoar::AtomicWord<std::uint32_t>;

/// What device code calls. Trivial, because it lies in constant memory.
struct ChunkMalloc {
  static constexpr dynasoar::MallocProperties kProperties{"chunks", true, false, false};  // frees
  struct Storage;
  char* memory;
  Flag* taken;
  std::size_t chunk_bytes;
  std::uint32_t chunks;

  __device__ void* malloc(std::size_t bytes, dynasoar::PlatformWarp warp = {}) const {
    if (bytes == 0 || bytes > chunk_bytes) return nullptr;
    for (std::uint32_t i = 0; i < chunks; ++i) {  // from a place of the warp's own
      const std::uint32_t chunk = (warp.id() * 64 + i) % chunks;
      // acquire: what the last owner did to the memory comes before what the next one does.
      if (taken[chunk].exchange(1, dynasoar::Order::acquire) == 0) return memory + chunk * chunk_bytes;
    }
    return nullptr;
  }
  __device__ void free(void* pointer, dynasoar::PlatformWarp = {}) const {
    if (pointer == nullptr) return;
    const auto chunk = static_cast<std::size_t>(static_cast<char*>(pointer) - memory) / chunk_bytes;
    taken[chunk].store(0, dynasoar::Order::release);  // partner of the acquire
  }
  __host__ __device__ std::size_t largest() const { return chunk_bytes; }
};

/// What the host owns.
struct ChunkMalloc::Storage {
  ChunkMalloc device;
  dynasoar::DeviceArray<char> memory;
  dynasoar::DeviceArray<Flag> taken;

  Storage(dynasoar::Executor&, const dynasoar::MallocNeeds& needs) {
    device.chunk_bytes = (needs.largest_request + 15) / 16 * 16;
    device.chunks = static_cast<std::uint32_t>(needs.heap_bytes / device.chunk_bytes);
    memory = dynasoar::DeviceArray<char>(device.chunks * device.chunk_bytes);
    device.memory = memory.data();
    taken = dynasoar::DeviceArray<Flag>(device.chunks);
    taken.fill_bytes(0);
    device.taken = taken.data();
  }
  ChunkMalloc view() const { return device; }
  std::size_t heap_bytes() const { return memory.bytes(); }
  std::size_t state_bytes() const { return taken.bytes(); }
};
static_assert(dynasoar::DeviceMalloc<ChunkMalloc>);

class Ant;
using AllocatorT = dynasoar::AosAllocator<ChunkMalloc, Ant>;  // the only line of a program that changes
class Ant : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Ant, (number_, std::size_t));
  __device__ explicit Ant(std::size_t index) : number_(index) {}
  __device__ void leave_if_odd() {
    if (number_ % 2 == 1) dynasoar::destroy(this);
  }
};

int main() {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = 1 << 20});
  handle.parallel_new<Ant>(1000);
  handle.parallel_do<&Ant::leave_if_odd>();
  std::printf("%d of 1000 are left\n", static_cast<int>(handle.count<Ant>()));
}
