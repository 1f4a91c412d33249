// DeviceArray and HostBuffer: copies, moves, and errors that say what to do.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/growing_memory.h>
#include <dynasoar/platform/host_buffer.h>
#include <dynasoar/platform/memory.h>

#include "test_support.h"

namespace memory_test {

using namespace dynasoar;
using dynasoar::test::run_loop;

TEST_CASE("what is uploaded is what device code reads and what is downloaded") {
  const std::vector<std::uint32_t> values{3, 1, 4, 1, 5, 9};
  DeviceArray<std::uint32_t> array(values.size());
  array.upload(values);
  CHECK(array.download() == values);
  run_loop(values.size(), [data = array.data()] __device__(std::size_t i) { data[i] += 10; });
  CHECK(array.download() == std::vector<std::uint32_t>{13, 11, 14, 11, 15, 19});
}

TEST_CASE("an upload of fewer elements leaves the others as they are") {
  DeviceArray<std::uint32_t> array(3);
  array.fill_bytes(0);
  array.upload({7, 8});
  CHECK(array.download() == std::vector<std::uint32_t>{7, 8, 0});
}

TEST_CASE("an upload of more elements than the array has is refused") {
  DeviceArray<std::uint32_t> array(1);
  CHECK_THROWS_WITH_AS(array.upload({1, 2}), doctest::Contains("more elements than the array has"), Error);
}

TEST_CASE("filling sets every byte") {
  DeviceArray<std::uint32_t> array(1000);
  array.fill_bytes(0xa5);
  CHECK(array.download() == std::vector<std::uint32_t>(1000, 0xa5a5a5a5u));
}

TEST_CASE("an empty array has no address and can be used") {
  DeviceArray<int> arrays[] = {DeviceArray<int>(), DeviceArray<int>(0)};
  for (DeviceArray<int>& array : arrays) {
    CHECK(array.data() == nullptr);
    CHECK(array.size() == 0);
    array.fill_bytes(1);
    array.upload({});
    CHECK(array.download().empty());
  }
}

TEST_CASE("moving hands the memory over") {
  DeviceArray<int> first(2);
  first.upload({1, 2});
  int* const address = first.data();
  DeviceArray<int> second(std::move(first));
  CHECK(second.data() == address);
  DeviceArray<int> third(5);
  third = std::move(second);
  CHECK(third.data() == address);
  CHECK(third.download() == std::vector<int>{1, 2});
}

TEST_CASE("arrays start on a line of 128 bytes") {
  for (std::size_t size : {1, 3, 100, 1000}) {
    DeviceArray<char> array(size);
    CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % 128 == 0);
    CHECK(array.bytes() == size);
  }
}

TEST_CASE("an array that no memory can hold is refused with advice") {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (std::size_t size : {kMost, kMost / 8 + 1, kMost / 8, kMost / 8 - 1, kMost / 16, std::size_t{1} << 58}) {
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(DeviceArray<std::uint64_t>{size}, doctest::Contains("ask for a smaller heap"), Error);
  }
  DeviceArray<int> afterwards(1);  // a refused allocation leaves no error behind
  afterwards.upload({1});
  CHECK(afterwards.download() == std::vector<int>{1});
}

TEST_CASE("a buffer that no memory can hold is refused, and one of no bytes is none") {
  using dynasoar::detail::HostBuffer;
  CHECK_THROWS_AS(HostBuffer{std::size_t{1} << 58}, Error);
  CHECK(HostBuffer(0).data() == nullptr);
  HostBuffer buffer(3);
  CHECK(buffer.bytes() == 3);
  std::memcpy(buffer.data(), "ab", 3);
  const HostBuffer moved(std::move(buffer));
  CHECK(std::string(moved.data()) == "ab");
}

TEST_CASE("memory that grows has as much as was asked for, and its tail from the beginning") {
  constexpr std::size_t kMiB = std::size_t{1} << 20;  // sizes below are multiples of a page, which is 2 MiB on GPUs
  dynasoar::detail::GrowingMemory memory(64 * kMiB, 2 * kMiB, true);
  CHECK(memory.bytes() == 2 * kMiB);
  memory.commit(4 * kMiB);
  CHECK(memory.bytes() == 6 * kMiB);
  memory.commit(4 * kMiB);
  CHECK(memory.bytes() == 6 * kMiB);
  memory.commit(70 * kMiB);  // which is not there: up to the tail
  CHECK(memory.bytes() == 64 * kMiB);
  memory.take_back(4 * kMiB);
  CHECK(memory.bytes() == 6 * kMiB);
}

TEST_CASE("as many addresses as there are not are refused") {
  using dynasoar::detail::GrowingMemory;
  CHECK_THROWS_AS(GrowingMemory(std::size_t{1} << 62, 0, true), Error);
}

}  // namespace memory_test
