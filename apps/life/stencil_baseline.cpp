/// @file
/// The baseline for speed: Life with 64 cells in a word, two arrays, and one loop per step. A thread computes one word
/// of the next generation. It adds up the eight neighbours of all 64 cells at once: four words hold a four-bit number
/// for each cell. A few logical operations then determine which cells are alive next.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/neighbor_counts.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "census.h"
#include "frame_baseline.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {
namespace stencil {

using app::add;
using app::NeighborCounts;
using app::Sum;
using app::Word;

inline constexpr std::uint32_t kWordBits = 64;

/// How many bits are set, by adding up neighbouring groups of 1, 2 and 4 bits, then all bytes at once.
__device__ inline std::uint32_t count_bits(Word bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<std::uint32_t>(bits * 0x0101010101010101u >> 56);
}

/// The present generation, as the device sees it: bit i of word j of a row is the cell with x = 64 j + i.
struct Cells {
  const Word* words;  ///< [(height + 1) * row_words]; the last row, beyond a dead edge, stays empty
  Lattice lattice;
  std::uint32_t row_words;

  __device__ const Word* row(std::uint32_t y) const { return words + std::size_t{y} * row_words; }

  __device__ const Word* row_above(std::uint32_t y) const {
    return row(y > 0 ? y - 1 : lattice.torus ? lattice.height - 1 : lattice.height);
  }

  __device__ const Word* row_below(std::uint32_t y) const {
    return row(y + 1 < lattice.height ? y + 1 : lattice.torus ? 0 : lattice.height);
  }

  /// The number of cells in word j: a row may use only a part of its last word.
  __device__ std::uint32_t used(std::uint32_t j) const {
    return j + 1 < row_words ? kWordBits : lattice.width - j * kWordBits;
  }

  /// For each cell of word j its left neighbour.
  __device__ Word left(const Word* row, std::uint32_t j) const {
    Word carried = 0;
    if (j > 0) {
      carried = row[j - 1] >> (kWordBits - 1);
    } else if (lattice.torus) {
      carried = row[row_words - 1] >> ((lattice.width - 1) % kWordBits);
    }
    return row[j] << 1 | carried;
  }

  /// For each cell of word j its right neighbour.
  __device__ Word right(const Word* row, std::uint32_t j) const {
    Word carried = 0;
    if (j + 1 < row_words) {
      carried = row[j + 1] << (kWordBits - 1);
    } else if (lattice.torus) {
      carried = (row[0] & 1) << (lattice.width - 1) % kWordBits;
    }
    return row[j] >> 1 | carried;
  }

  __device__ Sum sum_of_three(const Word* row, std::uint32_t j) const {
    return add(left(row, j), row[j], right(row, j));
  }

  __device__ NeighborCounts neighbors(std::uint32_t j, std::uint32_t y) const {
    const Sum above = sum_of_three(row_above(y), j);
    const Sum below = sum_of_three(row_below(y), j);
    const Sum beside = add(left(row(y), j), right(row(y), j));
    return {above, beside, below};
  }

  /// A word in which the bits of all cells of word j are set.
  __device__ Word all(std::uint32_t j) const {
    const std::uint32_t bits = used(j);
    return bits == kWordBits ? ~Word{0} : (Word{1} << bits) - 1;
  }

  /// Counts word `index` for the census.
  __device__ void count(std::size_t index, Tally& tally) const {
    const auto j = static_cast<std::uint32_t>(index % row_words);
    const auto y = static_cast<std::uint32_t>(index / row_words);
    const Word alive = row(y)[j];
    tally.of[kAliveCells] += count_bits(alive);
    tally.of[kCandidates] += count_bits(neighbors(j, y).any() & ~alive & all(j));
  }
};

/// Makes a word of the first generation.
struct Populate {
  Cells cells;
  StartView start;
  Word* out;

  __device__ void operator()(std::size_t index) const {
    const auto j = static_cast<std::uint32_t>(index % cells.row_words);
    const auto y = static_cast<std::uint32_t>(index / cells.row_words);
    Word word = 0;
    for (std::uint32_t bit = 0; bit < cells.used(j); ++bit) {
      const std::uint32_t c = y * cells.lattice.width + j * kWordBits + bit;
      if (start.state(c) == kAlive) word |= Word{1} << bit;
    }
    out[index] = word;
  }
};

/// Makes a word of the next generation.
struct Step {
  Cells cells;
  Rule rule;
  Word* next;

  __device__ void operator()(std::size_t index) const {
    const auto j = static_cast<std::uint32_t>(index % cells.row_words);
    const auto y = static_cast<std::uint32_t>(index / cells.row_words);
    const NeighborCounts neighbors = cells.neighbors(j, y);
    const Word alive = cells.row(y)[j];
    next[index] = ((alive & neighbors.in(rule.survival)) | (~alive & neighbors.in(rule.birth))) & cells.all(j);
  }
};

/// Copies a state out of the frame.
struct Copy {
  Cells cells;
  std::uint16_t* out;

  __device__ void operator()(std::size_t c) const {
    const auto x = static_cast<std::uint32_t>(c % cells.lattice.width);
    const auto y = static_cast<std::uint32_t>(c / cells.lattice.width);
    out[c] = static_cast<std::uint16_t>(cells.row(y)[x / kWordBits] >> x % kWordBits & 1);
  }
};

class Stencil final : public FrameBaseline {
 public:
  explicit Stencil(const Parameters& parameters)
      : FrameBaseline(parameters, {"all cells"}),
        row_words_((lattice().width - 1) / kWordBits + 1),
        words_(std::size_t{row_words_} * lattice().height) {
    for (dynasoar::DeviceArray<Word>& generation : generations_) {
      generation = dynasoar::DeviceArray<Word>(words_ + row_words_);
      generation.fill_bytes(0);
    }
    const Start start(parameters);
    executor().for_each_index(words_, Populate{cells(now_in()), start.view(), generations_[now_in()].data()});
    synchronize();
  }

  void step() override {
    begin_step();
    submit_step();  // not recorded, because a step is only one loop
  }

  void submit_step() override {
    executor().for_each_index(words_, Step{cells(1 - now_in()), rule(), generations_[now_in()].data()});
    end_phase(0);
  }

  void record() override { count(words_, cells(now_in())); }

 private:
  void write_states(std::uint16_t* frame) override {
    executor().for_each_index(lattice().cells(), Copy{cells(now_in()), frame});
  }

  /// Index of the array that has the generation after this step.
  std::size_t now_in() const { return steps() % 2; }

  Cells cells(std::size_t present) const { return {generations_[present].data(), lattice(), row_words_}; }

  std::uint32_t row_words_;
  std::size_t words_;
  dynasoar::DeviceArray<Word> generations_[2];
};

}  // namespace stencil

std::unique_ptr<Simulation> make_stencil_baseline(const Parameters& parameters) {
  return std::make_unique<stencil::Stencil>(parameters);
}

}  // namespace life
