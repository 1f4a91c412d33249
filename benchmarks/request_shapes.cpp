// What creation and deletion cost in kernels of other shapes than one that only creates and one that only deletes: both
// in one kernel, one after the other or by turns, by chance, of several classes, in library loops and in a kernel of
// the user's own with thread blocks of several sizes. Five classes share the heap; objects have 64 or 128 bytes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace request_shapes {

class Base;
class Small;
class First;
class Second;
class Third;
class Large;
using AllocatorT = dynasoar::SoaAllocator<Small, First, Second, Third, Large>;

using Words4 = std::array<std::uint32_t, 4>;

class Base : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Base, (a_, Words4), (b_, Words4), (c_, Words4));
};
class Small : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Small, (d_, Words4));
};
class First : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(First, (d_, Words4));
};
class Second : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Second, (d_, std::uint32_t));
};
class Third : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Third, (d_, Words4), (e_, Words4));
};
class Large : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Large, (d_, Words4), (e_, Words4), (f_, Words4), (g_, Words4), (h_, Words4));
};

/// What all kernels get: a table of pointers, [per_thread * threads].
struct Table {
  Base** objects;
  std::size_t threads;
  std::uint32_t per_thread;
  __device__ Base*& at(std::uint32_t i, std::size_t thread) const { return objects[i * threads + thread]; }
};

struct Create : Table {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < per_thread; ++i) at(i, thread) = dynasoar::make_new<Small>();
  }
};

struct Delete : Table {
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < per_thread; ++i) dynasoar::destroy(static_cast<Small*>(at(i, thread)));
  }
};

struct CreateThenDelete : Table {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < per_thread; ++i) at(i, thread) = dynasoar::make_new<Small>();
    for (std::uint32_t i = 0; i < per_thread; ++i) dynasoar::destroy(static_cast<Small*>(at(i, thread)));
  }
};

struct CreateAndDelete : Table {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < per_thread; ++i) {
      Small* const object = dynasoar::make_new<Small>();
      at(0, thread) = object;
      dynasoar::destroy(object);
    }
  }
};

/// Every second creation is followed by the deletion of the oldest object; the others are deleted at the end.
struct Alternate : Table {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    std::uint32_t oldest = 0;
    for (std::uint32_t i = 0; i < per_thread; ++i) {
      at(i, thread) = dynasoar::make_new<Small>();
      if (i % 2 == 1) dynasoar::destroy(static_cast<Small*>(at(oldest++, thread)));
    }
    while (oldest < per_thread) dynasoar::destroy(static_cast<Small*>(at(oldest++, thread)));
  }
};

/// The lanes of a warp create objects of four classes.
struct CreateThenDeleteMixed : Table {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < per_thread; ++i) {
      switch (thread % 4) {
        case 0: at(i, thread) = dynasoar::make_new<Small>(); break;
        case 1: at(i, thread) = dynasoar::make_new<First>(); break;
        case 2: at(i, thread) = dynasoar::make_new<Second>(); break;
        default: at(i, thread) = dynasoar::make_new<Third>();
      }
    }
    for (std::uint32_t i = 0; i < per_thread; ++i) dynasoar::destroy(at(i, thread));
  }
};

/// Lanes have different numbers of objects: 1 to per_thread.
struct CreateThenDeleteUneven : Table {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    const std::uint32_t own = static_cast<std::uint32_t>(thread * 7 % per_thread) + 1;
    for (std::uint32_t i = 0; i < own; ++i) at(i, thread) = dynasoar::make_new<Small>();
    for (std::uint32_t i = 0; i < own; ++i) dynasoar::destroy(static_cast<Small*>(at(i, thread)));
  }
};

/// At each step, a thread with an object deletes it, and one without creates one, each with a probability of a half.
struct ByChance : Table {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    auto random = static_cast<std::uint32_t>(thread) * 2654435761u + 1;
    Large* mine = nullptr;
    for (std::uint32_t i = 0; i < per_thread; ++i) {
      random = random * 1664525u + 1013904223u;
      if (random >> 31 == 0) continue;
      if (mine == nullptr) {
        mine = dynasoar::make_new<Large>();
      } else {
        dynasoar::destroy(mine);
        mine = nullptr;
      }
    }
    if (mine != nullptr) dynasoar::destroy(mine);
  }
};

#if DYNASOAR_CUDA_BACKEND
template <unsigned kThreads, class F>
__global__ void __launch_bounds__(kThreads) own_kernel(F function) {
  function(blockIdx.x * std::size_t{blockDim.x} + threadIdx.x);
}
#endif

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings)
      : report_(report),
        settings_(settings),
        handle_({.heap_bytes = std::size_t{settings.small ? 64u : 4096u} << 20}) {}

  void run() {
    const std::size_t threads = settings_.small ? 256 : 16384;
    for (const std::uint32_t per_thread :
         settings_.small ? std::vector<std::uint32_t>{16} : std::vector<std::uint32_t>{64, 512}) {
      measure_shape<Create, Delete>("created in a kernel, deleted in the next", threads, per_thread, 1);
      measure_shape<CreateThenDelete>("created, then deleted", threads, per_thread, 1);
      measure_shape<CreateAndDelete>("created and deleted at once", threads, per_thread, 1);
      measure_shape<Alternate>("two created, one deleted", threads, per_thread, 1);
      measure_shape<CreateThenDeleteMixed>("four classes in a warp", threads, per_thread, 1);
      measure_shape<CreateThenDeleteUneven>("unequal numbers", threads, per_thread, 0.5);
    }
    measure_shape<CreateThenDelete>("created, then deleted", threads * 4, 64, 1);
    measure_shape<CreateThenDelete>("created, then deleted", threads * 16, 16, 1);
    for (const std::size_t few : {std::size_t{1024}, std::size_t{65536}}) {
      measure_shape<Create, Delete>("created in a kernel, deleted in the next", settings_.small ? 256 : few, 1, 1);
      measure_shape<CreateThenDelete>("created, then deleted", settings_.small ? 256 : few, 1, 1);
    }
    measure_shape<ByChance>("by chance", settings_.small ? 256 : 65536, 64, 0.25);
#if DYNASOAR_CUDA_BACKEND
    measure_own<64>(threads);
    measure_own<256>(threads);
    measure_own<1024>(threads);
#endif
  }

 private:
  template <class... Fs>
  void measure_shape(const std::string& variant, std::size_t threads, std::uint32_t per_thread, double share) {
    const auto objects = zeros<Base*>(threads * per_thread);
    const auto seconds = measure(
        handle_.executor(), settings_,
        [&] {
          (handle_.parallel_for(threads, Fs{{objects.data(), threads, per_thread}}), ...);
        },
        [] {});
    add(variant, threads, per_thread, 0, seconds, share);
  }

#if DYNASOAR_CUDA_BACKEND
  /// The same in a kernel of the user's own, with thread blocks of kThreads threads. @pre they divide `threads`
  template <unsigned kThreads>
  void measure_own(std::size_t threads) {
    measure_own<kThreads, CreateThenDelete>("own kernel: created, then deleted", threads);
    measure_own<kThreads, CreateAndDelete>("own kernel: created and deleted at once", threads);
  }

  template <unsigned kThreads, class F>
  void measure_own(const std::string& variant, std::size_t threads) {
    constexpr std::uint32_t kPerThread = 64;
    const auto objects = zeros<Base*>(threads * kPerThread);
    handle_.device_pointer();
    const F function{{objects.data(), threads, kPerThread}};
    const auto seconds = measure(
        handle_.executor(), settings_,
        [&] {
          const auto blocks = static_cast<unsigned>(threads / kThreads);
          own_kernel<kThreads><<<blocks, kThreads, 0, handle_.executor().stream()>>>(function);
        },
        [] {});
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("request_shapes: a kernel could not be launched");
    add(variant, threads, kPerThread, kThreads, seconds, 1);
  }
#endif

  void add(const std::string& variant, std::size_t threads, std::uint32_t per_thread, unsigned block,
           const std::vector<double>& seconds, double share) {
    handle_.synchronize();
    if (handle_.count<Base>() != 0) throw std::runtime_error("request_shapes: objects are left after deleting all");
    std::map<std::string, std::int64_t> parameters = {{"threads", static_cast<std::int64_t>(threads)},
                                                      {"objects per thread", per_thread}};
    if (block != 0) parameters["threads of a block"] = block;
    report_.add({"request_shapes", variant, parameters, "creation and deletion", "ns",
                 shares(seconds, static_cast<double>(threads) * per_thread * share, 1e9)});
  }

  Report& report_;
  const Settings& settings_;
  dynasoar::AllocatorHandle<AllocatorT> handle_;
};

}  // namespace request_shapes

void run_request_shapes(Report& report, const Settings& settings) {
  request_shapes::Benchmark(report, settings).run();
}

}  // namespace benchmarks
