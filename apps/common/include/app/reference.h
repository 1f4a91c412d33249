/// @file
/// Reference: the common part of the sequential references: the history of their censuses, and the random numbers that
/// the models define. Plain C++. It shares only the random number generator with the parallel implementations, so that
/// tests can compare them with the references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <Random123/philox.h>

namespace app {

/// The number of random words, out of 2^32, for which the event happens.
inline std::uint64_t words_of(double probability) {
  return static_cast<std::uint64_t>(probability * 4294967296.0);
}

/// Whether an event with this probability happens.
inline bool happens(std::uint32_t word, double probability) {
  return word < words_of(probability);
}

/// Maps a random word to an integer in [0, n).
inline std::uint32_t scaled(std::uint32_t word, std::size_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * n) >> 32);
}

/// @tparam Interface   of the model's simulations
/// @tparam Census      the type of the rows of its history
template <class Interface, class Census>
class Reference : public Interface {
 public:
  void synchronize() final {}
  void record() final { history_.push_back(census()); }
  std::vector<Census> take_history() final { return std::exchange(history_, {}); }

 protected:
  explicit Reference(std::uint64_t seed = 0) : seed_(seed) {}

  virtual Census census() const = 0;

  /// The random words for one decision about one cell or object in the current step.
  std::array<std::uint32_t, 4> random_words(std::uint32_t decision, std::size_t entity, std::uint32_t draw = 0) const {
    const auto seed_low = static_cast<std::uint32_t>(seed_ & 0xFFFFFFFFu);
    const auto seed_high = static_cast<std::uint32_t>(seed_ >> 32);
    const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(entity), step_, draw, 0}};
    const r123::Philox4x32::key_type key = {{seed_low, decision + 0x9E3779B9u * seed_high}};
    const r123::Philox4x32::ctr_type words = r123::Philox4x32()(counter, key);
    return {words[0], words[1], words[2], words[3]};
  }

  std::uint32_t step_ = 0;

 private:
  std::uint64_t seed_;
  std::vector<Census> history_;
};

}  // namespace app
