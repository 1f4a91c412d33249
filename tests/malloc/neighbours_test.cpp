#include <dynasoar/malloc/neighbours.h>

#include <array>

#include <doctest/doctest.h>

#include "../platform/test_support.h"

#if !DYNASOAR_CUDA_BACKEND
#include "../allocator/thread_warp.h"
#endif

namespace dynasoar::test {

using detail::Neighbours;

TEST_CASE("a lane alone has no neighbours") {
  const auto alone = Neighbours::of(7, 3, SingleLaneGroup{});
  CHECK(alone.is_first);
  CHECK(alone.size == 3);
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("pieces that lanes give back together are found to lie side by side, in whatever order") {
  constexpr std::uint32_t kLanes = WarpTeam::kLanes;
  const std::uint64_t seed = test_seed();
  MESSAGE("seed " << seed);
  Random random = Random::of(seed, 0);
  for (int round = 0; round < 40; ++round) {
    struct Piece {
      std::uint32_t begin, size;
      bool is_first;
      std::uint32_t to_end;
    };
    std::array<Piece, kLanes> pieces;
    const std::uint32_t in_a_run = 1 + random.below(2 * kLanes);  // on average
    std::uint32_t end = 0;
    for (Piece& piece : pieces) {
      const bool starts = &piece == pieces.data() || random.below(in_a_run) == 0;
      piece = {starts ? end + 1 : end, 1 + random.below(9), starts, 0};
      end = piece.begin + piece.size;
    }
    for (std::uint32_t i = kLanes; i-- > 0;) {
      const bool is_last = i + 1 == kLanes || pieces[i + 1].is_first;
      pieces[i].to_end = pieces[i].size + (is_last ? 0 : pieces[i + 1].to_end);
    }
    for (std::uint32_t i = kLanes; i-- > 1;) std::swap(pieces[i], pieces[random.below(i + 1)]);
    std::array<Neighbours, kLanes> found{};
    WarpTeam team(0, WarpScheduling::together(), 1);
    run_warp(team, [&](ThreadWarp lane) {
      const auto i = static_cast<std::size_t>(lane.lane());
      found[i] = Neighbours::of(pieces[i].begin, pieces[i].size, lane.coalesce());
    });
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      CHECK(found[i].is_first == pieces[i].is_first);
      CHECK(found[i].size == pieces[i].to_end);
    }
  }
}

#endif

}  // namespace dynasoar::test
