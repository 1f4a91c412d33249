/// @file
/// How long it takes to create and to delete an object, over the number of objects that each thread makes.
///
/// Source: DynaSOAr (Springer and Masuhara 2019), section 7.4, figure 13 (a): the benchmark Linux Scalability by Lever
/// and Boreham. 16 384 threads, a heap with room for 1024 objects of 64 bytes per thread; one launch creates, the next
/// deletes. Added: half of the objects by 8192 to 524 288 threads.
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
namespace linux_scalability {

class Object;
using AllocatorT = app::Allocator<Object>;

class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Words = std::array<Word, words_for<AllocatorT>(64)>;
  DYNASOAR_FIELDS(Object, (words_, Words));
};

/// Every thread creates objects, until it gets none.
struct Allocate {
  Object** objects;  // [per_thread * threads] null
  std::size_t threads;
  Word per_thread;
  __device__ void operator()(std::size_t thread) const {
    for (Word i = 0; i < per_thread; ++i) {
      Object* const object = dynasoar::make_new<Object>();
      if (object == nullptr) return;  // a full heap's answers are not what is measured
      objects[i * threads + thread] = object;
    }
  }
};

/// Every thread deletes what it created.
struct Deallocate {
  Object* const* objects;
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

inline Times measure_load(dynasoar::AllocatorHandle<AllocatorT>& handle, Load load, int repetitions) {
  const std::size_t wanted = load.threads * load.per_thread;
  dynasoar::DeviceArray<Object*> objects(wanted);
  dynasoar::Executor& executor = handle.executor();
  Times times;
  for (bool warm = false; !warm || measure_again(times.both.size(), repetitions, times.seconds); warm = true) {
    objects.fill_bytes(0);
    handle.device_pointer();  // the kernels below are our own; tables of deleted objects are put in order here
    const double allocating = seconds_of(executor, [&] {
      executor.for_each_index(load.threads, Allocate{objects.data(), load.threads, load.per_thread});
    });
    const std::uint64_t created = handle.count<Object>();
    if (!warm) check_disjoint(handle, objects, "linux_scalability");
    const double deallocating = seconds_of(executor, [&] {
      executor.for_each_index(load.threads, Deallocate{objects.data(), load.threads, load.per_thread});
    });
    check_count<Object>(handle, 0, "linux_scalability");
    if (created == 0) throw std::runtime_error("linux_scalability: no object could be created");
    if (warm) times.add(allocating, deallocating, static_cast<double>(created), static_cast<double>(wanted));
  }
  return times;
}

/// @return the seconds of one run
inline double measure(const Context& context, const std::string& experiment, std::size_t heap_objects, Load load) {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = least_heap_bytes_for<AllocatorT, Object>(heap_objects),
                                                .on_refusal = dynasoar::OnRefusal::record});
  const Times times = measure_load(handle, load, context.repetitions);
  const std::map<std::string, std::int64_t> parameters = {{"threads", static_cast<std::int64_t>(load.threads)},
                                                          {"objects per thread", load.per_thread}};
  context.add({experiment, kAllocatorName, parameters, "allocation", "ns", times.allocation});
  context.add({experiment, kAllocatorName, parameters, "deallocation", "ns", times.deallocation});
  context.add({experiment, kAllocatorName, parameters, "allocation and deallocation", "ns", times.both});
  if (*std::max_element(times.refused.begin(), times.refused.end()) > 0) {
    context.add({experiment, kAllocatorName, parameters, "refused", "%", times.refused});
  }
  return times.seconds / static_cast<double>(times.both.size());
}

inline constexpr double kTooSlow = 0.5;  // seconds of a run: the series ends

inline std::size_t threads_of(const Context& context) {
  return context.pick(16384u, 64u);
}
inline Word most_of_thread(const Context& context) {
  return context.pick(1024u, 64u);
}

/// The figure: a part of the heap's objects, up to all.
inline void run(const Context& context) {
  const std::size_t threads = threads_of(context);
  const Word most = most_of_thread(context);
  for (const Word part : {1024u, 256u, 64u, 16u, 4u, 2u, 1u}) {
    if (part > most) continue;
    if (measure(context, "linux_scalability", threads * most, {threads, most / part}) > kTooSlow) return;
  }
}

/// Half of the heap's objects, by more and more threads.
inline void run_threads(const Context& context) {
  const std::size_t threads = threads_of(context);
  const Word most = most_of_thread(context);
  for (const Word factor : {1u, 4u, 16u, 64u}) {
    const Load load{threads * factor / 2, most / factor};
    if (measure(context, "linux_scalability_threads", threads * most, load) > kTooSlow) return;
  }
}

}  // namespace linux_scalability

inline void add_linux_scalability(std::vector<Case>& cases) {
  cases.push_back({"linux_scalability", kAllocatorName, linux_scalability::run});
  cases.push_back({"linux_scalability_threads", kAllocatorName, linux_scalability::run_threads});
}

}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
