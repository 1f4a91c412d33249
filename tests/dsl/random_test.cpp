// Random numbers: those that were published for the generator, on the host and the device, and what they depend on.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/random.h>

namespace random_test {

using namespace dynasoar::random;

enum class Purpose : std::uint32_t { eat, sleep };

/// An entry of the file kat_vectors of Random123 for philox4x32 with 10 rounds.
struct KnownAnswer {
  Words counter;
  std::uint32_t key[2];
  Words answer;
};

constexpr KnownAnswer kKnownAnswers[] = {
    {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {0xffffffff, 0xffffffff},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {0xa4093822, 0x299f31d0},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

TEST_CASE("random numbers are those that were published for Philox4x32-10") {
  for (const KnownAnswer& known : kKnownAnswers) {
    const dynasoar::DeviceArray<Words> on_device(1);
    dynasoar::Executor executor(1);
    executor.for_each_index(1, [known, words = on_device.data()] __device__(std::size_t i) {
      words[i] = dynasoar::detail::philox(known.counter, known.key[0], known.key[1]);
    });
    executor.synchronize();
    const Words on_host = dynasoar::detail::philox(known.counter, known.key[0], known.key[1]);
    for (std::uint32_t i = 0; i < 4; ++i) {
      CHECK(on_host[i] == known.answer[i]);
      CHECK(on_device.download()[0][i] == known.answer[i]);
    }
  }
}

TEST_CASE("the key and the counter are what the numbers are for") {
  const auto is = [](const Words& words, const Words& counter, std::uint32_t key0, std::uint32_t key1) {
    const Words expected = dynasoar::detail::philox(counter, key0, key1);
    for (std::uint32_t i = 0; i < 4; ++i) CHECK(words[i] == expected[i]);
  };
  using dynasoar::random::words;
  is(words(Seed{0}, Purpose::eat, 0, 0), {{0, 0, 0, 0}}, 0, 0);
  is(words(Seed{5}, Purpose::sleep, 2, 3), {{2, 3, 0, 0}}, 5, 1);
  is(words(Seed{5}, 7, (std::uint64_t{9} << 32) + 8, 3, 4), {{8, 3, 4, 9}}, 5, 7);
  is(words(Seed{(std::uint64_t{2} << 32) + 5}, 7, 8, 3), {{8, 3, 0, 0}}, 5, 7 + 2 * 0x9E3779B9u);
}

TEST_CASE("seed, purpose, number, step and draw each change all four random numbers") {
  std::set<std::uint32_t> different;
  std::size_t calls = 0;
  const auto add = [&](const Words& words) {
    ++calls;
    for (std::uint32_t i = 0; i < 4; ++i) different.insert(words[i]);
  };
  using dynasoar::random::words;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t value = std::uint64_t{1} << bit;
    add(words(Seed{value}, Purpose::eat, 0, 0));
    add(words(Seed{0}, Purpose::eat, value, 0));
  }
  for (int bit = 0; bit < 32; ++bit) {
    const std::uint32_t value = std::uint32_t{1} << bit;
    add(words(Seed{0}, Purpose::eat, 0, value));
    add(words(Seed{0}, Purpose::eat, 0, 0, value));
    add(words(Seed{0}, value << 1 | 1, 0, 0));
  }
  CHECK(different.size() == 4 * calls);
}

TEST_CASE("a random word is mapped to all integers below a bound, and to [0, 1)") {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  CHECK(below(0, 7) == 0);
  CHECK(below(kMost, 7) == 6);
  CHECK(below(kMost, 1) == 0);
  CHECK(below(kMost / 2 + 1, 6) == 3);
  CHECK(below(kMost / 2, 6) == 2);
  CHECK(below(kMost, kMost) == kMost - 1);
  CHECK(unit(0) == 0);
  CHECK(unit(255) == 0);
  CHECK(unit(256) == 0x1p-24f);
  CHECK(unit(kMost) == 1 - 0x1p-24f);
}

TEST_CASE("a draw is the first random word, mapped below a bound") {
  for (const std::uint32_t n : {1u, 2u, 1000u, 0xFFFFFFFFu}) {
    CHECK(dynasoar::random::draw(Seed{1}, Purpose::sleep, 2, 3, n) ==
          below(dynasoar::random::words(Seed{1}, Purpose::sleep, 2, 3)[0], n));
  }
}

}  // namespace random_test
