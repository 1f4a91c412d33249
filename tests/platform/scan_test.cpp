/// @file
/// PrefixSums: sums over arrays of all lengths that it treats differently.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/scan.h>

TEST_CASE("the prefix sums of an array are the sums of the numbers before each") {
  dynasoar::Executor executor(3);
  for (const std::size_t count : {1, 2, 1000, 8192, 8193, 16384, 16385, 32768, 32769, 100000}) {
    CAPTURE(count);
    std::vector<std::uint32_t> numbers(count), expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<std::uint32_t>(i * 7919 % 13);
      if (i > 0) expected[i] = expected[i - 1] + numbers[i - 1];
    }
    dynasoar::DeviceArray<std::uint32_t> from(count), to(count);
    from.upload(numbers);
    dynasoar::detail::PrefixSums sums(count);
    for (int run = 0; run < 2; ++run) {
      to.fill_bytes(0xFF);
      sums.run(executor, from.data(), to.data());
      executor.synchronize();
      CHECK(to.download() == expected);
    }
    CHECK(from.download() == numbers);
  }
}
