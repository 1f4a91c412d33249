// What creation and deletion cost in kernels of other shapes than one that only creates and one that only deletes: both
// in one kernel, one after the other or by turns, by chance, of several classes, in library loops and in a kernel of
// the user's own with thread blocks of several sizes; in heaps of one class, of two classes with blocks of different
// sizes, and of five.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace request_shapes {

/// The classes that share a heap.
enum class Classes {
  small,  ///< one of 64 bytes
  large,  ///< one of 128 bytes
  two,    ///< both
  five,   ///< and three more
};

template <Classes kClasses>
class Base;
template <Classes kClasses>
class Small;
template <Classes kClasses>
class First;
template <Classes kClasses>
class Second;
template <Classes kClasses>
class Third;
template <Classes kClasses>
class Large;

template <Classes kClasses>
struct Heap;
template <>
struct Heap<Classes::small> {
  using AllocatorT = dynasoar::SoaAllocator<Small<Classes::small>>;
};
template <>
struct Heap<Classes::large> {
  using AllocatorT = dynasoar::SoaAllocator<Large<Classes::large>>;
};
template <>
struct Heap<Classes::two> {
  using AllocatorT = dynasoar::SoaAllocator<Small<Classes::two>, Large<Classes::two>>;
};
template <>
struct Heap<Classes::five> {
  template <template <Classes> class... Cs>
  using Of = dynasoar::SoaAllocator<Cs<Classes::five>...>;
  using AllocatorT = Of<Small, First, Second, Third, Large>;
};

using Words4 = std::array<std::uint32_t, 4>;

template <Classes kClasses>
class Base : public dynasoar::SoaBase<typename Heap<kClasses>::AllocatorT> {
 public:
  DYNASOAR_FIELDS(Base, (a_, Words4), (b_, Words4), (c_, Words4));
};
template <Classes kClasses>
class Small : public Base<kClasses> {
 public:
  using BaseClass = Base<kClasses>;
  DYNASOAR_FIELDS(Small, (d_, Words4));
};
template <Classes kClasses>
class First : public Base<kClasses> {
 public:
  using BaseClass = Base<kClasses>;
  DYNASOAR_FIELDS(First, (d_, Words4));
};
template <Classes kClasses>
class Second : public Base<kClasses> {
 public:
  using BaseClass = Base<kClasses>;
  DYNASOAR_FIELDS(Second, (d_, std::uint32_t));
};
template <Classes kClasses>
class Third : public Base<kClasses> {
 public:
  using BaseClass = Base<kClasses>;
  DYNASOAR_FIELDS(Third, (d_, Words4), (e_, Words4));
};
template <Classes kClasses>
class Large : public Base<kClasses> {
 public:
  using BaseClass = Base<kClasses>;
  DYNASOAR_FIELDS(Large, (d_, Words4), (e_, Words4), (f_, Words4), (g_, Words4), (h_, Words4));
};

/// What most kernels create: the class of 64 bytes, if there is one.
template <Classes kClasses>
using Object = std::conditional_t<kClasses == Classes::large, Large<kClasses>, Small<kClasses>>;

/// What all kernels get: a table of pointers, [per_thread * threads].
template <Classes kClasses>
struct Table {
  Base<kClasses>** objects;
  std::size_t threads;
  std::uint32_t per_thread;
  __device__ Base<kClasses>*& at(std::uint32_t i, std::size_t thread) const { return objects[i * threads + thread]; }
  __device__ void create(std::uint32_t i, std::size_t thread) const {
    at(i, thread) = dynasoar::make_new<Object<kClasses>>();
  }
  __device__ void destroy(std::uint32_t i, std::size_t thread) const {
    dynasoar::destroy(static_cast<Object<kClasses>*>(at(i, thread)));
  }
};

template <Classes kClasses>
struct Create : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < this->per_thread; ++i) this->create(i, thread);
  }
};

template <Classes kClasses>
struct Delete : Table<kClasses> {
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < this->per_thread; ++i) this->destroy(i, thread);
  }
};

template <Classes kClasses>
struct CreateThenDelete : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < this->per_thread; ++i) this->create(i, thread);
    for (std::uint32_t i = 0; i < this->per_thread; ++i) this->destroy(i, thread);
  }
};

template <Classes kClasses>
struct CreateAndDelete : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < this->per_thread; ++i) {
      this->create(0, thread);
      this->destroy(0, thread);
    }
  }
};

/// Every second creation is followed by the deletion of the oldest object; the others are deleted at the end.
template <Classes kClasses>
struct Alternate : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    std::uint32_t oldest = 0;
    for (std::uint32_t i = 0; i < this->per_thread; ++i) {
      this->create(i, thread);
      if (i % 2 == 1) this->destroy(oldest++, thread);
    }
    while (oldest < this->per_thread) this->destroy(oldest++, thread);
  }
};

/// The lanes of a warp create objects of four classes.
template <Classes kClasses>
struct CreateThenDeleteMixed : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < this->per_thread; ++i) {
      switch (thread % 4) {
        case 0: this->at(i, thread) = dynasoar::make_new<Small<kClasses>>(); break;
        case 1: this->at(i, thread) = dynasoar::make_new<First<kClasses>>(); break;
        case 2: this->at(i, thread) = dynasoar::make_new<Second<kClasses>>(); break;
        default: this->at(i, thread) = dynasoar::make_new<Third<kClasses>>();
      }
    }
    for (std::uint32_t i = 0; i < this->per_thread; ++i) dynasoar::destroy(this->at(i, thread));
  }
};

/// The requests of a warp are for 20 objects, so most blocks of 64 slots cannot serve all that ask them last.
template <Classes kClasses>
struct CreateThenDeleteOfSome : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  static constexpr std::uint32_t kLanes = 20;
  __device__ void operator()(std::size_t thread) const {
    if (thread % 32 < kLanes) CreateThenDelete<kClasses>{*this}(thread);
  }
};

/// Lanes have different numbers of objects: 1 to per_thread.
template <Classes kClasses>
struct CreateThenDeleteUneven : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    const std::uint32_t own = static_cast<std::uint32_t>(thread * 7 % this->per_thread) + 1;
    for (std::uint32_t i = 0; i < own; ++i) this->create(i, thread);
    for (std::uint32_t i = 0; i < own; ++i) this->destroy(i, thread);
  }
};

/// At each step, a thread with an object deletes it, and one without creates one, each with a probability of a half.
/// The numbers of the lanes of a warp are independent of each other.
template <Classes kClasses>
struct ByChance : Table<kClasses> {
  static constexpr int kLeastResident = 4;
  __device__ void operator()(std::size_t thread) const {
    Object<kClasses>* mine = nullptr;
    for (std::uint32_t i = 0; i < this->per_thread; ++i) {
      if (!acts(static_cast<std::uint32_t>(thread) * this->per_thread + i)) continue;
      if (mine == nullptr) {
        mine = dynasoar::make_new<Object<kClasses>>();
      } else {
        dynasoar::destroy(mine);
        mine = nullptr;
      }
    }
    if (mine != nullptr) dynasoar::destroy(mine);
  }

  /// A bit of a hash: Philox would take as long as a request.
  __device__ static bool acts(std::uint32_t number) {
    number = (number ^ number >> 16) * 0x7feb352du;
    number = (number ^ number >> 15) * 0x846ca68bu;
    return number >> 31 != 0;
  }
};

#if DYNASOAR_CUDA_BACKEND
template <unsigned kThreads, class F>
__global__ void __launch_bounds__(kThreads) own_kernel(F function) {
  function(blockIdx.x * std::size_t{blockDim.x} + threadIdx.x);
}
#endif

/// @tparam kClasses   which classes the heap has
template <Classes kClasses>
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
      measure_shape<Create<kClasses>, Delete<kClasses>>(kTwoKernels, threads, per_thread, 1);
      measure_shape<CreateThenDelete<kClasses>>(kThenDeleted, threads, per_thread, 1);
      measure_shape<CreateAndDelete<kClasses>>("created and deleted at once", threads, per_thread, 1);
      measure_shape<Alternate<kClasses>>("two created, one deleted", threads, per_thread, 1);
      measure_shape<CreateThenDeleteOfSome<kClasses>>("20 of 32 lanes", threads, per_thread,
                                                      CreateThenDeleteOfSome<kClasses>::kLanes / 32.0);
      measure_shape<CreateThenDeleteUneven<kClasses>>("unequal numbers", threads, per_thread, 0.5);
      if constexpr (kClasses == Classes::five) {
        measure_shape<CreateThenDeleteMixed<kClasses>>("four classes in a warp", threads, per_thread, 1);
      }
    }
    measure_shape<CreateThenDelete<kClasses>>(kThenDeleted, threads * 4, 64, 1);
    measure_shape<CreateThenDelete<kClasses>>(kThenDeleted, threads * 16, 16, 1);
    for (const std::size_t few : {std::size_t{1024}, std::size_t{65536}}) {
      measure_shape<Create<kClasses>, Delete<kClasses>>(kTwoKernels, settings_.small ? 256 : few, 1, 1);
      measure_shape<CreateThenDelete<kClasses>>(kThenDeleted, settings_.small ? 256 : few, 1, 1);
    }
    measure_shape<ByChance<kClasses>>("by chance", settings_.small ? 256 : 65536, 64, 0.25);
#if DYNASOAR_CUDA_BACKEND
    const std::size_t own_threads = std::max<std::size_t>(threads, 1024);
    measure_own<64>(own_threads);
    measure_own<256>(own_threads);
    measure_own<1024>(own_threads);
#endif
  }

 private:
  static constexpr const char* kTwoKernels = "created in a kernel, deleted in the next";
  static constexpr const char* kThenDeleted = "created, then deleted";
  static constexpr int kNumber = kClasses == Classes::five ? 5 : kClasses == Classes::two ? 2 : 1;
  static constexpr int kBytes = kClasses == Classes::large ? 128 : 64;

  template <class... Fs>
  void measure_shape(const std::string& variant, std::size_t threads, std::uint32_t per_thread, double share) {
    const auto objects = zeros<Base<kClasses>*>(threads * per_thread);
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
    measure_own<kThreads, CreateThenDelete<kClasses>>("own kernel: created, then deleted", threads);
    measure_own<kThreads, CreateAndDelete<kClasses>>("own kernel: created and deleted at once", threads);
  }

  template <unsigned kThreads, class F>
  void measure_own(const std::string& variant, std::size_t threads) {
    constexpr std::uint32_t kPerThread = 64;
    const auto objects = zeros<Base<kClasses>*>(threads * kPerThread);
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
    if (handle_.template count<Base<kClasses>>() != 0)
      throw std::runtime_error("request_shapes: objects are left after deleting all");
    std::map<std::string, std::int64_t> parameters = {{"classes", kNumber},
                                                      {"bytes", kBytes},
                                                      {"threads", static_cast<std::int64_t>(threads)},
                                                      {"objects per thread", per_thread}};
    if (block != 0) parameters["threads of a block"] = block;
    report_.add({"request_shapes", variant, parameters, "creation and deletion", "ns",
                 shares(seconds, static_cast<double>(threads) * per_thread * share, 1e9)});
  }

  Report& report_;
  const Settings& settings_;
  dynasoar::AllocatorHandle<typename Heap<kClasses>::AllocatorT> handle_;
};

}  // namespace request_shapes

void run_request_shapes(Report& report, const Settings& settings) {
  using request_shapes::Benchmark, request_shapes::Classes;
  Benchmark<Classes::small>(report, settings).run();
  Benchmark<Classes::large>(report, settings).run();
  Benchmark<Classes::two>(report, settings).run();
  Benchmark<Classes::five>(report, settings).run();
}

}  // namespace benchmarks
