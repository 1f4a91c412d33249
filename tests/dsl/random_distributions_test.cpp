// Distributions: whether random numbers are distributed as they should, also for extreme parameters, and what comes of
// parameters that make no sense. All seeds are fixed, so no test fails by chance.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/random.h>

namespace random_distributions_test {

using namespace dynasoar::random;

constexpr Seed kSeed{20261127};
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How far chi-square lies above what is expected, in standard deviations (E. B. Wilson and M. M. Hilferty).
double excess(double chi_square, double degrees) {
  const double part = 2 / (9 * degrees);
  return (std::cbrt(chi_square / degrees) - (1 - part)) / std::sqrt(part);
}

/// Compares counts with expected ones; neighbours are put together until they are expected 10 times.
void check_counts(const std::vector<double>& expected, const std::vector<double>& counted) {
  double chi_square = 0, wanted = 0, found = 0;
  int bins = 0;
  double left = std::accumulate(expected.begin(), expected.end(), 0.0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    wanted += expected[i];
    found += counted[i];
    left -= expected[i];
    if (wanted < 10 || (left < 10 && i + 1 < expected.size())) continue;
    chi_square += (found - wanted) * (found - wanted) / wanted;
    ++bins;
    wanted = found = 0;
  }
  CHECK(std::abs(found - wanted) < 10);  // of what is too rare for a bin
  if (bins > 1) CHECK(excess(chi_square, bins - 1) < 4);
}

/// Compares 2^18 draws with the probabilities of the values around the mean; those further away share two bins.
void check_distribution(double mean, double deviation, const std::function<double(double)>& log_probability,
                        const std::function<double(Stream&)>& draw) {
  CAPTURE(mean);
  CAPTURE(deviation);
  constexpr std::uint64_t kDraws = 1 << 18;
  const double first = std::max(0.0, std::floor(mean - 6 * deviation));
  const auto values = static_cast<std::size_t>(std::ceil(mean + 6 * deviation + 6) - first);
  const auto width = std::max<std::size_t>(1, static_cast<std::size_t>(deviation / 8));
  std::vector<double> expected(values / width + 3), counted(values / width + 3);
  double rest = 1;
  for (std::size_t i = 0; i < values; ++i) {
    const double probability = std::exp(log_probability(first + static_cast<double>(i)));
    expected[1 + i / width] += kDraws * probability;
    rest -= probability;
  }
  CHECK(std::abs(rest) < 1e-4);
  double sum = 0, squares = 0;
  for (std::uint64_t number = 0; number < kDraws; ++number) {
    Stream stream(kSeed, 1, number, static_cast<std::uint32_t>(mean * 1000));
    const double value = draw(stream);
    sum += value - mean;
    squares += (value - mean) * (value - mean);
    const bool inside = value >= first && value < first + static_cast<double>(values);
    const std::size_t at = inside          ? 1 + static_cast<std::size_t>(value - first) / width
                           : value < first ? 0
                                           : counted.size() - 1;
    ++counted[at];
  }
  check_counts(expected, counted);
  const double error = deviation / std::sqrt(kDraws);
  CHECK(std::abs(sum / kDraws) < 4 * error + 1e-12);
  // The variance of a variance: the fourth moment of both distributions is at most 3 s^4 + s^2.
  const double variance = deviation * deviation;
  CHECK(std::abs(squares / kDraws - variance) < 4 * std::sqrt((2 * variance * variance + variance) / kDraws) + 1e-12);
}

double log_of_factorial(double k) {
  return std::lgamma(k + 1);
}

/// In higher precision, because logarithms of 2^32 factorials are large.
double log_of_binomial(long double n, long double p, long double k) {
  if (k > n) return -kInfinity;
  const long double choices = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  return static_cast<double>(choices + k * std::log(p) + (n - k) * std::log1p(-p));
}

// ---- One word ------------------------------------------------------------------------------------------------------

/// The probability of a normal number above z, as exact as it can be had.
long double normal_tail(long double z) {
  return 0.5L * std::erfc(z / std::sqrt(2.0L));
}

TEST_CASE(
    "normal and exponential numbers are the inverse of the distribution function, to 0.6 units in the last place") {
  double worst_normal = 0, worst_exponential = 0;
  std::uint64_t step = 1;
  for (std::uint64_t word = 0; word < std::uint64_t{1} << 32; word += step) {
    step = word < 20'000 ? 1 : 39'119;
    for (const std::uint32_t w : {static_cast<std::uint32_t>(word), ~static_cast<std::uint32_t>(word)}) {
      const long double p = (w + 0.5L) / 4294967296.0L, q = (~w + 0.5L) / 4294967296.0L;  // q = 1 - p, exactly
      const auto units = [](float value, long double exact) {
        const float size = std::abs(value);
        return static_cast<double>(std::abs(value - exact) / (std::nextafter(size, 100.0f) - size));
      };
      const float z = normal(w);
      long double root = z;  // Newton's method, in the smaller tail
      for (int i = 0; i < 2; ++i) {
        const long double density = std::exp(-root * root / 2) / std::sqrt(2 * 3.14159265358979323846L);
        root += (p > 0.5L ? normal_tail(root) - q : p - normal_tail(-root)) / density;
      }
      worst_normal = std::max(worst_normal, units(z, root));
      worst_exponential = std::max(worst_exponential, units(exponential(w), p > 0.5L ? -std::log1p(-q) : -std::log(p)));
      if (normal(~w) != -z) FAIL_CHECK("not symmetric at " << w);
    }
  }
  CHECK(worst_normal < 0.6);
  CHECK(worst_exponential < 0.55);
}

TEST_CASE("normal numbers of a stream have the moments and the distribution of Kolmogorov and Smirnov's test") {
  constexpr std::size_t kDraws = 1 << 18;
  std::vector<double> values;
  Stream stream(kSeed, 2, 3, 4);
  for (std::size_t i = 0; i < kDraws; ++i) values.push_back(static_cast<double>(normal(stream.word())));
  CHECK(stream.draws() == kDraws / 4);
  double moments[5]{};
  for (const double value : values) {
    for (int power = 1; power < 5; ++power) moments[power] += std::pow(value, power) / kDraws;
  }
  const double root = std::sqrt(kDraws);
  CHECK(std::abs(moments[1]) < 4 / root);
  CHECK(std::abs(moments[2] - 1) < 4 * std::sqrt(2.0) / root);
  CHECK(std::abs(moments[3]) < 4 * std::sqrt(15.0) / root);
  CHECK(std::abs(moments[4] - 3) < 4 * std::sqrt(96.0) / root);
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const double below = 1 - static_cast<double>(normal_tail(values[i]));
    distance = std::max({distance, std::abs(below - static_cast<double>(i) / kDraws),
                         std::abs(below - static_cast<double>(i + 1) / kDraws)});
  }
  CHECK(distance * root < 1.95);  // 1 of 1000 is above
}

TEST_CASE("a choice has the probabilities of its weights") {
  const auto check = [](const auto& weights) {
    std::vector<double> expected, counted(weights.size());
    constexpr std::uint64_t kDraws = 1 << 16;
    double sum = 0;
    for (const auto weight : weights) sum += weight > 0 ? static_cast<double>(weight) : 0.0;
    for (const auto weight : weights) expected.push_back(weight > 0 ? kDraws * static_cast<double>(weight) / sum : 0.0);
    Stream stream(kSeed, 3, weights.size(), 0);
    for (std::uint64_t i = 0; i < kDraws; ++i) ++counted[choice(stream.word(), weights)];
    check_counts(expected, counted);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] > 0)) CHECK(counted[i] == 0);
    }
  };
  check(std::array<int, 4>{1, 2, 3, 4});
  check(std::array<int, 5>{0, 7, -3, 5, 0});
  check(std::array<float, 6>{0.5f, 0, -1, 2.5f, static_cast<float>(kNotANumber), 1e-3f});
  check(std::array<double, 3>{1e300, 2e300, 1});
  check(std::array<std::uint64_t, 3>{std::uint64_t{1} << 62, std::uint64_t{1} << 63, 5});
  check(std::vector<bool>{false, true, true});
}

TEST_CASE("a choice is exact at the bounds between weights, and of nothing the first") {
  constexpr std::uint32_t kMost = 0xFFFFFFFF;
  constexpr int kWeights[] = {0, 1, 0, 3, 0};
  static_assert(choice(0, kWeights) == 1);
  static_assert(choice(0x3FFFFFFF, kWeights) == 1);
  static_assert(choice(0x40000000, kWeights) == 3);
  static_assert(choice(kMost, kWeights) == 3);
  static_assert(choice(kMost, std::array<double, 3>{0.1, 0.2, 0.3}) == 2);
  static_assert(choice(0x80000000, std::array<float, 4>{0, 0, -1, 0}) == 2);  // all are as likely
  static_assert(choice(kMost, std::array<int, 4>{0, 0, -1, 0}) == 3);
  static_assert(choice(0x60000000, std::array<float, 3>{-1e-45f, 1e-45f, 3e-45f}) == 2);  // 1/3 and 2/3
  CHECK(choice(kMost, std::span<const int>()) == 0);
  CHECK(choice(kMost, std::array<double, 2>{kInfinity, 1}) == 1);  // not what is asked for, but in range
}

#if defined(__x86_64__)
TEST_CASE("a choice knows subnormal weights where arithmetic takes them for 0") {
  volatile float weights[] = {1e-40f, 3e-40f};
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);  // results and operands
  const bool are_zero = !(weights[0] * 1 > 0);
  const std::size_t low = choice(0x3FFF0000, weights), high = choice(0x40010000, weights);
  __builtin_ia32_ldmxcsr(before);
  CHECK(are_zero);
  CHECK(low == 0);
  CHECK(high == 1);
}
#endif

// ---- Streams -------------------------------------------------------------------------------------------------------

TEST_CASE("a stream hands out the words of draw 0, 1, 2 ..., each of them once") {
  Stream stream(kSeed, 5, 6, 7);
  const Words first = words(kSeed, 5, 6, 7, 0), second = words(kSeed, 5, 6, 7, 1), third = words(kSeed, 5, 6, 7, 2);
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(stream.word() == first[i]);
  CHECK(stream.word() == second[0]);
  const Words whole = stream.words();
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(whole[i] == third[i]);
  CHECK(stream.word() == second[1]);  // what a draw has left is not lost
  CHECK(stream.draws() == 3);
}

TEST_CASE("all orders of a shuffled array are equally likely, and every element stays") {
  std::vector<double> counted(120);
  constexpr std::uint64_t kDraws = 1 << 16;
  for (std::uint64_t number = 0; number < kDraws; ++number) {
    Stream stream(kSeed, 6, number, 0);
    std::array<int, 5> cards{0, 1, 2, 3, 4};
    shuffle(stream, cards);
    std::size_t order = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const auto smaller = std::count_if(cards.begin() + i + 1, cards.end(), [&](int card) { return card < cards[i]; });
      order = order * (5 - i) + static_cast<std::size_t>(smaller);
    }
    ++counted[order];
  }
  check_counts(std::vector<double>(120, kDraws / 120.0), counted);

  std::vector<int> many(10'000);
  std::iota(many.begin(), many.end(), 0);
  const std::vector<int> before = many;
  Stream stream(kSeed, 7, 0, 0);
  shuffle(stream, std::span<int>(many));
  CHECK(many != before);
  std::sort(many.begin(), many.end());
  CHECK(many == before);
  const std::uint32_t draws = stream.draws();
  CHECK(draws == 2500);  // 9999 words
  int one[] = {5};
  shuffle(stream, one);
  shuffle(stream, std::span<int>());
  CHECK(one[0] == 5);
  CHECK(stream.draws() == draws);
}

/// 2^32 values that do not exist. Throws the second index that it is asked for.
struct Endless {
  int asked = 0;
  static std::size_t size() { return std::size_t{1} << 32; }
  int& operator[](std::size_t index) {
    static int value = 0;
    if (++asked == 2) throw index;
    return value;
  }
};

TEST_CASE("2^32 values are shuffled, too") {
  Stream stream(kSeed, 8, 0, 0);
  std::size_t chosen = 0;
  try {
    shuffle(stream, Endless());
  } catch (std::size_t index) {
    chosen = index;
  }
  CHECK(chosen == words(kSeed, 8, 0, 0)[0]);
}

constexpr std::array<int, 8> shuffled_at_compile_time() {
  std::array<int, 8> cards{0, 1, 2, 3, 4, 5, 6, 7};
  Stream stream(Seed{1}, 2, 3, 4);
  shuffle(stream, cards);
  return cards;
}
static_assert(shuffled_at_compile_time() != std::array<int, 8>{0, 1, 2, 3, 4, 5, 6, 7});

// ---- Counts --------------------------------------------------------------------------------------------------------

TEST_CASE("Poisson numbers are distributed as they should for every mean") {
  for (const double mean : {1e-3, 0.1, 1.0, 4.0, 9.999, 10.0, 11.5, 30.0, 123.4, 1e4, 1e6, 2e9}) {
    check_distribution(
        mean, std::sqrt(mean), [&](double k) { return k * std::log(mean) - mean - log_of_factorial(k); },
        [&](Stream& stream) { return poisson(stream, mean); });
  }
}

TEST_CASE("binomial numbers are distributed as they should for every number and probability") {
  struct Parameters {
    std::uint32_t n;
    double p;
  };
  constexpr std::uint32_t k31 = 0x80000000, kMost = 0xFFFFFFFF;
  for (const Parameters& parameters :
       {Parameters{1, 0.5}, {1, 1e-9},      {2, 0.999},        {7, 0.5},      {19, 0.5},     {20, 0.5},
        {25, 0.4},          {40, 0.25},     {100, 0.05},       {101, 0.0991}, {1000, 1e-3},  {1000, 0.3},
        {1000, 0.97},       {100'000, 0.5}, {k31, 1e-9},       {k31, 4.6e-9}, {k31, 4.7e-9}, {k31, 1e-4},
        {k31, 0.5},         {k31, 0.9999},  {kMost, 1 - 1e-9}, {kMost, 0.25}}) {
    const std::uint32_t n = parameters.n;  // no structured binding: clang does not capture it
    const double p = parameters.p;
    CAPTURE(n);
    CAPTURE(p);
    const double count = n;
    check_distribution(
        count * p, std::sqrt(count * p * (1 - p)), [&](double k) { return log_of_binomial(count, p, k); },
        [&](Stream& stream) { return binomial(stream, n, p); });
  }
}

TEST_CASE("counts use one draw for small means, and seldom more than three for large ones") {
  const auto draws = [](std::uint64_t number, auto count) {
    Stream stream(kSeed, 8, number, 0);
    count(stream);
    return stream.draws();
  };
  double poisson_draws = 0, binomial_draws = 0;
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    if (draws(number, [](Stream& stream) { poisson(stream, 9.9); }) != 1) FAIL_CHECK("Poisson, inversion");
    if (draws(number, [](Stream& stream) { binomial(stream, 100, 0.09); }) != 1) FAIL_CHECK("binomial, inversion");
    poisson_draws += draws(number, [](Stream& stream) { poisson(stream, 10); });
    binomial_draws += draws(number, [](Stream& stream) { binomial(stream, 100, 0.1); });
  }
  CHECK(poisson_draws < 14'000);
  CHECK(binomial_draws < 15'000);
}

TEST_CASE("parameters without a meaning give what the documentation says") {
  Stream stream(kSeed, 9, 0, 0);
  for (const double mean : {0.0, -0.0, -1.0, -kInfinity, kNotANumber}) CHECK(poisson(stream, mean) == 0);
  for (const double p : {0.0, -0.5, -kInfinity, kNotANumber}) CHECK(binomial(stream, 10, p) == 0);
  for (const double p : {1.0, 1.5, kInfinity}) CHECK(binomial(stream, 10, p) == 10);
  for (const double p : {0.0, 0.5, 1.0}) CHECK(binomial(stream, 0, p) == 0);
  CHECK(stream.draws() == 0);
  CHECK(poisson(stream, 1e-300) == 0);
  CHECK(binomial(stream, 0xFFFFFFFF, 1e-300) == 0);
  CHECK(binomial(stream, 0xFFFFFFFF, std::numeric_limits<double>::denorm_min()) == 0);
  for (const double mean : {0x1p31, 1e18, kInfinity}) {
    CHECK(std::abs(static_cast<double>(poisson(stream, mean)) - 0x1p31) < 6 * std::sqrt(0x1p31));
  }
}

TEST_CASE("the widest proposals are within range or refused") {
  using dynasoar::detail::Proposal;
  const double least = dynasoar::detail::open_unit(0, 0), most = dynasoar::detail::open_unit(0xFFFFFFFF, 0xFFFFFFFF);
  CHECK(least > 0);
  CHECK(most < 1);
  for (const double b : {8.9, 1e3, 1.2e5}) {
    CHECK(Proposal(least, 0.5, 0.025 * b, b, 0.16 * b * b).k == -1);
    CHECK(Proposal(most, 0.5, 0.025 * b, b, 0.16 * b * b).k == -1);
  }
}

// ---- In objects ----------------------------------------------------------------------------------------------------

class Player;
using AllocatorT = dynasoar::SoaAllocator<Player>;

class Player : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Player, (number_, std::uint32_t), (cards_, std::array<std::uint8_t, 6>),
                  (tastes_, std::array<float, 3>), (choice_, std::uint32_t), (eggs_, std::uint32_t), (weight_, float))
  __device__ explicit Player(std::size_t index) : number_(static_cast<std::uint32_t>(index)) {
    for (std::uint8_t i = 0; i < 6; ++i) cards_[i] = i;
    tastes_ = std::array<float, 3>{1, 0, 3};
    choice_ = 0;
    eggs_ = 0;
    weight_ = 0;
  }
  __device__ void play() {
    Stream stream(kSeed, 10, number_, 0);
    shuffle(stream, cards_);
    choice_ = static_cast<std::uint32_t>(choice(stream.word(), tastes_));
    eggs_ = poisson(stream, 20) + binomial(stream, 50, 0.3);
    weight_ = 20 + 2 * normal(stream.word()) + exponential(stream.word());
  }
};

TEST_CASE("objects shuffle array fields, choose by them and draw from distributions") {
  dynasoar::AllocatorHandle<AllocatorT> handle;
  handle.parallel_new<Player>(10'000);
  handle.parallel_do<&Player::play>();
  const dynasoar::Columns players = handle.columns<Player>();
  std::vector<double> chosen(3), firsts(6);
  for (const std::uint32_t choice : players["choice_"].as<std::uint32_t>()) ++chosen[choice];
  check_counts({2500, 0, 7500}, chosen);
  const std::vector<std::uint32_t> cards = players["cards_"].as<std::uint32_t>();
  for (std::size_t i = 0; i < cards.size(); i += 6) {
    ++firsts[cards[i]];
    std::uint32_t all = 0;
    for (std::size_t j = 0; j < 6; ++j) all |= 1u << cards[i + j];
    if (all != 63) FAIL_CHECK("a card was lost");
  }
  check_counts(std::vector<double>(6, 10'000 / 6.0), firsts);
  CHECK(std::abs(static_cast<double>(handle.sum<&Player::eggs_>()) / 10'000 - 35) < 4 * std::sqrt(30.5 / 10'000));
  CHECK(std::abs(handle.sum<&Player::weight_>() / 10'000 - 21) < 4 * std::sqrt(5.0 / 10'000));
}

}  // namespace random_distributions_test
