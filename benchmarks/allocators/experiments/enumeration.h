/// @file
/// What it takes a loop to find its objects: the time of a loop over a method that does nothing, after a tenth of the
/// objects was deleted and replaced, and once more when nothing has changed.
///
/// Source: DynaSOAr (Springer and Masuhara 2019), section 7.1, figure 10: the striped parts, there as shares of
/// applications. A SoaAllocator lists its blocks before each of the two loops, an AosAllocator makes room for new
/// objects in its table of pointers before the first.
#pragma once

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
namespace enumeration {

class Object;
using AllocatorT = app::Allocator<Object>;

class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Words = std::array<Word, 7>;
  DYNASOAR_FIELDS(Object, (words_, Words), (visits_, Word));

  __device__ Object() : visits_(0) {}
  __device__ void do_nothing() {}
  __device__ void visit() { visits_ += 1; }
};

struct Create {
  Object** objects;
  __device__ void operator()(std::size_t i) const { objects[i] = dynasoar::make_new<Object>(); }
};

/// Replaces one object in ten, another one each round.
struct Replace {
  Object** objects;
  std::size_t round;
  __device__ void operator()(std::size_t tenth) const {
    Object*& object = objects[tenth * 10 + (tenth * 7 + round) % 10];
    dynasoar::destroy(object);
    object = dynasoar::make_new<Object>();
  }
};

/// @throws std::runtime_error if the loop does not visit every object exactly once
inline void check_visits(dynasoar::AllocatorHandle<AllocatorT>& handle, const dynasoar::DeviceArray<Object*>& objects) {
  check_count<Object>(handle, objects.size(), "enumeration");
  const std::uint64_t before = handle.sum<&Object::visits_>();
  handle.parallel_do<&Object::visit>();
  if (handle.sum<&Object::visits_>() - before != objects.size() || handle.maximum<&Object::visits_>().value() != 1) {
    throw std::runtime_error("enumeration: a loop does not visit every object once");
  }
  check_disjoint(handle, objects, "enumeration");
}

inline void measure(const Context& context, std::size_t count) {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = 2 * AllocatorT::heap_bytes_for<Object>(count)});
  dynasoar::DeviceArray<Object*> objects(count);
  const auto loop = [&] { handle.parallel_do<&Object::do_nothing>(); };
  handle.parallel_for(count, Create{objects.data()});
  handle.parallel_for(count / 10, Replace{objects.data(), 9});
  check_visits(handle, objects);
  std::vector<double> changed, unchanged;
  for (int round = -1; round < context.repetitions; ++round) {
    handle.parallel_for(count / 10, Replace{objects.data(), static_cast<std::size_t>(round + 1)});
    const double first = seconds_of(handle.executor(), loop) * 1e6;
    const double second = seconds_of(handle.executor(), loop) * 1e6;
    if (round < 0) continue;  // warms up
    changed.push_back(first);
    unchanged.push_back(second);
  }
  check_count<Object>(handle, count, "enumeration");
  const std::map<std::string, std::int64_t> parameters = {{"objects", static_cast<std::int64_t>(count)}};
  context.add({"enumeration", kAllocatorName, parameters, "loop after changes", "us", changed});
  context.add({"enumeration", kAllocatorName, parameters, "loop without changes", "us", unchanged});
}

inline void run(const Context& context) {
  // From the largest on: the toolkit's heap cannot grow in a process.
  for (int log = context.pick(22, 12); log >= context.pick(14, 10); log -= 2) measure(context, std::size_t{1} << log);
}

}  // namespace enumeration

inline void add_enumeration(std::vector<Case>& cases) {
  cases.push_back({"enumeration", kAllocatorName, enumeration::run});
}

}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
