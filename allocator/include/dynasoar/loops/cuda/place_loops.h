/// @file
/// loop_over_slots on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>

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

/// Slots with something to do, and what the condition has answered.
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

/// A number of 64 bits that another lane of the warp has. All lanes call it.
__device__ inline std::uint64_t from_lane(std::uint64_t bits, std::uint32_t lane) {
  return __shfl_sync(~std::uint32_t{0}, bits, static_cast<int>(lane));
}

/// The slots that are selected in the words from `first` on: each lane has those of one word.
template <class M>
__device__ std::uint64_t selected_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t words, const M& mask) {
  static_assert(kWordsPerWarp <= 32);
  const std::uint32_t lane = threadIdx.x % 32;
  return lane < taken && first + lane < words ? mask(first + lane) : 0;
}

/// Writes down the slots that are selected in the words from `first` on. All lanes of a warp call it. @return how many
///
/// @param taken   words that a warp takes, at most kWordsPerWarp
template <class M>
__device__ std::uint32_t deal_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t words, const M& mask,
                                    DealtSlots& dealt) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
  const std::uint64_t of_lane = selected_slots(first, taken, words, mask);
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

/// Calls a conditional function for the slots that are selected in the words from `first` on.
template <class M, class F>
__device__ void visit_chosen_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t words, const M& mask,
                                   const F& function) {
  using Answer = decltype(function.answer(first));
  __shared__ ChosenSlots<Answer> of_warps[kThreadsPerBlock / 32];
  ChosenSlots<Answer>& chosen = of_warps[threadIdx.x / 32];
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
  std::uint32_t count = 64 * taken;
  std::uint64_t selected = 0;
  if constexpr (M::kSelectsFew) {
    count = deal_slots(first, taken, words, mask, chosen);
    __syncwarp();
  } else {
    selected = selected_slots(first, taken, words, mask);
  }
  std::uint32_t kept = 0;  // at most as many as have been looked at, so that they may overwrite the slots dealt
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
template <class M, class F>
__device__ void visit_slots(std::uint64_t first, std::uint32_t taken, std::uint64_t words, const M& mask,
                            const F& function) {
  const std::uint32_t lane = threadIdx.x % 32;
  if constexpr (M::kSelectsFew) {
    __shared__ DealtSlots of_warps[kThreadsPerBlock / 32];
    DealtSlots& dealt = of_warps[threadIdx.x / 32];
    const std::uint32_t count = deal_slots(first, taken, words, mask, dealt);
    __syncwarp();
    for (std::uint32_t begin = 0; begin < count; begin += 32) {
      if (begin + lane < count) function(first * 64 + dealt.slots[begin + lane]);
      __syncwarp();  // lanes that went different ways would stay apart, and the next words overwrite the slots
    }
  } else {
    // In 32 bits, so that compilers find the word again in a slot.
    const auto begin = static_cast<std::uint32_t>(first), all = static_cast<std::uint32_t>(words);
    const std::uint32_t end = begin + taken < all ? begin + taken : all;
    for (std::uint32_t word = begin; word < end; ++word) {
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
template <class M, class F>
constexpr bool kDealsSlots = M::kSelectsFew || kIsConditional<F>;

/// Whether a loop visits the objects of a class that has one at every place.
template <class M>
constexpr bool kVisitsAllObjects = requires {
  M::kIsOfObjects;
};

/// Words that a warp takes at most.
template <class M, class F>
constexpr std::uint32_t kMostWords = kDealsSlots<M, F>      ? kWordsPerWarp
                                     : kVisitsAllObjects<M> ? kFullWordsPerWarp
                                                            : 1;

template <class A, class M, class F>
__global__ void __launch_bounds__(kThreadsPerBlock,
                                  kDealsSlots<M, F> || kVisitsAllObjects<M> ? kPlaceLoopsPerMultiprocessor : 0)
    slot_kernel(std::uint64_t words, std::uint32_t taken, M mask, F function) {
  take_turns();
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (blockDim.x / 32);
  for (std::uint64_t first = warp * taken; first < words; first += warps * taken) {
    if constexpr (kIsConditional<F>) {
      visit_chosen_slots(first, taken, words, mask, function);
    } else {
      visit_slots(first, taken, words, mask, function);
    }
  }
}

template <class A, class M, class F>
void loop_over_slots(Executor& executor, std::uint64_t words, const M& mask, const F& function) {
  if (words == 0) return;
  bring_up_to_date<A>(executor);
  static const KernelTraits all_traits(slot_kernel<A, M, F>, executor.multiprocessors());
  // On small lattices, a warp takes fewer words, so that there are warps for all multiprocessors.
  const std::uint64_t share = words / (kWarpsPerMultiprocessor * static_cast<unsigned>(executor.multiprocessors()));
  const auto taken = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, 1, kMostWords<M, F>));
  const std::uint64_t threads = 32 * ((words - 1) / taken + 1);
  const KernelTraits traits = all_traits.for_threads(threads, executor.multiprocessors());
  // A thread block for each few words, and not as many as the GPU holds: words differ in how long they take.
  const std::uint64_t grid = std::min<std::uint64_t>((threads - 1) / traits.threads + 1, std::uint64_t{1} << 30);
  launch(traits, slot_kernel<A, M, F>, static_cast<unsigned>(grid), executor.stream(), words, taken, mask, function);
}

}  // namespace

}  // namespace dynasoar::detail
