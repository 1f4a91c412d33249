/// @file
/// Random numbers that depend only on the seed, the purpose, the object and the step, and not on which thread draws
/// them, or when. See docs/how-to/random-numbers.md. Not included by dynasoar.h, because many programs do not need it.
///
///     enum class Chance : std::uint32_t { lightning, growth };
///     constexpr dynasoar::random::Seed kSeed{42};
///     ...
///     const dynasoar::random::Words words = dynasoar::random::words(kSeed, Chance::growth, land.number(place), step);
///     if (dynasoar::random::unit(words[0]) < 0.01f) dynasoar::make_new_at<Tree>(place);
///
/// `below`, `unit`, `exponential`, `normal` and `choice` take one word. `poisson`, `binomial` and `shuffle` take a
/// `Stream`, and draw as many words as they need.
///
/// The generator is Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel Random Numbers:
/// As Easy as 1, 2, 3", SC 2011: a block cipher that encrypts a counter. It has no state, so objects need not store
/// any. It passes the tests of BigCrush.
///
/// The numbers are the same to the last bit on all backends, for all compilers and options, and in later versions.
/// There is one exception: `poisson`, `binomial` and a `choice` by floating-point weights need the arithmetic of IEEE
/// 754. Options that let the compiler of host code deviate from it (-ffast-math, -Ofast) may change their numbers.
/// nvcc's --use_fast_math does not: it affects floats only, and these functions compute with doubles.
///
/// No function fails. The comment of each function says what it returns for invalid parameters.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <dynasoar/detail/random_counts.h>
#include <dynasoar/detail/random_reals.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::random {

/// The seed of a run. Trivially copyable: pass it to loops.
struct Seed {
  std::uint64_t value;
};

/// Four random 32-bit numbers that are independent of each other.
struct Words {
  std::uint32_t word[4];

  /// @pre 0 <= i < 4
  __host__ __device__ constexpr std::uint32_t operator[](std::uint32_t i) const { return word[i]; }
};

}  // namespace dynasoar::random

namespace dynasoar::detail {

/// Ten rounds of Philox4x32. Section 3.3 and table 2 of the paper define the round and its constants.
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

DYNASOAR_FOR_WHOEVER_CALLS
template <class Array>
__host__ __device__ constexpr std::size_t size_of_array(const Array& array) {
  if constexpr (std::is_array_v<Array>) {
    return std::extent_v<Array>;
  } else {
    return array.size();
  }
}

/// A weight, converted to the type of the sum of weights. 0 if it is negative or NaN.
template <class T>
__host__ __device__ constexpr auto weight_of(T weight) {
  static_assert(std::is_arithmetic_v<T>, "dynasoar: the weights of a choice are integers or floating-point numbers");
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  if constexpr (std::is_same_v<T, float>) {
    // Options such as nvcc's --use_fast_math treat subnormal floats as 0, so convert them from their bits.
    const auto bits = std::bit_cast<std::uint32_t>(weight);
    if (bits < 0x00800000) return bits * 0x1p-149;
  }
  return weight > T{0} ? static_cast<Sum>(weight) : Sum{0};
}

/// `sum` times word / 2^32.
__host__ __device__ constexpr std::uint64_t share_of(std::uint64_t sum, std::uint32_t word) {
  return (sum >> 32) * word + (((sum & 0xFFFFFFFF) * word) >> 32);
}
__host__ __device__ constexpr double share_of(double sum, std::uint32_t word) {
  return sum * (word * 0x1p-32);
}

/// See random::choice.
DYNASOAR_FOR_WHOEVER_CALLS
template <class Weights>
__host__ __device__ constexpr std::size_t choose(std::uint32_t word, const Weights& weights, std::size_t n) {
  using Sum = decltype(weight_of(weights[0]));
  Sum all = 0;
  for (std::size_t i = 0; i < n; ++i) all += weight_of(weights[i]);
  if (!(all > 0)) return share_of(std::uint64_t{n}, word);
  const Sum wanted = share_of(all, word);
  Sum sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += weight_of(weights[i]);
    if (sum > wanted) return i;
  }
  return n - 1;
}

}  // namespace dynasoar::detail

namespace dynasoar::random {

/// The random numbers for a purpose, an object or place, and a step.
///
/// @param purpose   what the numbers decide: an integer, or an enumerator of the model. Different purposes have
///                  different random numbers
/// @param number    identifies the object or place, and must not depend on the order of threads
/// @param draw      counts the calls if you need more than four numbers for one purpose
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

/// A random number of the exponential distribution with mean 1, from a random word, such as a waiting time. For another
/// mean, multiply the result by the mean, or divide it by the rate.
///
/// @return   -ln((word + 1/2) / 2^32), from 1.2e-10 to 22.9; the error is less than 0.55 units in the last place
/// @par Cost   about 60 instructions, without a branch
__host__ __device__ constexpr float exponential(std::uint32_t word) {
  return detail::exponential_of(word);
}

/// A random number of the normal distribution with mean 0 and standard deviation 1, from a random word.
///
/// For another mean and deviation, write `mean + deviation * normal(word)`. Compilers may fuse this product with the
/// sum on one backend, but not on the other. If the last bit matters, write std::fma(deviation, normal(word), mean).
///
/// @return   the inverse of the distribution function at (word + 1/2) / 2^32, from -6.34 to 6.34. The error is less
///           than 0.6 units in the last place. normal(~word) is -normal(word)
/// @par Cost   about 120 instructions; 300 for one in 300 words, in the tails of the distribution
__host__ __device__ constexpr float normal(std::uint32_t word) {
  return detail::normal_of(word);
}

/// A random index of the array `weights`, from a random word. The probability of i is weights[i] divided by the sum of
/// all weights, exact to 2^-32. If all weights are the same, `below(word, n)` is faster.
///
/// @param weights   integers or floating-point numbers: an array, a std::array, an array field or a std::span.
///                  Negative weights and NaN count as 0. If no weight is above 0, all indices are equally likely
/// @pre the sum of the weights is finite, and below 2^64
/// @return   0 if there are no weights
/// @par Cost   reads the weights twice
DYNASOAR_FOR_WHOEVER_CALLS
template <class Weights>
__host__ __device__ constexpr std::size_t choice(std::uint32_t word, const Weights& weights) {
  return detail::choose(word, weights, detail::size_of_array(weights));
}

/// Returns the random numbers for a purpose, an object or place, and a step one after the other. Create a Stream as a
/// variable in device code if you do not know in advance how many numbers you need.
///
///     dynasoar::random::Stream stream(kSeed, Chance::eggs, number_, step);
///     const std::uint32_t eggs = dynasoar::random::poisson(stream, 3.5);
///     const float weight = 20 + 2 * dynasoar::random::normal(stream.word());
///
/// A Stream returns the same numbers as calls of `random::words` with draw = 0, 1, 2, ...: do not use both for one
/// purpose.
class Stream {
 public:
  /// As random::words.
  template <class Purpose>
  __host__ __device__ constexpr Stream(Seed seed, Purpose purpose, std::uint64_t number, std::uint32_t step)
      : seed_(seed), number_(number), purpose_(static_cast<std::uint32_t>(purpose)), step_(step) {
    static_assert(std::is_enum_v<Purpose> || std::is_integral_v<Purpose>,
                  "dynasoar: the purpose of a random number is an enumerator or an integer");
  }

  /// The next four numbers. Always makes a new draw.
  __host__ __device__ constexpr Words words() { return random::words(seed_, purpose_, number_, step_, draws_++); }

  /// The next number. The first of four calls makes a draw, and the other three return the rest of it.
  __host__ __device__ constexpr std::uint32_t word() {
    if (left_ == 0) {
      kept_ = words();
      left_ = 4;
    }
    const std::uint32_t next = kept_.word[0];
    // Shift the words instead of indexing them, so that compilers keep them in registers.
    for (int i = 0; i < 3; ++i) kept_.word[i] = kept_.word[i + 1];
    --left_;
    return next;
  }

  /// The number of draws so far.
  __host__ __device__ constexpr std::uint32_t draws() const { return draws_; }

 private:
  Seed seed_;
  std::uint64_t number_;
  std::uint32_t purpose_;
  std::uint32_t step_;
  std::uint32_t draws_ = 0;
  std::uint32_t left_ = 0;
  Words kept_{};
};

/// A random number of the Poisson distribution: how many events happen if `mean` events happen on average.
///
/// @param mean   values above 2^31 count as 2^31. The result is 0 if the mean is 0, negative or NaN
/// @par Cost   if the mean is below 10, one draw, and `mean` + 1 divisions on average, at most 60: inversion. Otherwise
///             1.1 to 1.4 draws on average, and two or three logarithms for one in ten to one in four numbers:
///             W. Hörmann's algorithm PTRS. Both compute with doubles, which are slow on consumer GPUs
__host__ __device__ inline std::uint32_t poisson(Stream& stream, double mean) {
  return detail::poisson_of(mean, [&stream] { return stream.words(); });
}

/// A random number of the binomial distribution: how many of n independent attempts succeed, each with probability p.
///
/// @param p   counts as 0 if it is negative or NaN, and as 1 if it is above 1
/// @par Cost   as for poisson, with the mean of the rarer outcome, n * p or n * (1 - p): inversion below 10, otherwise
///             W. Hörmann's algorithm BTRS
__host__ __device__ inline std::uint32_t binomial(Stream& stream, std::uint32_t n, double p) {
  return detail::binomial_of(n, p, [&stream] { return stream.words(); });
}

/// Puts the n elements of an array into a random order. All orders are equally likely, up to n / 2^32.
///
/// @param values   an array, a std::array, an array field or a std::span of at most 2^32 elements
/// @par Cost   n - 1 words of the stream, and n - 1 exchanges: R. Durstenfeld's algorithm 235, CACM 7, 1964
DYNASOAR_FOR_WHOEVER_CALLS
template <class Values>
__host__ __device__ constexpr void shuffle(Stream& stream, Values&& values) {
  for (std::size_t left = detail::size_of_array(values); left > 1; --left) {
    const auto chosen = static_cast<std::size_t>((std::uint64_t{stream.word()} * left) >> 32);  // 2^32 has 33 bits
    const auto last = values[left - 1];
    values[left - 1] = values[chosen];
    values[chosen] = last;
  }
}

}  // namespace dynasoar::random

namespace dynasoar {

/// Chooses each place of a lattice with the same probability. The choice depends only on the probability, the seed, the
/// purpose and the number of the place. Trivially copyable: pass it to loops.
///
///     forest.parallel_new<Tree>(dynasoar::Density(0.4, kSeed, Chance::first_trees));
class Density {
 public:
  /// @param probability   from 0 to 1, exact to 2^-32
  /// @param purpose       as for random::words, with step 0. Densities of the same purpose choose the same places
  /// @throws Error if `probability` is not from 0 to 1
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

  /// Whether it chooses the place with this number.
  __host__ __device__ bool chooses(std::uint64_t number) const {
    return random::words(seed_, purpose_, number, 0)[0] < chosen_words_;
  }

 private:
  random::Seed seed_;
  std::uint32_t purpose_;
  std::uint64_t chosen_words_;  // how many of all 2^32 words choose a place
};

}  // namespace dynasoar
