/// @file
/// The rules of the epidemic, for host and device. Used by every parallel implementation; the reference has its own
/// code. README.md defines them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <app/periodic_cells.h>
#include <app/vector.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace epidemic {

using app::Vector;
using dynasoar::random::Words;

/// People within this distance are in contact. It is the unit of length.
inline constexpr float kContact = 1;

/// The width of the cells in which people search for others: slightly more than the distance of a contact. It is
/// greater in a large world, so that there are at most 2^15 cells along a side, and their numbers have 32 bits.
inline float width_of_cell(float side) {
  return std::max(1.01f * kContact, side / 0x1p15f);
}

/// The purposes of random numbers.
enum class Decision : std::uint32_t { initial = 0, day = 1, contact = 2 };

/// How an infection ends in a step.
enum class End : std::uint8_t { none, recovery, death };

/// The number of random words, of 2^32, that are below a probability: 2^32 if it is 1.
struct Chance {
  std::uint64_t words;

  static Chance of(double probability) { return {static_cast<std::uint64_t>(std::ceil(probability * 0x1p32))}; }
  __host__ __device__ bool is_met_by(std::uint32_t word) const { return word < words; }
};

/// The parameters as the device needs them.
struct Rules {
  dynasoar::random::Seed seed;
  float side;
  float stride;
  Chance infection;
  Chance death;
  Chance death_or_child;
  Chance fatal_end;
  Chance end;

  static Rules of(const Parameters& parameters) {
    return {.seed = {parameters.seed},
            .side = parameters.side,
            .stride = parameters.stride,
            .infection = Chance::of(parameters.infection),
            .death = Chance::of(parameters.deaths),
            .death_or_child = Chance::of(parameters.deaths + parameters.births),
            .fatal_end = Chance::of(parameters.recovery * parameters.fatality),
            .end = Chance::of(parameters.recovery)};
  }

  /// The random words of a person's step: two for the walk, one for life and death, one for the infection.
  __host__ __device__ Words words(std::uint64_t number, std::uint32_t step) const {
    return dynasoar::random::words(seed, Decision::day, number, step);
  }

  __host__ __device__ Vector walked(Vector from, const Words& words) const {
    return {app::wrapped(from.x + stride * (2 * dynasoar::random::unit(words[0]) - 1), side),
            app::wrapped(from.y + stride * (2 * dynasoar::random::unit(words[1]) - 1), side)};
  }

  __host__ __device__ bool dies(const Words& words) const { return death.is_met_by(words[2]); }

  /// Whether a person that does not die has a child.
  __host__ __device__ bool has_child(const Words& words) const { return death_or_child.is_met_by(words[2]); }

  /// The end of the infection of a person that does not die of anything else.
  __host__ __device__ End end_of_infection(const Words& words) const {
    if (!end.is_met_by(words[3])) return End::none;
    return fatal_end.is_met_by(words[3]) ? End::death : End::recovery;
  }

  /// Whether a susceptible person is infected by one of `contacts` infected people in contact.
  __host__ __device__ bool catches(std::uint64_t number, std::uint32_t step, std::uint32_t contacts) const {
    dynasoar::random::Stream stream(seed, Decision::contact, number, step);
    for (std::uint32_t i = 0; i < contacts; ++i) {
      if (infection.is_met_by(stream.word())) return true;
    }
    return false;
  }
};

}  // namespace epidemic
