#include <dynasoar/malloc/neighbours.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

#include "../platform/test_support.h"

#if !DYNASOAR_CUDA_BACKEND
#include "../heap/thread_warp.h"
#endif

namespace dynasoar::test {

using detail::Neighbours;

constexpr std::uint32_t kLanes = 32;

struct Piece {
  std::uint32_t begin, size;
  std::uint32_t is_first;  // whether no other piece ends where it begins
  std::uint32_t to_end;    // from its beginning to the end of the last piece behind it
};

/// Pieces of a warp in runs without gaps, in the order of the lanes or in an order of chance.
std::array<Piece, kLanes> random_pieces(Random& random) {
  std::array<Piece, kLanes> pieces;
  const std::uint32_t in_a_run = 1 + random.below(2 * kLanes);  // on average
  std::uint32_t end = 0;
  for (Piece& piece : pieces) {
    const bool starts = &piece == pieces.data() || random.below(in_a_run) == 0;
    piece = {starts ? end + 1 : end, 1 + random.below(9), starts, 0};
    end = piece.begin + piece.size;
  }
  for (std::uint32_t i = kLanes; i-- > 0;) {
    const bool is_last = i + 1 == kLanes || pieces[i + 1].is_first != 0;
    pieces[i].to_end = pieces[i].size + (is_last ? 0 : pieces[i + 1].to_end);
  }
  if (random.below(2) == 0) return pieces;
  for (std::uint32_t i = kLanes; i-- > 1;) std::swap(pieces[i], pieces[random.below(i + 1)]);
  return pieces;
}

TEST_CASE("lanes of the platform's warps find their neighbours; a lane alone has none") {
  const std::uint64_t seed = test_seed();
  Random random = Random::of(seed, 0);
  std::vector<Piece> expected;
  for (int warp = 0; warp < 100; ++warp) {
    for (const Piece& piece : random_pieces(random)) expected.push_back(piece);
  }
  const auto pieces = on_device(expected);
  // Replaces what is expected of a piece by what is found.
  run_loop(expected.size(), [pieces = pieces.data()] __device__(std::size_t i) {
    const auto found = Neighbours::of(pieces[i].begin, pieces[i].size, PlatformWarp{}.coalesce());
    pieces[i].is_first = found.is_first ? 1 : 0;
    pieces[i].to_end = found.size;
  });
  const std::vector<Piece> found = pieces.download();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].is_first == (kCudaBackend ? expected[i].is_first : 1));
    CHECK(found[i].to_end == (kCudaBackend ? expected[i].to_end : expected[i].size));
  }
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("threads as lanes find their neighbours") {
  static_assert(kLanes == WarpTeam::kLanes);
  const std::uint64_t seed = test_seed();
  Random random = Random::of(seed, 0);
  for (int round = 0; round < 40; ++round) {
    const std::array<Piece, kLanes> pieces = random_pieces(random);
    std::array<Neighbours, kLanes> found{};
    WarpTeam team(0, WarpScheduling::together(), 1);
    run_warp(team, [&](ThreadWarp lane) {
      const auto i = static_cast<std::size_t>(lane.lane());
      found[i] = Neighbours::of(pieces[i].begin, pieces[i].size, lane.coalesce());
    });
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      CHECK(found[i].is_first == (pieces[i].is_first != 0));
      CHECK(found[i].size == pieces[i].to_end);
    }
  }
}

#endif

}  // namespace dynasoar::test
