/// @file
/// WatchedHeap: a heap with pointers to its objects, what threads do with these, and checks of what is reported. For
/// tests of misuse, which are always compiled with DYNASOAR_CHECKED=1.
///
/// There is a kernel for each thing that threads do, and few classes: in checked builds each place that creates an
/// object, or destroys one through a pointer to a base class, is thousands of instructions that nvcc compiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"

namespace misuse_test {

using namespace dynasoar;
using dynasoar::detail::Handle;

static_assert(dynasoar::kChecked, "these tests are about checked builds");

/// Does something with pointer i of an array, or with pointer 0 where `all_on_first` says so.
template <class Base, class Action>
struct ForPointers {
  Base** pointers;
  int value = 0;
  bool all_on_first = false;

  __device__ void operator()(std::size_t i) const { Action{}(pointers[all_on_first ? 0 : i], value); }
};

template <class T>
struct Make {
  template <class Base>
  __device__ void operator()(Base*& pointer, int value) const {
    pointer = dynasoar::make_new<T>(value);
  }
};
struct Destroy {
  template <class Base>
  __device__ void operator()(Base* pointer, int) const {
    dynasoar::destroy(pointer);
  }
};

/// A heap and some pointers to its objects.
template <class A, class Base>
class WatchedHeap {
 public:
  explicit WatchedHeap(std::size_t count, dynasoar::FaultInjection faults = {}, std::size_t pages = 8)
      : handle({.heap_bytes = pages * A::pages().bytes, .threads = 4, .failing_allocations = faults}),
        count_(count),
        pointers_(dynasoar::test::zeroed<Base*>(count)) {}

  template <class Action>
  void run(int value = 0) {
    handle.parallel_for(count_, ForPointers<Base, Action>{pointers_.data(), value});
  }
  template <class Action>
  void run_on_first(int times, int value = 0) {
    handle.parallel_for(static_cast<std::size_t>(times), ForPointers<Base, Action>{pointers_.data(), value, true});
  }

  Base** device_pointers() const { return pointers_.data(); }
  std::vector<Base*> pointers() const { return pointers_.download(); }
  std::uint64_t bits(std::size_t i = 0) const { return reinterpret_cast<std::uint64_t>(pointers()[i]); }
  void put(const std::vector<Base*>& pointers) { pointers_.upload(pointers); }
  void forge(std::uint64_t bits) { pointers_.upload({reinterpret_cast<Base*>(bits)}); }

  /// The reports of the next synchronizing call; none if there are none.
  std::vector<MisuseReport> reports() {
    try {
      handle.synchronize();
    } catch (const MisuseError& error) {
      MESSAGE(doctest::String(error.what()));
      for (const MisuseReport& report : error.reports()) {
        CHECK(std::string(error.what()).find(report.text) != std::string::npos);
      }
      return error.reports();
    }
    return {};
  }

  /// Checks that there is one report, and the heap in order. @return it
  MisuseReport only(Misuse kind, std::uint64_t count) {
    const std::vector<MisuseReport> all = reports();
    CHECK(dynasoar::test::heap_errors(handle) == "");
    CHECK(reports().empty());  // a report is made once
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == kind);
    CHECK(all[0].count == count);
    CHECK(all[0].text.find(count == 1 ? "once" : std::to_string(count) + " times") != std::string::npos);
    return all[0];
  }

  AllocatorHandle<A> handle;

 private:
  std::size_t count_;
  DeviceArray<Base*> pointers_;
};

/// Whether the report says that, but for the namespace.
inline bool says(const MisuseReport& report, const std::string& text) {
  const std::string said = std::regex_replace(report.text, std::regex("misuse_test::"), "");
  return said.find(text) != std::string::npos;
}

}  // namespace misuse_test
