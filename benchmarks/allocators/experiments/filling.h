/// @file
/// How long requests take while a heap fills up.
///
/// Source: ScatterAlloc (Steinberger et al. 2012), section 8, figure 2: 16384 threads that ask for 128 to 160 bytes
/// with p_alloc = 0.05 and never give anything back, in 16 MB, which are two of its super blocks. Clocks count
/// nanoseconds and not cycles. A thread's memory is noted and forgotten, so that it can ask again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/timer.h>
#include <dynasoar/random.h>

#include "../runs.h"
#include "../suite.h"
#include "random_steps.h"

namespace benchmarks::allocators {

/// What the requests since the last look took.
struct RequestTimes {
  using Word = dynasoar::AtomicWord<std::uint64_t>;
  Word count;
  Word refused;
  Word bytes;  ///< of those that were served
  Word nanoseconds;
  Word squares;  ///< of the nanoseconds
};

/// The same, read by the host.
struct RequestTimesRead {
  std::uint64_t count;
  std::uint64_t refused;
  std::uint64_t bytes;
  std::uint64_t nanoseconds;
  std::uint64_t squares;

  double mean() const { return static_cast<double>(nanoseconds) / static_cast<double>(count); }
  double coefficient_of_variation() const {
    const double variance = static_cast<double>(squares) / static_cast<double>(count) - mean() * mean();
    return std::sqrt(std::max(variance, 0.0)) / mean();
  }
};

/// A thread asks for memory with a probability of 5 %.
template <class M>
struct AskAtTimes {
  M memory;
  RequestTimes* times;
  Piece* pieces;  // [capacity]
  dynasoar::AtomicWord<std::uint32_t>* taken;
  std::uint32_t capacity;
  std::uint32_t step;

  __device__ void operator()(std::size_t worker) const {
    const auto entity = static_cast<std::uint32_t>(worker);
    if (dynasoar::random::draw(dynasoar::random::Seed{3}, Draw::whether, entity, step, 100) >= 5) return;
    const std::uint32_t bytes = kSizes.least + dynasoar::random::draw(dynasoar::random::Seed{3}, Draw::size, entity,
                                                                      step, kSizes.most - kSizes.least + 1);
    const std::uint64_t begin = dynasoar::nanoseconds();
    void* const piece = memory.malloc(bytes);
    note(bytes, piece, dynasoar::nanoseconds() - begin);
  }

  static constexpr SizeRange kSizes{128, 160};

 private:
  __device__ void note(std::uint32_t bytes, void* piece, std::uint64_t nanoseconds) const {
    times->count.add(1, dynasoar::Order::relaxed);
    times->nanoseconds.add(nanoseconds, dynasoar::Order::relaxed);
    times->squares.add(nanoseconds * nanoseconds, dynasoar::Order::relaxed);
    if (piece == nullptr) {
      times->refused.add(1, dynasoar::Order::relaxed);
      return;
    }
    times->bytes.add(bytes, dynasoar::Order::relaxed);
    const std::uint32_t at = taken->fetch_add(1, dynasoar::Order::relaxed);
    if (at < capacity) pieces[at] = {piece, bytes, 1};
  }
};

/// A heap that threads fill.
template <class M>
class Filling {
 public:
  Filling(std::size_t threads, std::size_t heap_bytes)
      : threads_(threads),
        storage_(executor_, {heap_bytes, AskAtTimes<M>::kSizes.most}),
        times_(1),
        taken_(1),
        pieces_(heap_bytes / AskAtTimes<M>::kSizes.least + threads) {
    pieces_.fill_bytes(0);
    taken_.fill_bytes(0);
  }

  std::size_t heap_bytes() const { return storage_.heap_bytes(); }

  /// Lets threads ask until they have `bytes` more, or the heap is full. @return what their requests took
  RequestTimesRead fill(std::size_t bytes) {
    times_.fill_bytes(0);
    RequestTimesRead now{};
    do {
      executor_.for_each_index(
          threads_, AskAtTimes<M>{storage_.view(), reinterpret_cast<RequestTimes*>(times_.data()), pieces_.data(),
                                  taken(), static_cast<std::uint32_t>(pieces_.size()), step_++});
      executor_.synchronize();
      now = times_.download()[0];
    } while (now.bytes < bytes && now.refused == 0);
    return now;
  }

  /// Gives all back. @throws std::runtime_error if two pieces share memory
  void check_and_empty() {
    check_disjoint(pieces_.download());
    executor_.for_each_index(pieces_.size(), GiveBack<M>{storage_.view(), pieces_.data()});
    executor_.synchronize();
  }

 private:
  dynasoar::AtomicWord<std::uint32_t>* taken() const {
    return reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(taken_.data());
  }

  dynasoar::Executor executor_;
  std::size_t threads_;
  typename M::Storage storage_;
  dynasoar::DeviceArray<RequestTimesRead> times_;
  dynasoar::DeviceArray<std::uint32_t> taken_;
  dynasoar::DeviceArray<Piece> pieces_;
  std::uint32_t step_ = 0;
};

/// A heap is filled in steps of 10 %, until a request is refused.
template <class M>
void run_filling(const Context& context) {
  constexpr int kParts = 10;
  std::vector<std::vector<double>> means(kParts), variations(kParts);
  const std::size_t threads = context.pick(16384u, 1024u);
  std::vector<double> first_refused;
  for (int run = -1; run < context.repetitions; ++run) {
    Filling<M> filling(threads, std::size_t{context.pick(16u, 4u)} << 20);
    double filled = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      const RequestTimesRead times = filling.fill(filling.heap_bytes() / kParts);
      filled += static_cast<double>(times.bytes) / static_cast<double>(filling.heap_bytes());
      if (run >= 0) means[part].push_back(times.mean());
      if (run >= 0) variations[part].push_back(times.coefficient_of_variation());
      if (times.refused > 0) break;
    }
    if (run >= 0) first_refused.push_back(100 * filled);
    filling.check_and_empty();
  }
  for (std::size_t part = 0; part < kParts && !means[part].empty(); ++part) {
    const Recorder recorder{
        context,
        "filling",
        M::kProperties.name,
        {{"threads", static_cast<std::int64_t>(threads)}, {"filled %", static_cast<std::int64_t>(part * 10 + 10)}}};
    recorder.add("time of a request", "ns", means[part]);
    recorder.add("coefficient of variation", "", variations[part]);
  }
  Recorder{context, "filling", M::kProperties.name, {{"threads", static_cast<std::int64_t>(threads)}}}.add(
      "filled when a request is refused", "%", first_refused);
}

template <class M>
void add_filling(std::vector<Case>& cases) {
  if constexpr (M::kProperties.frees && !M::kProperties.collective) {
    cases.push_back({"filling", M::kProperties.name, run_filling<M>});
  }
}

}  // namespace benchmarks::allocators
