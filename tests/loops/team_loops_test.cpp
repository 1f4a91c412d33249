// Loops of teams, and the copying of values that they do.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/loops/team_loops.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../platform/test_support.h"

namespace team_loops_test {

using namespace dynasoar;
using namespace dynasoar::test;

/// Parts of as many things as words say. Each member of a team reads what others have written in the phase before.
struct AddUp {
  static constexpr std::uint32_t kNumbers = 1000;
  static constexpr std::uint32_t kMost = 3000;  // things of a part
  struct Scratch {
    std::uint32_t numbers[kNumbers];
  };

  int part_count;
  const std::uint32_t* things;  // [part_count]
  Counter* sums;                // [part_count * kMost] of the numbers from i to i + kNumbers - 1

  __device__ int parts() const { return part_count; }
  __device__ std::size_t count(int part) const { return things[part]; }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch& scratch, int part, std::size_t i) const {
    team.for_each(kNumbers, [&](std::uint32_t k) { scratch.numbers[k] = static_cast<std::uint32_t>(i) + k; });
    team.for_each(kNumbers, [&](std::uint32_t k) {
      sums[static_cast<std::uint32_t>(part) * kMost + i].fetch_add(scratch.numbers[(k * 7 + 3) % kNumbers],
                                                                   dynasoar::Order::relaxed);
    });
  }
};

TEST_CASE("teams take every thing of every part once, and a phase sees what the one before has written") {
  Executor executor(4);
  using Things = std::vector<std::uint32_t>;
  for (const Things& things : {Things{}, Things{0}, Things{1, 0, 0, 70}, Things{3000}, Things{0, 2999, 1, 3000}}) {
    for (const std::size_t most : {std::size_t{1}, std::size_t{50}, std::size_t{100000}}) {
      CAPTURE(things.size());
      CAPTURE(most);
      const auto counts = dynasoar::test::on_device(things);
      Counters sums(things.size() * AddUp::kMost + 1);
      dynasoar::detail::loop_over_teams(executor, most,
                                        AddUp{static_cast<int>(things.size()), counts.data(), sums.data()});
      executor.synchronize();
      std::vector<std::uint64_t> expected(things.size() * AddUp::kMost + 1);
      for (std::size_t part = 0; part < things.size(); ++part) {
        for (std::uint32_t i = 0; i < things[part]; ++i) {
          expected[part * AddUp::kMost + i] = 1000 * i + 999 * 1000 / 2;
        }
      }
      CHECK(sums.values() == expected);
    }
  }
}

constexpr std::size_t kValues = 100;

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
  executor.for_each_index(kValues / 2, [from = from.data(), to = to.data()] __device__(std::size_t i) {
    dynasoar::detail::copy_bytes(reinterpret_cast<char*>(to + 2 * i), reinterpret_cast<const char*>(from + 2 * i),
                                 sizeof(T), alignof(T));
  });
  executor.synchronize();
  std::vector<T> expected = filled(200, 3);
  const std::vector<T> source = filled(1, 7);
  for (std::size_t i = 0; i < kValues; i += 2) std::memcpy(&expected[i], &source[i], sizeof(T));
  const std::vector<T> copied = to.download();
  CHECK(std::memcmp(copied.data(), expected.data(), kValues * sizeof(T)) == 0);
}

}  // namespace team_loops_test
