/// @file
/// What the fuzz targets share: reading an input as a sequence of small numbers, and failing.
///
/// A target is a file that defines LLVMFuzzerTestOneInput. With clang it is linked with libFuzzer, otherwise with
/// fuzz_driver.cpp, which runs files and random inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace dynasoar::test {

/// The bytes of an input, in order; zeros when they are used up.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}

  bool empty() const { return data_ == end_; }
  bool next_is_at_least(std::uint8_t value) const { return !empty() && *data_ >= value; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : *data_++; }

  /// A number below `bound`. @pre 0 < bound <= 65536
  std::uint32_t below(std::size_t bound) {
    std::uint32_t value = byte();
    if (bound > 256) value = value << 8 | byte();
    return value % static_cast<std::uint32_t>(bound);
  }

 private:
  const std::uint8_t* data_;
  const std::uint8_t* end_;
};

/// Ends the program, which is how a fuzzer learns that an input shows an error.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz target: %s\n", what.c_str());
  std::abort();
}

inline void require(bool condition, const char* what) {
  if (!condition) fail(what);
}

}  // namespace dynasoar::test
