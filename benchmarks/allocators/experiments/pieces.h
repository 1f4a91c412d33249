/// @file
/// Pieces of memory that many threads take at once, one each, and give back in the next launch: what the experiments
/// with RW_malloc (rw_threads.h, rw_sizes.h, rw_mixed.h) have in common.
///
/// Source: Pham et al., ICS '22, section 5.2.2. As there, memory is not given back by the launch that takes it. The
/// paper's pool has 8 GB; ours 1 GiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../../measure.h"
#include "../suite.h"
#include "series.h"

namespace benchmarks::allocators {

namespace pieces {

/// The threads' sizes: multiples of 4 between two bounds, all as likely. A thread has the same size every time.
struct Sizes {
  std::uint32_t least;  ///< bytes, a multiple of 4
  std::uint32_t most;   ///< likewise

  __device__ std::uint32_t of(std::size_t thread) const {
    std::uint64_t random = (thread + 1) * 0x9E3779B97F4A7C15u;
    random = (random ^ random >> 30) * 0xBF58476D1CE4E5B9u;
    return least + static_cast<std::uint32_t>((random >> 32) * ((most - least) / 4 + 1) >> 32) * 4;
  }
};

/// What is counted on the device.
enum Counts { kRefused, kDamaged, kAllCounts };
using Counter = dynasoar::AtomicWord<std::uint32_t>;

/// What the owner of a piece has in its words.
__device__ inline std::uint32_t stamp(std::size_t thread, std::uint32_t word) {
  return static_cast<std::uint32_t>(thread) * 0x9E3779B1u + word;
}

template <class M>
struct Take {
  M memory;
  std::uint32_t** pieces;  // [threads]
  Sizes sizes;
  __device__ void operator()(std::size_t i) const {
    pieces[i] = static_cast<std::uint32_t*>(memory.malloc(sizes.of(i)));
  }
};

template <class M>
struct Give {
  M memory;
  std::uint32_t** pieces;  // [threads]
  __device__ void operator()(std::size_t i) const { memory.free(pieces[i]); }
};

struct Stamp {
  std::uint32_t** pieces;  // [threads]
  Sizes sizes;
  __device__ void operator()(std::size_t i) const {
    if (pieces[i] == nullptr) return;
    for (std::uint32_t word = 0; word < sizes.of(i) / 4; ++word) pieces[i][word] = stamp(i, word);
  }
};

struct Check {
  std::uint32_t** pieces;  // [threads]
  Sizes sizes;
  Counter* counts;  // [kAllCounts]
  __device__ void operator()(std::size_t i) const {
    if (pieces[i] == nullptr) {
      counts[kRefused].fetch_add(1, dynasoar::Order::relaxed);
      return;
    }
    bool damaged = false;
    for (std::uint32_t word = 0; word < sizes.of(i) / 4; ++word) damaged |= pieces[i][word] != stamp(i, word);
    if (damaged) counts[kDamaged].fetch_add(1, dynasoar::Order::relaxed);
  }
};

/// An allocator and the pieces that threads have of its memory.
template <class M>
class Bench {
 public:
  Bench(std::size_t heap_bytes, std::size_t threads, Sizes sizes)
      : storage_(executor_, {heap_bytes, sizes.most}), pieces_(threads), sizes_(sizes) {}

  double take() { return seconds_of_each(Take<M>{storage_.view(), pieces_.data(), sizes_}); }
  double give() { return seconds_of_each(Give<M>{storage_.view(), pieces_.data()}); }

  /// @return the share of the threads that have no piece
  /// @throws std::runtime_error if memory belongs to two threads
  double check() {
    dynasoar::DeviceArray<std::uint32_t> counts(kAllCounts);
    counts.fill_bytes(0);
    executor_.for_each_index(pieces_.size(), Stamp{pieces_.data(), sizes_});
    executor_.for_each_index(pieces_.size(), Check{pieces_.data(), sizes_, reinterpret_cast<Counter*>(counts.data())});
    executor_.synchronize();
    const std::vector<std::uint32_t> values = counts.download();
    if (values[kDamaged] > 0) {
      throw std::runtime_error(std::to_string(values[kDamaged]) + " threads share memory with others");
    }
    return values[kRefused] / static_cast<double>(pieces_.size());
  }

 private:
  template <class F>
  double seconds_of_each(const F& function) {
    return seconds_of(executor_, [&] { executor_.for_each_index(pieces_.size(), function); });
  }

  dynasoar::Executor executor_;
  typename M::Storage storage_;
  dynasoar::DeviceArray<std::uint32_t*> pieces_;
  Sizes sizes_;
};

/// Takes and gives back in turns; the first turn, which is not counted, is the one that is checked.
///
/// @param parameters   of the records
/// @return the longest launch's seconds
template <class M>
double measure(const Context& context, const std::string& experiment, std::size_t threads, Sizes sizes,
               const std::map<std::string, std::int64_t>& parameters) {
  Bench<M> bench(heap_bytes(context), threads, sizes);
  double longest = bench.take();
  const double refused = bench.check();
  longest = std::max(longest, bench.give());
  std::vector<double> taking, giving;
  for (int i = 0; i < (longest > kLongestRun ? 1 : context.repetitions); ++i) {
    taking.push_back(bench.take());
    giving.push_back(bench.give());
  }
  const auto amount = static_cast<double>(threads);
  const char* const name = M::kProperties.name;
  context.add({experiment, name, parameters, "allocations", "G/s", rates(taking, amount, 1e-9)});
  context.add({experiment, name, parameters, "frees", "G/s", rates(giving, amount, 1e-9)});
  if (refused > 0) context.add({experiment, name, parameters, "refused", "%", {100 * refused}});
  return longest;
}

/// Whether threads can take pieces of any size from an allocator, each when it likes, and give them back.
template <class M>
inline constexpr bool kFits = M::kProperties.frees && !M::kProperties.collective && !HasPages<M>;

}  // namespace pieces
}  // namespace benchmarks::allocators
