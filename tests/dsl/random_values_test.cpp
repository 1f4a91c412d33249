// Values of random numbers: they stay what they are, on host and device, whatever compilers are told.
// Standard C++ and the executor only: it is compiled a second time with options that let compilers fuse operations.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/random.h>

namespace random_values_test {

using namespace dynasoar::random;

constexpr Seed kSeed{0x1234567890};
constexpr std::uint32_t kWords[] = {0, 1, 12'345'678, 0x0040'0000, 0x7FFF'FFFF, 0x8000'0000, 0xC000'0000, 0xFFFF'FFFF};
constexpr std::uint32_t kNormal[] = {0xC0CAD08D, 0xC0C55364, 0xC030C0D5, 0xC04639A8,
                                     0xAFA06C99, 0x2FA06C99, 0x3F2CAB5C, 0x40CAD08D};
constexpr std::uint32_t kExponential[] = {0x41B6FDA9, 0x41AE33B3, 0x40BB42B5, 0x40DDCE9E,
                                          0x3F317218, 0x3F317218, 0x3E934B11, 0x2F000000};

TEST_CASE("normal and exponential numbers are what they were") {
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    CHECK(std::bit_cast<std::uint32_t>(normal(kWords[i])) == kNormal[i]);
    CHECK(std::bit_cast<std::uint32_t>(exponential(kWords[i])) == kExponential[i]);
  }
}

/// Numbers of all distributions for one number.
struct Sample {
  std::uint32_t values[16];
};

__host__ __device__ inline std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

__host__ __device__ inline Sample sample(std::uint64_t number) {
  Stream stream(kSeed, 1, number, 2);
  const auto part = static_cast<double>(number + 1) * 0x1p-12;  // from 0 to 1
  const auto n = static_cast<std::uint32_t>(number);
  const float weights[] = {1, 0.3f, static_cast<float>(part), 0.7f};
  const std::uint64_t counts[] = {7, number, 3};
  std::uint32_t cards[] = {0, 1, 2, 3, 4, 5};
  shuffle(stream, cards);
  std::uint32_t order = 0;
  for (const std::uint32_t card : cards) order = order * 6 + card;
  return {{bits(normal(stream.word())), bits(normal(n)), bits(exponential(stream.word())), bits(exponential(~n)),
           poisson(stream, part), poisson(stream, 20 * part), poisson(stream, 1000 * part), poisson(stream, 1e9 * part),
           binomial(stream, 100, part), binomial(stream, 1000, part * 0.02), binomial(stream, 0x80000000, part),
           binomial(stream, n, 0.3), static_cast<std::uint32_t>(choice(stream.word(), weights)),
           static_cast<std::uint32_t>(choice(stream.word(), counts)), order, stream.draws()}};
}

/// FNV-1a, of one of the values of all samples.
std::uint64_t checksum(const std::vector<Sample>& samples, std::size_t value) {
  std::uint64_t sum = 0xCBF29CE484222325;
  for (const Sample& sample : samples) sum = (sum ^ sample.values[value]) * 0x100000001B3;
  return sum;
}

constexpr std::uint64_t kChecksums[16] = {
    0xC4A69C311D388B84, 0x55159CA2BA7EB643, 0xF03C79CE5E13F724, 0x16249ECC83E5037F,
    0x61A0012AFD790B33, 0x969F6E137B7C1C6F, 0x0B1CE2DA99D4084A, 0xE25AE65354CA7476,
    0xBE30EAEBF0658031, 0x65F8871028D94B52, 0x07FCD12B60B981AB, 0x17A9272E5C40ADF7,
    0x8AAF5495938F13BD, 0x0A3AD114E8CB38DF, 0x7A6A69E071BCA26F, 0x3CD8E9266FF217E9};

TEST_CASE("numbers of all distributions are what they were, on the host and the device") {
  constexpr std::size_t kSamples = 1 << 12;
  const dynasoar::DeviceArray<Sample> on_device(kSamples);
  dynasoar::Executor executor(2);
  executor.for_each_index(kSamples, [samples = on_device.data()] __device__(std::size_t i) { samples[i] = sample(i); });
  executor.synchronize();
  std::vector<Sample> on_host;
  for (std::size_t i = 0; i < kSamples; ++i) on_host.push_back(sample(i));
  for (std::size_t value = 0; value < 16; ++value) {
    CAPTURE(value);
    CHECK(checksum(on_host, value) == kChecksums[value]);
    CHECK(checksum(on_device.download(), value) == kChecksums[value]);
  }
}

/// What counts are computed with: bits that differ here would only seldom show in a count.
struct Parts {
  double values[6];
};

__host__ __device__ inline Parts parts(std::uint32_t i) {
  using namespace dynasoar::detail;
  const double x = i / 128.0;
  const Words words = dynasoar::random::words(kSeed, 3, i, 4);
  const Proposal proposal(open_unit(words[0], words[1]), open_unit(words[2], words[3]), 0.0248 * x, x, 1000 + x);
  return {{log_of(x), exp_of_minus(x), stirling_rest(i), log_of_poisson(i, 10 * x), proposal.slope, proposal.k}};
}

std::uint64_t checksum(const std::vector<Parts>& all) {
  std::uint64_t sum = 0xCBF29CE484222325;
  for (const Parts& parts : all) {
    for (const double value : parts.values) sum = (sum ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001B3;
  }
  return sum;
}

TEST_CASE("logarithms and exponentials are what they were, to the last bit") {
  const dynasoar::DeviceArray<Parts> on_device(4095);
  dynasoar::Executor executor(2);
  executor.for_each_index(
      4095, [all = on_device.data()] __device__(std::size_t i) { all[i] = parts(static_cast<std::uint32_t>(i) + 1); });
  executor.synchronize();
  std::vector<Parts> on_host;
  for (std::uint32_t i = 1; i < 4096; ++i) on_host.push_back(parts(i));
  CHECK(checksum(on_host) == 7405411378589677142);
  CHECK(checksum(on_device.download()) == 7405411378589677142);
}

}  // namespace random_values_test
