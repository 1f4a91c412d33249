/// @file
/// Random numbers that depend only on what they are for, and not on which thread asks, nor when. See
/// docs/how-to/reproducible.md. Not in dynasoar.h, because many programs have no use for it.
///
///     enum class Chance : std::uint32_t { lightning, growth };
///     constexpr dynasoar::random::Seed kSeed{42};
///     ...
///     const dynasoar::random::Words words = dynasoar::random::words(kSeed, Chance::growth, land.number(place), step);
///     if (dynasoar::random::unit(words[0]) < 0.01f) dynasoar::make_new_at<Tree>(place);
///
/// The generator is Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel Random Numbers:
/// As Easy as 1, 2, 3", SC 2011: a block cipher that encrypts a counter. It has no state, so that there is nothing to
/// store for each object, and passes the tests of BigCrush. The numbers are the same on all backends, and stay so in
/// later versions.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::random {

/// The seed of a run. Trivially copyable: pass it to loops.
struct Seed {
  std::uint64_t value;
};

/// Four random numbers of 32 bits, which are independent of each other.
struct Words {
  std::uint32_t word[4];

  /// @pre 0 <= i < 4
  __host__ __device__ constexpr std::uint32_t operator[](std::uint32_t i) const { return word[i]; }
};

}  // namespace dynasoar::random

namespace dynasoar::detail {

/// Ten rounds of Philox4x32; section 3.3 and table 2 of the paper have the round and its constants.
__host__ __device__ constexpr random::Words philox(random::Words counter, std::uint32_t key0, std::uint32_t key1) {
  std::uint32_t a = counter.word[0], b = counter.word[1], c = counter.word[2], d = counter.word[3];
  DYNASOAR_UNROLL()
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * a;
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * c;
    a = static_cast<std::uint32_t>(second >> 32) ^ b ^ key0;
    b = static_cast<std::uint32_t>(second);
    c = static_cast<std::uint32_t>(first >> 32) ^ d ^ key1;
    d = static_cast<std::uint32_t>(first);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return {{a, b, c, d}};
}

}  // namespace dynasoar::detail

namespace dynasoar::random {

/// The random numbers for a purpose, an object or place, and a step.
///
/// @param purpose   what they decide: a number, or an enumerator of the model's. Different purposes have different
///                  random numbers
/// @param number    whose they are: a number that does not depend on the order of threads, such as that of a place
/// @param draw      counts calls for more than four numbers of one purpose
/// @par Cost   about 60 instructions
template <class Purpose>
__host__ __device__ constexpr Words words(Seed seed, Purpose purpose, std::uint64_t number, std::uint32_t step,
                                          std::uint32_t draw = 0) {
  static_assert(std::is_enum_v<Purpose> || std::is_integral_v<Purpose>,
                "dynasoar: the purpose of a random number is an enumerator or an integer");
  const Words counter{{static_cast<std::uint32_t>(number), step, draw, static_cast<std::uint32_t>(number >> 32)}};
  return detail::philox(
      counter, static_cast<std::uint32_t>(seed.value),
      static_cast<std::uint32_t>(purpose) + 0x9E3779B9 * static_cast<std::uint32_t>(seed.value >> 32));
}

/// A random integer in [0, n) from a random word. @pre n > 0
__host__ __device__ constexpr std::uint32_t below(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * n) >> 32);
}

/// A random real number in [0, 1) from a random word: a multiple of 2^-24, which a float represents exactly.
__host__ __device__ constexpr float unit(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// A random integer in [0, n): `below(words(...)[0], n)`. @pre n > 0
/// @par Cost   that of `words`, but nothing if n is 1
template <class Purpose>
__host__ __device__ constexpr std::uint32_t draw(Seed seed, Purpose purpose, std::uint64_t number, std::uint32_t step,
                                                 std::uint32_t n) {
  return n == 1 ? 0 : below(words(seed, purpose, number, step)[0], n);
}

}  // namespace dynasoar::random

namespace dynasoar {

/// Chooses each place of a lattice with the same probability. The choice depends on nothing but what a Density is given
/// and the number of the place. Trivially copyable: pass it to loops.
///
///     forest.parallel_new<Tree>(dynasoar::Density(0.4, kSeed, Chance::first_trees));
class Density {
 public:
  /// @param probability   from 0 to 1, exact to 2^-32
  /// @param purpose       as of random::words, for step 0. Densities of the same purpose choose the same places
  /// @throws Error if `probability` is none
  template <class Purpose>
  Density(double probability, random::Seed seed, Purpose purpose)
      : seed_(seed), purpose_(static_cast<std::uint32_t>(purpose)) {
    static_assert(std::is_enum_v<Purpose> || std::is_integral_v<Purpose>,
                  "dynasoar: the purpose of a Density is an enumerator or an integer");
    if (!(probability >= 0 && probability <= 1)) {
      throw Error("dynasoar: a Density is a probability from 0 to 1, but this one is " + std::to_string(probability));
    }
    const double words = probability * 0x1p32;
    chosen_words_ = static_cast<std::uint64_t>(words);
    if (static_cast<double>(chosen_words_) < words) ++chosen_words_;  // std::ceil, whose header takes time to compile
  }

  /// Whether it chooses the place with a number.
  __host__ __device__ bool chooses(std::uint64_t number) const {
    return random::words(seed_, purpose_, number, 0)[0] < chosen_words_;
  }

 private:
  random::Seed seed_;
  std::uint32_t purpose_;
  std::uint64_t chosen_words_;  // of all 2^32
};

}  // namespace dynasoar
