/// @file
/// Forgeries: a handle and its checkpoint file, which tests change to see that it is refused. For
/// checkpoint_forged_test.cpp and checkpoint_memory_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/dynasoar.h>

#include "../dsl/test_folder.h"
#include "../heap/handle_check.h"
#include "../heap/test_classes.h"
#include "checkpoint_forge.h"
#include "checkpoint_world.h"

namespace checkpoint_test {

using dynasoar::LoadOptions;
using namespace dynasoar::detail;
using namespace dynasoar::test;

using FourHandle = AllocatorHandle<FourTypes>;

inline constexpr std::size_t kPages = 12;
inline constexpr std::size_t kTypes = FourTypes::kTypes;
inline constexpr std::size_t kShards = HeapSnapshot::kShards;
inline constexpr std::size_t kOfType = HeapSnapshot::kCountersOfType;
inline constexpr std::size_t kWord = sizeof(std::uint64_t);

inline HandleOptions four_types() {
  return {.heap_bytes = kPages * FourTypes::pages().bytes, .on_refusal = dynasoar::OnRefusal::record, .threads = 1};
}

inline void fill(FourHandle& handle, std::size_t of_each) {
  handle.parallel_for(kTypes * of_each, [] __device__(std::size_t i) {
    dynasoar::test::make_of_type(static_cast<std::uint32_t>(i % kTypes), static_cast<std::uint32_t>(i));
  });
  handle.parallel_do<Stamped>([] __device__(Stamped*) {});  // lists are up to date
}

using Forge = std::function<void(ForgedCheckpoint&)>;

/// A file that is changed, and what must be said of it.
struct Forgery {
  const char* says;
  Forge forge;
};

/// Files of a handle with some objects of four classes, a number and a vector.
class Forgeries {
 public:
  explicit Forgeries(std::size_t of_each = 70) : handle_(four_types()) {
    fill(handle_, of_each);
    handle_.save(path(), dynasoar::value("step", step_), dynasoar::array("numbers", numbers_));
    good_ = contents_of(path());
    count_ = handle_.count<Stamped>();
  }

  FourHandle& handle() { return handle_; }
  std::uint64_t count() const { return count_; }
  const std::string& good() const { return good_; }
  ForgedCheckpoint copy() const { return ForgedCheckpoint(good_); }
  std::string path() const { return folder_ / "a"; }

  void load() { handle_.load(path(), dynasoar::value("step", step_), dynasoar::array("numbers", numbers_)); }
  void load_values() const {
    std::uint32_t step = 0;
    std::vector<std::uint16_t> numbers;
    dynasoar::load_values(path(), dynasoar::value("step", step), dynasoar::array("numbers", numbers));
  }

  /// Makes objects and values differ from those of the file, so that it shows if a load that fails takes some over.
  void change_state() {
    step_ = 6;
    numbers_ = {8, 9};
    handle_.parallel_do<Stamped>([] __device__(Stamped * object) {
      if (object->stamp_ == 3) dynasoar::destroy(object);
    });
  }

  /// Both ways to load must, or only that of a handle.
  enum class Refuses { both, handle };

  void check_refused(const std::string& file, const std::string& says, Refuses refuses,
                     CheckpointFault expected = CheckpointFault::damaged) {
    CAPTURE(says);
    write_file(path(), file);
    change_state();
    const std::uint64_t before = handle_.count<Stamped>();
    const auto found = fault_of([&] { load(); });
    CHECK(found.first == expected);
    CHECK_MESSAGE(found.second.find(says) != std::string::npos, found.second);
    if (refuses == Refuses::both) CHECK(fault_of([&] { load_values(); }).second == found.second);
    CHECK(handle_.count<Stamped>() == before);
    CHECK(step_ == 6);
    CHECK(numbers_ == std::vector<std::uint16_t>{8, 9});
  }
  void check_refused(const std::vector<Forgery>& forgeries, Refuses refuses) {
    for (const Forgery& forgery : forgeries) {
      ForgedCheckpoint file = copy();
      forgery.forge(file);
      check_refused(file.file(), forgery.says, refuses);
    }
    check_usable();
  }

  /// After all that was refused, the handle creates, visits and loads.
  void check_usable() {
    CHECK(dynasoar::test::heap_errors(handle_) == "");
    handle_.parallel_do<Stamped>([] __device__(Stamped * object) { dynasoar::destroy(object); });
    fill(handle_, 5);
    CHECK(handle_.count<Stamped>() == 5 * kTypes);
    write_file(path(), good_);
    load();
    CHECK(handle_.count<Stamped>() == count_);
    CHECK(step_ == 5);
    CHECK(numbers_ == std::vector<std::uint16_t>(20, 7));
    CHECK(dynasoar::test::heap_errors(handle_) == "");
    load_values();
  }

 private:
  TestFolder folder_;
  FourHandle handle_;
  std::uint32_t step_ = 5;
  std::vector<std::uint16_t> numbers_ = std::vector<std::uint16_t>(20, 7);
  std::string good_;
  std::uint64_t count_ = 0;
};

inline constexpr auto kBoth = Forgeries::Refuses::both;
inline constexpr auto kHandle = Forgeries::Refuses::handle;

/// A chunk of which one value of type T is changed.
template <class T, class Change>
Forge with(Section section, std::size_t index, const Change& change) {
  return [=](ForgedCheckpoint& file) {
    ForgedChunk& chunk = file[section];
    T value = chunk.get<T>(index * sizeof(T));
    change(value);
    chunk.put(index * sizeof(T), value);
  };
}
template <class Change>
Forge with_numbers(const Change& change) {
  return with<HeapNumbers>(Section::heap, 0, change);
}
template <class T>
Forge set(Section section, std::size_t index, T to) {
  return with<T>(section, index, [to](T& value) { value = to; });
}

inline std::size_t last_block(ForgedCheckpoint& file) {
  return file[Section::blocks].size() / sizeof(SavedBlock) - 1;
}

/// Adds to a tally.
inline void count(ForgedCheckpoint& file, std::size_t tally, std::uint64_t more) {
  with<std::uint64_t>(Section::counters, tally, [more](std::uint64_t& word) { word += more; })(file);
}
inline constexpr std::size_t kPagesFreed = kTypes * kOfType;

}  // namespace checkpoint_test
