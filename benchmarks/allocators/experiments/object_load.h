/// @file
/// Threads that create objects in one launch and delete them in the next, timed. Used by linux_scalability.h and
/// ablation.cpp.
///
/// Source: DynaSOAr (Springer and Masuhara 2019), section 7.4: the benchmark Linux Scalability by Lever and Boreham.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../suite.h"
#include "objects.h"

namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR {
namespace object_load {

/// An allocator of its own for objects of 64 bytes.
///
/// @tparam Allocator   a template of allocators, as in Allocator<Object>
template <template <class...> class Allocator>
struct World {
  class Object;
  using AllocatorT = Allocator<Object>;

  class Object : public dynasoar::SoaBase<AllocatorT> {
   public:
    using Words = std::array<Word, words_for<AllocatorT>(64)>;
    DYNASOAR_FIELDS(Object, (words_, Words));
  };
};

/// Every thread creates objects, until it gets none.
template <class T>
struct Allocate {
  static constexpr int kLeastResident = 4;  // else a register more or less decides how many warps there are
  T** objects;                              // [per_thread * threads] null
  std::size_t threads;
  Word per_thread;
  __device__ void operator()(std::size_t thread) const {
    for (Word i = 0; i < per_thread; ++i) {
      T* const object = dynasoar::make_new<T>();
      if (object == nullptr) return;  // a full heap's answers are not what is measured
      objects[i * threads + thread] = object;
    }
  }
};

/// Every thread deletes what it created.
template <class T>
struct Deallocate {
  T* const* objects;
  std::size_t threads;
  Word per_thread;
  __device__ void operator()(std::size_t thread) const {
    for (Word i = 0; i < per_thread && objects[i * threads + thread] != nullptr; ++i) {
      dynasoar::destroy(objects[i * threads + thread]);
    }
  }
};

struct Load {
  std::size_t threads;
  Word per_thread;
};

/// The times of runs, in nanoseconds per object, and how many objects there were not.
struct Times {
  std::vector<double> allocation, deallocation, both, refused;
  double seconds = 0;

  void add(double allocating, double deallocating, double created, double wanted) {
    const double scale = 1e9 / created;
    allocation.push_back(allocating * scale);
    deallocation.push_back(deallocating * scale);
    both.push_back((allocating + deallocating) * scale);
    refused.push_back(100 * (1 - created / wanted));
    seconds += allocating + deallocating;
  }
};

template <class T, class A>
Times measure_load(dynasoar::AllocatorHandle<A>& handle, Load load, int repetitions, const std::string& experiment) {
  const std::size_t wanted = load.threads * load.per_thread;
  dynasoar::DeviceArray<T*> objects(wanted);
  dynasoar::Executor& executor = handle.executor();
  Times times;
  for (bool warm = false; !warm || measure_again(times.both.size(), repetitions, times.seconds); warm = true) {
    objects.fill_bytes(0);
    handle.device_pointer();  // the kernels below are our own; tables of deleted objects are put in order here
    const double allocating = seconds_of(executor, [&] {
      executor.for_each_index(load.threads, Allocate<T>{objects.data(), load.threads, load.per_thread});
    });
    const std::uint64_t created = handle.template count<T>();
    if (!warm) check_disjoint(handle, objects, experiment);
    const double deallocating = seconds_of(executor, [&] {
      executor.for_each_index(load.threads, Deallocate<T>{objects.data(), load.threads, load.per_thread});
    });
    check_count<T>(handle, 0, experiment);
    if (created == 0) throw std::runtime_error(experiment + ": no object could be created");
    if (warm) times.add(allocating, deallocating, static_cast<double>(created), static_cast<double>(wanted));
  }
  return times;
}

/// Measures one load in a heap that has room for `heap_objects` objects. @return the seconds of one run
template <template <class...> class Allocator>
double measure(const Context& context, const std::string& experiment, const std::string& variant,
               std::size_t heap_objects, Load load) {
  using Object = typename World<Allocator>::Object;
  using AllocatorT = typename World<Allocator>::AllocatorT;
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = least_heap_bytes_for<AllocatorT, Object>(heap_objects),
                                                .on_refusal = dynasoar::OnRefusal::record});
  const Times times = measure_load<Object>(handle, load, context.repetitions, experiment);
  const std::map<std::string, std::int64_t> parameters = {{"threads", static_cast<std::int64_t>(load.threads)},
                                                          {"objects per thread", load.per_thread}};
  context.add({experiment, variant, parameters, "allocation", "ns", times.allocation});
  context.add({experiment, variant, parameters, "deallocation", "ns", times.deallocation});
  context.add({experiment, variant, parameters, "allocation and deallocation", "ns", times.both});
  if (*std::max_element(times.refused.begin(), times.refused.end()) > 0) {
    context.add({experiment, variant, parameters, "refused", "%", times.refused});
  }
  return times.seconds / static_cast<double>(times.both.size());
}

inline std::size_t threads_of(const Context& context) {
  return context.pick(16384u, 64u);
}
inline Word most_of_thread(const Context& context) {
  return context.pick(1024u, 64u);
}

}  // namespace object_load
}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
