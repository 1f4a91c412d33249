// The block heap under thousands of warps that ask at once, as on a GPU, but simulated: who gets what where pages are
// few. A program of its own, on the host only.
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "heap_check.h"
#include "lockstep.h"
#include "tiny_heap.h"

namespace block_heap_lockstep_test {

using namespace dynasoar;
using namespace dynasoar::test;

constexpr std::uint32_t kResident = 1024;  // warps

template <int kTypes>
using SimulatedHeap = dynasoar::test::TinyHeap<kTypes, 64, 64, LockstepAtomics>;

/// Slots that a warp asks for.
struct Request {
  int type;
  int want;
};

template <int kTypes>
struct Outcome {
  std::array<std::uint64_t, kTypes> granted{}, full{}, contended{};  ///< slots
};

/// Every warp makes its requests one after the other, each until it has all slots or is refused.
template <int kTypes>
Outcome<kTypes> ask(const SimulatedHeap<kTypes>& simulated, std::uint32_t warps, std::uint64_t seed,
                    const std::function<std::vector<Request>(std::uint32_t)>& requests_of) {
  Outcome<kTypes> outcome;
  Lockstep::run({warps, kResident, kResident / 4}, seed, [&](std::uint32_t warp) {
    for (const Request& request : requests_of(warp)) {
      const auto type = static_cast<std::size_t>(request.type);
      for (int left = request.want; left > 0;) {
        const Reservation reservation = simulated.heap().allocate(request.type, left, warp % kResident);
        if (reservation.slots == 0) {
          (reservation.refusal == Refusal::heap_full ? outcome.full : outcome.contended)[type] +=
              static_cast<std::uint64_t>(left);
          break;
        }
        outcome.granted[type] += static_cast<std::uint64_t>(std::popcount(reservation.slots));
        left -= std::popcount(reservation.slots);
      }
    }
  });
  return outcome;
}

template <int kTypes>
HeapCopy checked_copy(const SimulatedHeap<kTypes>& simulated) {
  Executor executor(1);
  HeapCopy copy = dynasoar::test::copy_heap(executor, simulated.heap());
  CHECK(dynasoar::test::heap_errors(copy) == "");
  return copy;
}

/// Which of four types a warp asks for first: the same for all, as where a warp's lanes run apart, or not.
int type_of(int turn, std::uint32_t warp, int order) {
  switch (order) {
    case 0: return turn;
    case 1: return 3 - turn;
    default: return static_cast<int>((static_cast<std::uint32_t>(turn) + warp) % 4);
  }
}

TEST_CASE("each of four types gets pages of a heap that every one of them could fill") {
  constexpr std::uint32_t kPages = 12;
  constexpr int kWant = 16;
  const std::vector<std::uint32_t> blocks_per_page = {51, 17, 5, 1};
  for (int order = 0; order < 3; ++order) {
    CAPTURE(order);
    const SimulatedHeap<4> simulated(kPages, blocks_per_page, 1);
    const std::uint32_t warps = kPages * blocks_per_page[0] * 64 / kWant;
    const auto outcome = ask<4>(simulated, warps, 1, [order](std::uint32_t warp) {
      std::vector<Request> requests;
      for (int turn = 0; turn < 4; ++turn) requests.push_back({type_of(turn, warp, order), kWant});
      return requests;
    });
    const HeapCopy copy = checked_copy(simulated);
    CHECK(dynasoar::test::count_bits(copy.free_pages[0]) == 0);
    std::uint64_t pages = 0;
    for (std::size_t type = 0; type < 4; ++type) {
      CAPTURE(type);
      const std::uint64_t slots_per_page = blocks_per_page[type] * 64;
      CHECK(outcome.granted[type] >= slots_per_page);
      CHECK(outcome.granted[type] % slots_per_page == 0);  // every page is full
      CHECK(outcome.granted[type] + outcome.full[type] == std::uint64_t{warps} * kWant);
      CHECK(outcome.contended[type] == 0);
      pages += outcome.granted[type] / slots_per_page;
    }
    CHECK(pages == kPages);
  }
}

/// Pages that are taken when a type, with a number of blocks per page, asks for a share of all slots.
std::uint64_t pages_taken(std::uint32_t pages, std::uint32_t blocks_per_page, double share, int want) {
  CAPTURE(blocks_per_page);
  CAPTURE(share);
  CAPTURE(want);
  const SimulatedHeap<2> simulated(pages, {blocks_per_page, 16}, pages / 16);
  const auto warps =
      static_cast<std::uint32_t>(share * (pages * blocks_per_page * 64)) / static_cast<std::uint32_t>(want);
  const auto outcome = ask<2>(simulated, warps, 2, [want](std::uint32_t) { return std::vector<Request>{{0, want}}; });
  CHECK(outcome.granted[0] == std::uint64_t{warps} * static_cast<std::uint64_t>(want));
  return pages - dynasoar::test::count_bits(checked_copy(simulated).free_pages[0]);
}

TEST_CASE("warps that start together leave pages free, and get every slot") {
  constexpr std::uint32_t kPages = 128;
  for (std::uint32_t blocks_per_page : {1u, 4u, 16u}) {
    CHECK(pages_taken(kPages, blocks_per_page, 0.3, 32) < kPages * 0.45);
    CHECK(pages_taken(kPages, blocks_per_page, 1.0, 32) == kPages);
  }
  CHECK(pages_taken(kPages, 1, 0.3, 1) < kPages * 0.6);
}

}  // namespace block_heap_lockstep_test
