// What pages and blocks cost where the classes of a list have very different sizes: the share of a heap that objects of
// each class can fill, and the speed of a loop over the larger class; beside the paper's scheme (DynaSOAr, section 3,
// "Block Size"): blocks of equal bytes, 64 slots for the smallest class, packed arrays.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace geometry {

constexpr float kDt = 0.1f;

// Two classes of kSmall and kLarge floats, and bytes of which the small one has kBytes beside its floats.
template <std::size_t kSmall, std::size_t kBytes, std::size_t kLarge>
struct List {
  class Small;
  class Large;
  using AllocatorT = dynasoar::SoaAllocator<Small, Large>;

  class Small : public dynasoar::SoaBase<AllocatorT> {
   public:
    using Floats = std::array<float, kSmall>;
    using Bytes = std::array<std::uint8_t, kBytes>;
    DYNASOAR_FIELDS(Small, (values_, Floats), (flags_, Bytes));
    __device__ explicit Small(std::size_t) { values_[0] = 1; }
    __device__ void die() { dynasoar::destroy(this); }
  };
  class Large : public dynasoar::SoaBase<AllocatorT> {
   public:
    using Floats = std::array<float, kLarge>;
    DYNASOAR_FIELDS(Large, (values_, Floats));
    __device__ explicit Large(std::size_t) {
      for (std::size_t i = 0; i < 4; ++i) values_[i] = 1;
    }
    __device__ void move(float dt) {
      values_[0] += values_[2] * dt;
      values_[1] += values_[3] * dt;
    }
    __device__ void die() { dynasoar::destroy(this); }
  };

  static constexpr std::size_t kSmallBytes = 4 * kSmall + kBytes;
  static constexpr std::size_t kLargeBytes = 4 * kLarge;
};

/// The same loop over objects as the paper lays them out, in blocks of 64 small objects' bytes. (Without the header
/// that the paper's blocks have.)
template <std::size_t kSmallBytes, std::size_t kLargeBytes>
struct MoveInPackedBlocks {
  static constexpr std::size_t kBlockBytes = 64 * kSmallBytes;
  static constexpr std::size_t kSlots = kBlockBytes / kLargeBytes;
  char* heap;
  __device__ void operator()(std::size_t i) const {
    auto* const values = reinterpret_cast<float*>(heap + i / kSlots * kBlockBytes) + i % kSlots;
    const float x = values[0] + values[2 * kSlots] * kDt;
    const float y = values[kSlots] + values[3 * kSlots] * kDt;
    values[0] = x;
    values[kSlots] = y;
  }
};

/// Fills the heap with objects of T, twice. @return the share of its bytes that hold values
template <class T, class Handle>
double filled(Handle& handle, std::size_t bytes_per_object) {
  const std::size_t most = handle.statistics().heap_bytes / bytes_per_object + 64;
  double share = 0;
  for (int round = 0; round < 2; ++round) {
    handle.template parallel_new<T>(most);
    share = static_cast<double>(handle.template count<T>() * bytes_per_object) /
            static_cast<double>(handle.statistics().heap_bytes);
    handle.template parallel_do<T, &T::die>();
  }
  return share;
}

template <class L>
void compare(Report& report, const Settings& settings) {
  using Small = typename L::Small;
  using Large = typename L::Large;
  const std::string list = std::to_string(L::kSmallBytes) + " and " + std::to_string(L::kLargeBytes) + " bytes";
  const std::size_t heap_bytes = std::size_t{settings.small ? 16u : 2048u} << 20;
  const decltype(Record::parameters) heap{{"MiB", static_cast<std::int64_t>(heap_bytes >> 20)}};
  const auto add_share = [&](const std::string& what, double share) {
    report.add({"geometry", list + ", " + what, heap, "heap that objects can fill", "%", {100 * share}});
  };
  const std::size_t objects = heap_bytes / L::kLargeBytes / 4;
  const auto add_loop = [&](const std::string& what, std::vector<double> seconds) {
    report.add({"geometry", list + ", " + what, heap, "useful bandwidth of a loop", "TB/s",
                rates(std::move(seconds), static_cast<double>(objects) * 6 * sizeof(float), 1e-12)});
  };
  {
    dynasoar::AllocatorHandle<typename L::AllocatorT> handle(
        {.heap_bytes = heap_bytes, .on_refusal = dynasoar::OnRefusal::record});
    add_share("small objects", filled<Small>(handle, L::kSmallBytes));
    add_share("large objects", filled<Large>(handle, L::kLargeBytes));
    handle.template parallel_new<Large>(objects);
    add_loop("large objects",
             measure(
                 handle.executor(), settings, [&] { handle.template parallel_do<Large, &Large::move>(kDt); }, [] {}));
  }
  using Packed = MoveInPackedBlocks<L::kSmallBytes, L::kLargeBytes>;
  if constexpr (Packed::kSlots > 0) {
    add_share("the paper's blocks, large objects",
              static_cast<double>(Packed::kSlots * L::kLargeBytes) / static_cast<double>(Packed::kBlockBytes));
    dynasoar::Executor executor;
    dynasoar::DeviceArray<char> heap((objects / Packed::kSlots + 1) * Packed::kBlockBytes);
    heap.fill_bytes(0);
    add_loop("the paper's blocks, large objects",
             measure(
                 executor, settings, [&] { executor.for_each_index(objects, Packed{heap.data()}); }, [] {}));
  }
}

}  // namespace geometry

void run_geometry(Report& report, const Settings& settings) {
  geometry::compare<geometry::List<1, 0, 100>>(report, settings);  // the paper's blocks cannot hold the large ones
  geometry::compare<geometry::List<1, 0, 128>>(report, settings);
  geometry::compare<geometry::List<4, 0, 7>>(report, settings);
  geometry::compare<geometry::List<2, 1, 25>>(report, settings);
  geometry::compare<geometry::List<3, 4, 9>>(report, settings);
}

}  // namespace benchmarks
