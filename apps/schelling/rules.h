/// @file
/// The rules of the model, its geometry and its random numbers, shared by every parallel implementation. Defined in
/// README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/census_history.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace schelling {

/// The contents of a cell; the values are those of CellState::group.
inline constexpr std::uint8_t kVacant = 0;
inline constexpr std::uint8_t kRed = 1;
inline constexpr std::uint8_t kBlue = 2;

/// The wish of an agent that does not ask for a cell.
inline constexpr std::uint32_t kNothing = 0xFFFFFFFF;        ///< it is happy
inline constexpr std::uint32_t kWhatIsTaken = 0xFFFFFFFE;    ///< none of the cells that it examined is vacant
inline constexpr std::uint64_t kNobody = ~std::uint64_t{0};  ///< the lot in a cell for which no agent asks

/// The number of cells that an unhappy agent examines.
inline constexpr std::uint32_t kLooks = 3;

/// The purpose of a random number. It is part of the key, so no two decisions share random numbers.
enum class Decision : std::uint32_t {
  initial = 0,   ///< what a cell holds at the start
  search = 1,    ///< which cells an unhappy agent examines, and its lot
  newcomer = 2,  ///< the group that moves into a vacant cell
};

/// The numbers of an agent's neighbours.
struct Neighbours {
  std::uint32_t own = 0;  ///< of its group
  std::uint32_t all = 0;
};

/// The cell that an unhappy agent asks for, or kWhatIsTaken. Of several agents that ask for one cell, the one with the
/// least lot wins.
struct Wish {
  std::uint32_t cell;
  std::uint64_t lot;  ///< ends with the number of the cell from which the agent asks
};

/// The lot of the agent in cell `from`. @param random   of 32 bits
__host__ __device__ constexpr std::uint64_t lot_from(std::uint32_t random, std::uint32_t from) {
  return std::uint64_t{random} << 32 | from;
}

/// Whether the agent in cell `from` asked with this lot.
__host__ __device__ constexpr bool is_lot_of(std::uint64_t lot, std::uint32_t from) {
  return static_cast<std::uint32_t>(lot) == from;
}

/// The rules for one city, passed to the device by value. A fraction is stored as a word; an event happens if a random
/// word is less.
///
/// `View` below is anything with a device function `group(c)` of a cell number.
struct Rules {
  std::uint32_t width;
  std::uint32_t cells;
  dynasoar::random::Seed seed;
  std::uint64_t red;
  std::uint64_t agents;
  std::uint64_t similar;
  std::uint64_t newcomers;
  std::uint32_t patience;

  static Rules of(const Parameters& parameters) {
    const auto words = [](double fraction) { return static_cast<std::uint64_t>(fraction * 4294967296.0); };
    const auto width = static_cast<std::uint32_t>(parameters.width);
    return {width,
            width * static_cast<std::uint32_t>(parameters.height),
            {parameters.seed},
            words(parameters.red),
            words(parameters.red) + words(parameters.blue),
            words(parameters.similar),
            words(parameters.newcomers),
            parameters.patience};
  }

  /// The group in a cell at the start.
  __device__ std::uint8_t initial_group(std::uint32_t c) const {
    const std::uint32_t word = dynasoar::random::words(seed, Decision::initial, c, 0)[0];
    return word < red ? kRed : word < agents ? kBlue : kVacant;
  }

  /// The neighbours of an agent of this group in cell c.
  template <class View>
  __device__ Neighbours neighbours(const View& view, std::uint32_t c, std::uint8_t group) const {
    const std::uint32_t x = c % width;
    const std::uint32_t row = c - x;
    const std::uint32_t columns[] = {x == 0 ? width - 1 : x - 1, x, x + 1 == width ? 0 : x + 1};
    const std::uint32_t rows[] = {row == 0 ? cells - width : row - width, row, row + width == cells ? 0 : row + width};
    Neighbours found;
    for (int down = 0; down < 3; ++down) {
      for (int across = 0; across < 3; ++across) {
        if (down == 1 && across == 1) continue;
        const std::uint8_t other = view.group(rows[down] + columns[across]);
        found.own += other == group;
        found.all += other != kVacant;
      }
    }
    return found;
  }

  /// The number of neighbours of its own group that an agent with `all` neighbours needs to be happy. @pre all <= 8
  __device__ std::uint32_t enough(std::uint32_t all) const {
    return static_cast<std::uint32_t>((similar * all + 0xFFFFFFFF) >> 32);
  }

  __device__ bool is_unhappy(const Neighbours& neighbours) const { return neighbours.own < enough(neighbours.all); }

  /// The random numbers of the unhappy agent in cell c: kLooks for the cells that it examines, and one for its lot.
  __device__ dynasoar::random::Words search_words(std::uint32_t c, std::uint32_t step) const {
    return dynasoar::random::words(seed, Decision::search, c, step);
  }

  /// The cell that a random number stands for.
  __device__ std::uint32_t cell_of(std::uint32_t word) const { return dynasoar::random::below(word, cells); }

  /// The wish of the unhappy agent in cell c.
  template <class View>
  __device__ Wish wish(const View& view, std::uint32_t c, std::uint32_t step) const {
    const auto words = search_words(c, step);
    for (std::uint32_t look = 0; look < kLooks; ++look) {
      const std::uint32_t there = cell_of(words[look]);
      if (view.group(there) == kVacant) return {there, lot_from(words[kLooks], c)};
    }
    return {kWhatIsTaken, kNobody};
  }

  /// Whether an agent that does not move leaves the city.
  __device__ bool gives_up(std::uint32_t unhappy_steps) const { return patience != 0 && unhappy_steps >= patience; }

  /// The group that moves into the vacant cell c, or kVacant.
  __device__ std::uint8_t newcomer(std::uint32_t c, std::uint32_t step) const {
    if (newcomers == 0) return kVacant;
    const auto words = dynasoar::random::words(seed, Decision::newcomer, c, step);
    if (words[0] >= newcomers) return kVacant;
    return words[1] >> 31 == 0 ? kRed : kBlue;
  }
};

/// The options of a run that its checkpoints contain.
inline app::SavedOptions options_of(const Parameters& parameters) {
  return parameters.saved_options()
      .add("--red", parameters.red)
      .add("--blue", parameters.blue)
      .add("--similar", parameters.similar)
      .add("--patience", parameters.patience)
      .add("--newcomers", parameters.newcomers);
}

/// Counts the agent of a cell. @tparam View   as in Rules
template <class View>
struct TakeCensus {
  Rules rules;
  View view;

  __device__ void operator()(std::size_t index, app::Tally<Census>& tally) const {
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint8_t group = view.group(c);
    if (group == kVacant) return;
    const Neighbours neighbours = rules.neighbours(view, c, group);
    tally.of[0] += group == kRed;
    tally.of[1] += group == kBlue;
    tally.of[2] += rules.is_unhappy(neighbours);
    tally.of[3] += neighbours.own;
    tally.of[4] += neighbours.all;
  }
};

}  // namespace schelling
