/// @file
/// How much of the heap is in use when a request is refused for the first time, over the size of a piece.
///
/// Source: Pham et al., ICS '22, section 5.2.2, figure 11: powers of two up to 8192 bytes, and sizes between them.
/// Threads make requests until any one of them is refused. Pieces that others get meanwhile count: at most 1 % of the
/// heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "pieces.h"
#include "series.h"

namespace benchmarks::allocators {
namespace utilization {

using Flag = dynasoar::AtomicWord<std::uint32_t>;

/// A thread that takes pieces until somebody was refused, or it has as many as it may remember.
template <class M>
struct TakeUntilRefused {
  M memory;
  void** pieces;         // [threads * share]
  std::uint32_t* taken;  // [threads]
  Flag* refused;
  std::uint32_t share;
  std::uint32_t bytes;

  __device__ void operator()(std::size_t thread) const {
    std::uint32_t count = 0;
    while (count < share && refused->load(dynasoar::Order::relaxed) == 0) {
      void* const piece = memory.malloc(bytes);
      if (piece == nullptr) {
        refused->store(1, dynasoar::Order::relaxed);
      } else {
        pieces[thread * share + count++] = piece;
      }
    }
    taken[thread] = count;
  }
};

template <class M>
struct GiveAll {
  M memory;
  void** pieces;               // [threads * share]
  const std::uint32_t* taken;  // [threads]
  std::uint32_t share;
  __device__ void operator()(std::size_t thread) const {
    for (std::uint32_t i = 0; i < taken[thread]; ++i) memory.free(pieces[thread * share + i]);
  }
};

/// @throws std::runtime_error if two pieces share a byte
inline void check_apart(const std::vector<void*>& pieces, const std::vector<std::uint32_t>& taken, std::size_t share,
                        std::size_t bytes) {
  std::vector<const char*> begins;
  for (std::size_t thread = 0; thread < taken.size(); ++thread) {
    for (std::uint32_t i = 0; i < taken[thread]; ++i) {
      begins.push_back(static_cast<const char*>(pieces[thread * share + i]));
    }
  }
  std::sort(begins.begin(), begins.end());
  for (std::size_t i = 1; i < begins.size(); ++i) {
    if (begins[i - 1] + bytes > begins[i]) throw std::runtime_error("two pieces share memory");
  }
}

/// @return the seconds that it takes to fill the heap
template <class M>
double measure(const Context& context, std::uint32_t bytes) {
  constexpr std::size_t kPiecesOfThread = 128;  // about: the last one is the 1 % that come too late
  dynasoar::Executor executor;
  const typename M::Storage storage(executor, {heap_bytes(context), bytes});
  const std::size_t threads = storage.heap_bytes() / bytes / kPiecesOfThread + 1;
  constexpr std::size_t kShare = 4 * kPiecesOfThread;  // threads that come later get less
  const dynasoar::DeviceArray<void*> pieces(threads * kShare);
  const dynasoar::DeviceArray<std::uint32_t> taken(threads);
  dynasoar::DeviceArray<std::uint32_t> refused(1);
  refused.fill_bytes(0);
  const double seconds = seconds_of(executor, [&] {
    executor.for_each_index(threads, TakeUntilRefused<M>{storage.view(), pieces.data(), taken.data(),
                                                         reinterpret_cast<Flag*>(refused.data()),
                                                         static_cast<std::uint32_t>(kShare), bytes});
  });
  const std::vector<std::uint32_t> counts = taken.download();
  const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  if (context.smoke) check_apart(pieces.download(), counts, kShare, bytes);
  const double used = static_cast<double>(all * bytes) / static_cast<double>(storage.heap_bytes());
  const std::map<std::string, std::int64_t> parameters = {{"bytes", std::int64_t{bytes}}};
  context.add({"rw_utilization", M::kProperties.name, parameters, "utilization", "%", {100 * used}});
  // The toolkit's heap outlives the storage.
  executor.for_each_index(threads, GiveAll<M>{storage.view(), pieces.data(), taken.data(), kShare});
  executor.synchronize();
  return seconds;
}

}  // namespace utilization

template <class M>
void add_rw_utilization(std::vector<Case>& cases) {
  if constexpr (pieces::kFits<M>) {
    cases.push_back({"rw_utilization", M::kProperties.name, [](const Context& context) {
                       // The fewest pieces first: small ones may take too long.
                       for (const std::uint32_t bytes : {8192u, 6000u, 4096u, 3000u, 1024u, 700u, 256u}) {
                         if (utilization::measure<M>(context, bytes) > kLongestRun) return;
                       }
                     }});
  }
}

}  // namespace benchmarks::allocators
