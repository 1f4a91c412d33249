/// @file
/// Density: the probability of an object at each place of a lattice. See Lattice::parallel_new and
/// docs/how-to/lattices.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/random.h>

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
    chosen_words_ = static_cast<std::uint64_t>(std::ceil(probability * 0x1p32));
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
