// Loops of teams, and the copying of values that they do.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/team_loops.h>

#include "test_support.h"

namespace team_loops_test {

using dynasoar::DeviceArray;
using dynasoar::Executor;
using dynasoar::test::Counter;
using dynasoar::test::Counters;

/// In the place of an allocator.
struct NoHeap {
  struct State {
    int unused;
  };
};

/// Each member of a team reads what others have written in the phase before. As many things as a word says.
struct AddUp {
  static constexpr std::uint32_t kParts = 1000;
  struct Scratch {
    std::uint32_t parts[kParts];
  };

  const std::uint32_t* things;
  Counter* sums;  // [things] of the numbers from i to i + kParts - 1

  __device__ std::size_t count() const { return *things; }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch& scratch, std::size_t i) const {
    team.for_each(kParts, [&](std::uint32_t k) { scratch.parts[k] = static_cast<std::uint32_t>(i) + k; });
    team.for_each(kParts, [&](std::uint32_t k) {
      sums[i].fetch_add(scratch.parts[(k * 7 + 3) % kParts], dynasoar::Order::relaxed);
    });
  }
};

/// Counts how often each thing was visited; by one member of each team.
struct Visit {
  struct Scratch {};

  std::size_t things;
  Counter* visits;

  __device__ std::size_t count() const { return things; }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch&, std::size_t i) const {
    team.for_each(1, [&](std::uint32_t) { visits[i].fetch_add(1, dynasoar::Order::relaxed); });
  }
};

TEST_CASE("teams take every thing of every loop once, and a phase sees what the one before has written") {
  Executor executor(4);
  for (const std::uint32_t things : {0u, 1u, 70u, 3000u}) {
    for (const std::size_t most : {std::size_t{1}, std::size_t{50}, std::size_t{100000}}) {
      CAPTURE(things);
      CAPTURE(most);
      DeviceArray<std::uint32_t> count(1);
      count.upload({things});
      Counters sums(3000);
      Counters visits(5000);
      dynasoar::detail::loop_over_teams<NoHeap>(executor, most, Visit{0, nullptr}, AddUp{count.data(), sums.data()},
                                                Visit{5000, visits.data()});
      executor.synchronize();
      std::vector<std::uint64_t> expected(3000);
      for (std::uint32_t i = 0; i < things; ++i) expected[i] = 1000 * i + 999 * 1000 / 2;
      CHECK(sums.values() == expected);
      CHECK(visits.values() == std::vector<std::uint64_t>(5000, 1));
    }
  }
}

constexpr std::size_t kValues = 100;

template <class T>
struct CopyEveryOther {
  const T* from;
  T* to;
  __device__ void operator()(std::size_t i) const { dynasoar::detail::copy_value(to + 2 * i, from + 2 * i); }
};

template <std::size_t size, class Word>
struct Bytes {
  std::array<Word, size> words;
};

TEST_CASE_TEMPLATE("values of any size and alignment are copied byte by byte, and nothing beside them", T, char,
                   std::uint16_t, std::uint64_t, Bytes<3, char>, Bytes<3, std::uint16_t>, Bytes<5, std::uint32_t>,
                   Bytes<3, double>) {
  Executor executor(2);
  const auto filled = [](unsigned start, unsigned step) {
    std::vector<T> values(kValues);
    auto* const bytes = reinterpret_cast<unsigned char*>(values.data());
    for (std::size_t i = 0; i < kValues * sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(start + step * i);
    return values;
  };
  DeviceArray<T> from(kValues);
  DeviceArray<T> to(kValues);
  from.upload(filled(1, 7));
  to.upload(filled(200, 3));
  executor.for_each_index(kValues / 2, CopyEveryOther<T>{from.data(), to.data()});
  executor.synchronize();
  std::vector<T> expected = filled(200, 3);
  const std::vector<T> source = filled(1, 7);
  for (std::size_t i = 0; i < kValues; i += 2) std::memcpy(&expected[i], &source[i], sizeof(T));
  const std::vector<T> copied = to.download();
  CHECK(std::memcmp(copied.data(), expected.data(), kValues * sizeof(T)) == 0);
}

}  // namespace team_loops_test
