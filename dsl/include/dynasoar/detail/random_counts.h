/// @file
/// Implements `random::poisson` and `random::binomial`. Used by random.h.
///
/// Uses only sums, products, quotients and roots of doubles, which IEEE 754 defines to the last bit. Compilers cannot
/// fuse the products with sums (`separate_product`). Uses no functions of namespace std, which differ between
/// libraries.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// ln(x). @pre x is positive, finite and normal
__host__ __device__ inline double log_of(double x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  // x = (1 + f) * 2^power with 1 + f from 1 / sqrt(2) to sqrt(2).
  auto power = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000;
  double mantissa = 0;
  std::memcpy(&mantissa, &bits, sizeof bits);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++power;
  }
  // ln((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + s^5 / 5 + ...)
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = separate_product(s, s);
  constexpr double kTerms[] = {1,        1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                               1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  double sum = kTerms[10];
  DYNASOAR_UNROLL()
  for (int i = 9; i >= 0; --i) sum = separate_product(sum, square) + kTerms[i];
  return separate_product(power, 0.6931471805599453) + separate_product(2 * s, sum);
}

/// exp(-x). @pre 0 <= x < 32
__host__ __device__ inline double exp_of_minus(double x) {
  // x = halvings * ln(2) - rest, and the product with the logarithm's upper bits is exact.
  const int halvings = static_cast<int>(separate_product(x, 1.4426950408889634) + 0.5);
  constexpr double kUpper = 0x1.62e42feep-1, kLower = 0x1.a39ef35793c76p-33;
  const double rest = (separate_product(halvings, kUpper) - x) + separate_product(halvings, kLower);
  double sum = 1;
  DYNASOAR_UNROLL()
  for (int i = 14; i > 0; --i) sum = separate_product(sum, rest) / i + 1;
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 - halvings) << 52;
  double power = 0;
  std::memcpy(&power, &bits, sizeof bits);
  return separate_product(sum, power);
}

/// A number between 0 and 1, excluding both, from two random words.
__host__ __device__ constexpr double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = std::uint64_t{high} << 20 | low >> 12;
  return static_cast<double>(2 * bits + 1) * 0x1p-53;
}

/// The error of Stirling's formula: ln(k!) is the sum of this and (k + 1/2) ln(k + 1) - (k + 1) + ln(2 pi) / 2.
__host__ __device__ inline double stirling_rest(double k) {
  constexpr double kHalfLogOf2Pi = 0.91893853320467274;
  const double x = k + 1;
  if (k < 16) {
    double factorial = 1;
    for (int i = 2; i <= static_cast<int>(k); ++i) factorial = separate_product(factorial, i);
    return log_of(factorial) - (separate_product(k + 0.5, log_of(x)) - x + kHalfLogOf2Pi);
  }
  const double square = separate_product(x, x);
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / x;
}

/// Inversion, one value after the other: the least k such that the probability of 0 to k is not below u.
/// @param first   the probability of 0
/// @param ratio   `ratio(k)` is the probability of k by that of k - 1; falls as k rises
template <class Ratio>
__host__ __device__ std::uint32_t search_from_0(double u, double first, double most, const Ratio& ratio) {
  std::uint32_t k = 0;
  double probability = first;
  while (u > probability && k < most) {
    const double next = separate_product(probability, ratio(k + 1));
    if (next < probability && next < 0x1p-60) break;  // beyond the last value that a double can distinguish
    u -= probability;
    probability = next;
    ++k;
  }
  return k;
}

/// A proposal of W. Hörmann's transformed rejection. Proposals have a density in the shape of a table mountain, which
/// lies above the histogram of the distribution.
struct Proposal {
  double k;      ///< the value; -1 if it is out of range
  double v;      ///< between 0 and 1: a height
  double edge;   ///< from 0 in the far tails to 1/2 in the middle
  double slope;  ///< of the transformation there

  /// @param u, v   independent and uniform between 0 and 1. @param middle   of the proposals, and 1/2
  __host__ __device__ Proposal(double u, double v, double a, double b, double middle) : v(v) {
    const double side = u - 0.5;
    edge = 0.5 - (side < 0 ? -side : side);
    const double value = separate_product(2 * a / edge + b, side) + middle;
    k = value >= 0 && value < 0x1p32 ? static_cast<double>(static_cast<std::uint32_t>(value)) : -1.0;
    slope = a / separate_product(edge, edge) + b;
  }
  __host__ __device__ bool is_below(double height) const { return edge >= 0.07 && v <= height; }
};

/// ln of the probability of k.
__host__ __device__ inline double log_of_poisson(double k, double mean) {
  constexpr double kHalfLogOf2Pi = 0.91893853320467274;
  const double x = k + 1;
  return separate_product(k, log_of(mean / x)) + (x - mean) - 0.5 * log_of(x) - kHalfLogOf2Pi - stirling_rest(k);
}

/// Algorithm PTRS of W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance:
/// Mathematics and Economics 12, 1993. @param draw   makes four random words. @pre 10 <= mean <= 2^31
template <class Draw>
__host__ __device__ std::uint32_t poisson_by_rejection(double mean, const Draw& draw) {
  const double b = 0.931 + separate_product(2.53, std::sqrt(mean));
  const double a = -0.059 + separate_product(0.02483, b);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double certain = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const auto words = draw();
    const Proposal at(open_unit(words[0], words[1]), open_unit(words[2], words[3]), a, b, mean + 0.43);
    if (at.is_below(certain)) return static_cast<std::uint32_t>(at.k);
    if (at.k < 0 || (at.edge < 0.013 && at.v > at.edge)) continue;
    const double height = separate_product(at.v, inverse_alpha) / at.slope;
    if (log_of(height) <= log_of_poisson(at.k, mean)) return static_cast<std::uint32_t>(at.k);
  }
}

/// Algorithm BTRS of W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and
/// Simulation 46, 1993. @pre n * p >= 10, p <= 1/2
template <class Draw>
__host__ __device__ std::uint32_t binomial_by_rejection(double n, double p, const Draw& draw) {
  const double mean = separate_product(n, p);
  const double deviation = std::sqrt(separate_product(mean, 1 - p));
  const double b = 1.15 + separate_product(2.53, deviation);
  const double a = -0.0873 + separate_product(0.0248, b) + separate_product(0.01, p);
  const double alpha = separate_product(2.83 + 5.1 / b, deviation);
  const double certain = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  while (true) {
    const auto words = draw();
    const Proposal at(open_unit(words[0], words[1]), open_unit(words[2], words[3]), a, b, mean + 0.5);
    if (at.is_below(certain)) return static_cast<std::uint32_t>(at.k);
    if (at.k < 0 || at.k > n) continue;
    // ln of the probability of k by that of the most probable number m.
    const auto m = static_cast<double>(static_cast<std::int64_t>(separate_product(n + 1, p)));
    const double ratio = separate_product(m + 0.5, log_of((m + 1) / separate_product(odds, n - m + 1))) +
                         separate_product(n + 1, log_of((n - m + 1) / (n - at.k + 1))) +
                         separate_product(at.k + 0.5, log_of(separate_product(odds, n - at.k + 1) / (at.k + 1))) +
                         (stirling_rest(m) - stirling_rest(at.k)) + (stirling_rest(n - m) - stirling_rest(n - at.k));
    if (log_of(separate_product(at.v, alpha) / at.slope) <= ratio) return static_cast<std::uint32_t>(at.k);
  }
}

/// See random::poisson. @param draw   makes four random words
template <class Draw>
__host__ __device__ std::uint32_t poisson_of(double mean, const Draw& draw) {
  if (!(mean > 0)) return 0;
  if (mean >= 10) return poisson_by_rejection(mean < 0x1p31 ? mean : 0x1p31, draw);
  const auto words = draw();
  return search_from_0(open_unit(words[0], words[1]), exp_of_minus(mean), 0x1p31,
                       [mean](std::uint32_t k) { return mean / k; });
}

/// See random::binomial. @param draw   makes four random words. @pre n > 0, 0 < p <= 1/2
template <class Draw>
__host__ __device__ std::uint32_t rarer_outcomes(double n, double p, const Draw& draw) {
  if (separate_product(n, p) >= 10) return binomial_by_rejection(n, p, draw);
  const double q = 1 - p;
  const double log_of_q = log_of(q) + ((1 - q) - p) / q;  // as 1 - p has been rounded
  const double odds = p / q;
  const auto words = draw();
  return search_from_0(open_unit(words[0], words[1]), exp_of_minus(-separate_product(n, log_of_q)), n,
                       [n, odds](std::uint32_t k) { return separate_product((n - k + 1) / k, odds); });
}

/// See random::binomial. @param draw   makes four random words
template <class Draw>
__host__ __device__ std::uint32_t binomial_of(std::uint32_t n, double p, const Draw& draw) {
  if (!(p > 0) || n == 0) return 0;
  if (p >= 1) return n;
  return p > 0.5 ? n - rarer_outcomes(n, 1 - p, draw) : rarer_outcomes(n, p, draw);
}

}  // namespace dynasoar::detail
