/// @file
/// loop_over_slots on a GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/loops/slot_loop.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

/// Slots of the words of a warp, counted from the first one's first slot.
struct DealtSlots {
  std::uint16_t slots[64 * kWordsPerWarp];
};

/// Slots for which the condition holds, and the answers of the condition.
template <class Answer>
struct ChosenSlots : DealtSlots {
  Answer answers[64 * kWordsPerWarp];
  __device__ void put(std::uint32_t i, std::uint16_t slot, Answer answer) {
    slots[i] = slot;
    answers[i] = answer;
  }
  __device__ Answer answer(std::uint32_t i) const { return answers[i]; }
};
template <>
struct ChosenSlots<bool> : DealtSlots {
  __device__ void put(std::uint32_t i, std::uint16_t slot, bool) { slots[i] = slot; }
  __device__ bool answer(std::uint32_t) const { return true; }
};

/// The 64-bit number of another lane of the warp. All lanes call it.
__device__ inline std::uint64_t from_lane(std::uint64_t bits, std::uint32_t lane) {
  return __shfl_sync(~std::uint32_t{0}, bits, static_cast<int>(lane));
}

/// The slots that are selected in the words from `first` on: each lane gets those of one word.
template <class M>
__device__ std::uint64_t selected_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t end, const M& mask) {
  static_assert(kWordsPerWarp <= 32);
  const std::uint32_t lane = threadIdx.x % 32;
  return lane < taken && first + lane < end ? mask(first + lane) : 0;
}

/// Stores the slots that are selected in the words from `first` on. All lanes of a warp call it. @return their number
///
/// @param taken   words that a warp takes, at most kWordsPerWarp
template <class M>
__device__ std::uint32_t deal_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t end, const M& mask,
                                    DealtSlots& dealt) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
  const std::uint64_t of_lane = selected_slots(first, taken, end, mask);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < taken; ++i) {
    const std::uint64_t bits = from_lane(of_lane, i);
#pragma unroll
    for (std::uint32_t half = 0; half < 2; ++half) {
      const auto selected = static_cast<std::uint32_t>(bits >> 32 * half);
      if ((selected >> lane & 1) != 0) {
        dealt.slots[count + static_cast<std::uint32_t>(popcount(selected & below))] =
            static_cast<std::uint16_t>(i * 64 + half * 32 + lane);
      }
      count += static_cast<std::uint32_t>(popcount(selected));
    }
  }
  return count;
}

template <class F>
using AnswerOf = decltype(std::declval<const F&>().answer(std::uint64_t{}));

/// Calls a conditional function for the slots that are selected in the words from `first` on.
///
/// @param chosen   shared memory of the warp
template <class M, class F>
__device__ void visit_chosen_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t end, const M& mask,
                                   const F& function, ChosenSlots<AnswerOf<F>>& chosen) {
  using Answer = AnswerOf<F>;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
  std::uint32_t count = 64 * taken;
  std::uint64_t selected = 0;
  if constexpr (M::kSelectsFew) {
    count = deal_slots(first, taken, end, mask, chosen);
    __syncwarp();
  } else {
    selected = selected_slots(first, taken, end, mask);
  }
  std::uint32_t kept = 0;  // not more than the checked slots, so they may overwrite these
  for (std::uint32_t begin = 0; begin < count; begin += 32) {
    std::uint32_t slot = begin + lane;
    bool is_selected = slot < count;
    if constexpr (M::kSelectsFew) {
      if (is_selected) slot = chosen.slots[slot];
    } else {
      is_selected = (from_lane(selected, begin / 64) >> slot % 64 & 1) != 0;
    }
    Answer answer{};
    if (is_selected) answer = function.answer(first * 64 + slot);
    __syncwarp();
    const bool has_answer = static_cast<bool>(answer);
    const std::uint32_t lanes = __ballot_sync(~std::uint32_t{0}, has_answer);
    if (has_answer) {
      chosen.put(kept + static_cast<std::uint32_t>(popcount(lanes & below)), static_cast<std::uint16_t>(slot), answer);
    }
    kept += static_cast<std::uint32_t>(popcount(lanes));
  }
  __syncwarp();
  for (std::uint32_t begin = 0; begin < kept; begin += 32) {
    const std::uint32_t i = begin + lane;
    if (i < kept) function.act(first * 64 + chosen.slots[i], chosen.answer(i));
    __syncwarp();  // as in visit_slots
  }
}

/// Calls a function for the slots that are selected in the words from `first` on.
///
/// @param dealt   shared memory of the warp, if the mask selects few
template <class M, class F>
__device__ void visit_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t end, const M& mask,
                            const F& function, [[maybe_unused]] DealtSlots& dealt) {
  const std::uint32_t lane = threadIdx.x % 32;
  if constexpr (M::kSelectsFew) {
    const std::uint32_t count = deal_slots(first, taken, end, mask, dealt);
    __syncwarp();
    for (std::uint32_t begin = 0; begin < count; begin += 32) {
      if (begin + lane < count) function(first * 64 + dealt.slots[begin + lane]);
      __syncwarp();  // otherwise lanes would stay diverged, and the next words overwrite the slots
    }
  } else {
    // In 32 bits, so that compilers recognize the word in a slot.
    const auto begin = static_cast<std::uint32_t>(first), behind = static_cast<std::uint32_t>(end);
    const std::uint32_t last = begin + taken < behind ? begin + taken : behind;
    for (std::uint32_t word = begin; word < last; ++word) {
      const std::uint64_t bits = mask(word);
#pragma unroll
      for (std::uint32_t half = 0; half < 2; ++half) {
        const auto selected = static_cast<std::uint32_t>(bits >> 32 * half);
        if ((selected >> lane & 1) != 0) function(std::uint64_t{word} * 64 | half * 32 | lane);
        __syncwarp();
      }
    }
  }
}

template <class F>
constexpr bool kIsConditional = requires {
  F::kIsConditional;
};

/// Whether slots of several words are dealt to the lanes of a warp.
template <class Loop>
constexpr bool kDealsSlots = Loop::Mask::kSelectsFew || kIsConditional<typename Loop::Function>;

/// Whether a loop visits the objects of a class that has one at every place.
template <class Loop>
constexpr bool kVisitsAllObjects = requires {
  Loop::Mask::kIsOfObjects;
};

/// Words that a warp takes at most.
template <class Loop>
constexpr std::uint32_t kMostWords = kDealsSlots<Loop>         ? kWordsPerWarp
                                     : kVisitsAllObjects<Loop> ? kFullWordsPerWarp
                                                               : 1;

/// The notes of a warp in a loop.
template <class Loop>
constexpr auto notes_of() {
  using F = typename Loop::Function;
  if constexpr (kIsConditional<F>) {
    return std::type_identity<ChosenSlots<AnswerOf<F>>>{};
  } else {
    return std::type_identity<DealtSlots>{};
  }
}
template <class Loop>
using NotesOf = typename decltype(notes_of<Loop>())::type;

/// Calls the function of a loop for the slots that it selects in `taken` words from the i-th one of its range on.
/// @return true
///
/// @param notes   shared memory of the warp, if the loop deals slots
template <class Loop>
__device__ bool visit_slots(const Loop& loop, std::uint64_t i, std::uint32_t taken, unsigned char* notes) {
  if (i >= loop.range.words) return true;
  const std::uint64_t first = loop.range.first + i, end = loop.range.first + loop.range.words;
  auto& own = *reinterpret_cast<NotesOf<Loop>*>(notes);
  if constexpr (kIsConditional<typename Loop::Function>) {
    visit_chosen_slots(first, taken, end, loop.mask, loop.function, own);
  } else {
    visit_slots(first, taken, end, loop.mask, loop.function, own);
  }
  return true;
}

/// Neighbouring warps run different loops over the same words, because they read the same neighbours of places.
template <class A, class... Loops>
__global__ void __launch_bounds__(kThreadsPerBlock,
                                  (false || ... || (kMostWords<Loops> > 1)) ? kPlaceLoopsPerMultiprocessor : 0)
    slot_kernel(std::uint32_t taken, Loops... loops) {
  // One memory for all loops, because a warp runs one of them.
  constexpr std::size_t kNotes = std::max({kDealsSlots<Loops> ? sizeof(NotesOf<Loops>) : std::size_t{8}...});
  __shared__ alignas(8) unsigned char notes[kThreadsPerBlock / 32][kNotes];
  take_turns();
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  const std::uint64_t first = warp / sizeof...(Loops) * taken;
  auto others = static_cast<std::uint32_t>(warp % sizeof...(Loops));  // loops before the one that this warp runs
  static_cast<void>(((others-- == 0 && visit_slots(loops, first, taken, notes[threadIdx.x / 32])) || ...));
}

template <class A, class... Loops>
void loop_over_slots(Executor& executor, const Loops&... loops) {
  const std::uint64_t words = std::max({loops.range.words...});
  if (words == 0) return;
  bring_up_to_date<A>(executor);
  constexpr auto kKernel = slot_kernel<A, Loops...>;
  static const KernelTraits all_traits(kKernel, executor.multiprocessors());
  // On small lattices, a warp takes fewer words, so that there are warps for all multiprocessors.
  const auto wanted_warps = std::uint64_t{kWarpsPerMultiprocessor} * static_cast<unsigned>(executor.multiprocessors());
  const auto taken = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(words * sizeof...(Loops) / wanted_warps, 1, std::max({kMostWords<Loops>...})));
  const std::uint64_t threads = 32 * sizeof...(Loops) * ((words - 1) / taken + 1);
  const KernelTraits traits = all_traits.for_threads(threads, executor.multiprocessors());
  // A thread block handles a few words. There are more thread blocks than the GPU holds at a time, because words take
  // different times. A lattice has at most 2^31 words, so the grid is not too large.
  const auto grid = static_cast<unsigned>((threads - 1) / traits.threads + 1);
  launch(traits, kKernel, grid, executor.stream(), taken, loops...);
}

}  // namespace

}  // namespace dynasoar::detail
