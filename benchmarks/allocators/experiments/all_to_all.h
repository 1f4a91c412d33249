/// @file
/// An all-to-all exchange as in MPI: each thread is a rank, and sends a message to each, in memory that it takes for
/// the message and the receiver gives back.
///
/// Source: Blach et al., "Coalescing Memory Allocations for GPU MPI", section 4.2, figure 5, last column: messages of 4
/// doubles among 256 ranks, and here also among 1024. What differs: the paper translates an MPI program, whose barriers
/// wait for all threads of the GPU; here a launch ends where there is a barrier.
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

#include "../suite.h"
#include "series.h"

namespace benchmarks::allocators {
namespace all_to_all {

inline constexpr std::uint32_t kDoubles = 4;  // of a message

/// What is under way, and what each rank has sent and got; only messages are memory from the allocator.
struct Exchange {
  double* sent;       // [ranks * ranks * kDoubles], by sender
  double* received;   // likewise, by receiver
  double** messages;  // [ranks * ranks], by receiver; null if there was no memory for it
  std::uint32_t ranks;

  __device__ std::size_t at(std::size_t one, std::size_t other) const { return one * ranks + other; }
};

/// The i-th double that `from` sends to `to`: exact, and different from all others.
__device__ inline double content(const Exchange& exchange, std::size_t from, std::size_t to, std::uint32_t i) {
  return static_cast<double>(exchange.at(from, to) * kDoubles + i + 1);
}

struct Prepare {
  Exchange exchange;
  __device__ void operator()(std::size_t rank) const {
    for (std::uint32_t to = 0; to < exchange.ranks; ++to) {
      for (std::uint32_t i = 0; i < kDoubles; ++i) {
        exchange.sent[exchange.at(rank, to) * kDoubles + i] = content(exchange, rank, to, i);
        exchange.received[exchange.at(rank, to) * kDoubles + i] = 0;
      }
    }
  }
};

template <class M>
struct Send {
  M memory;
  Exchange exchange;
  __device__ void operator()(std::size_t rank) const {
    for (std::uint32_t to = 0; to < exchange.ranks; ++to) {
      auto* const message = static_cast<double*>(memory.malloc(kDoubles * sizeof(double)));
      exchange.messages[exchange.at(to, rank)] = message;
      if (message != nullptr) {
        for (std::uint32_t i = 0; i < kDoubles; ++i) message[i] = exchange.sent[exchange.at(rank, to) * kDoubles + i];
      }
    }
  }
};

template <class M>
struct Receive {
  M memory;
  Exchange exchange;
  __device__ void operator()(std::size_t rank) const {
    for (std::uint32_t from = 0; from < exchange.ranks; ++from) {
      double* const message = exchange.messages[exchange.at(rank, from)];
      if (message != nullptr) {
        for (std::uint32_t i = 0; i < kDoubles; ++i) {
          exchange.received[exchange.at(rank, from) * kDoubles + i] = message[i];
        }
      }
      memory.free(message);
    }
  }
};

/// What is counted on the device.
enum Counts { kRefused, kWrong, kAllCounts };
using Counter = dynasoar::AtomicWord<std::uint32_t>;

struct Check {
  Exchange exchange;
  Counter* counts;  // [kAllCounts]
  __device__ void operator()(std::size_t rank) const {
    for (std::uint32_t from = 0; from < exchange.ranks; ++from) {
      if (exchange.messages[exchange.at(rank, from)] == nullptr) {
        counts[kRefused].fetch_add(1, dynasoar::Order::relaxed);
        continue;
      }
      bool wrong = false;
      for (std::uint32_t i = 0; i < kDoubles; ++i) {
        wrong |= exchange.received[exchange.at(rank, from) * kDoubles + i] != content(exchange, from, rank, i);
      }
      if (wrong) counts[kWrong].fetch_add(1, dynasoar::Order::relaxed);
    }
  }
};

/// The ranks, with the data that they have from the start, and their messages' memory.
template <class M>
class Bench {
 public:
  Bench(std::size_t heap_bytes, std::uint32_t ranks)
      : storage_(executor_, {heap_bytes, kDoubles * sizeof(double)}),
        sent_(std::size_t{ranks} * ranks * kDoubles),
        received_(sent_.size()),
        messages_(std::size_t{ranks} * ranks),
        exchange_{sent_.data(), received_.data(), messages_.data(), ranks} {}

  /// One exchange. @return seconds
  double run() {
    executor_.for_each_index(exchange_.ranks, Prepare{exchange_});
    return seconds_of(executor_, [&] {
      executor_.for_each_index(exchange_.ranks, Send<M>{storage_.view(), exchange_});
      executor_.for_each_index(exchange_.ranks, Receive<M>{storage_.view(), exchange_});
    });
  }

  /// @return the share of the messages for which there was no memory
  /// @throws std::runtime_error if others have not arrived as they were sent
  double check() {
    dynasoar::DeviceArray<std::uint32_t> counts(kAllCounts);
    counts.fill_bytes(0);
    executor_.for_each_index(exchange_.ranks, Check{exchange_, reinterpret_cast<Counter*>(counts.data())});
    executor_.synchronize();
    const std::vector<std::uint32_t> values = counts.download();
    if (values[kWrong] > 0) throw std::runtime_error(std::to_string(values[kWrong]) + " messages arrived damaged");
    return values[kRefused] / static_cast<double>(messages_.size());
  }

 private:
  dynasoar::Executor executor_;
  typename M::Storage storage_;
  dynasoar::DeviceArray<double> sent_, received_;
  dynasoar::DeviceArray<double*> messages_;
  Exchange exchange_;
};

/// @return the longest exchange's seconds
template <class M>
double measure(const Context& context, std::uint32_t ranks) {
  Bench<M> bench(heap_bytes(context), ranks);
  double longest = bench.run();
  const double refused = bench.check();
  std::vector<double> milliseconds;
  for (int i = 0; i < (longest > kLongestRun ? 1 : context.repetitions); ++i) {
    const double seconds = bench.run();
    bench.check();
    longest = std::max(longest, seconds);
    milliseconds.push_back(1e3 * seconds);
  }
  const std::map<std::string, std::int64_t> parameters = {{"ranks", std::int64_t{ranks}}};
  context.add({"all_to_all", M::kProperties.name, parameters, "time", "ms", milliseconds});
  if (refused > 0) context.add({"all_to_all", M::kProperties.name, parameters, "refused", "%", {100 * refused}});
  return longest;
}

}  // namespace all_to_all

template <class M>
void add_all_to_all(std::vector<Case>& cases) {
  if constexpr (M::kProperties.frees && !HasPages<M>) {
    cases.push_back({"all_to_all", M::kProperties.name, [](const Context& context) {
                       // Whole blocks.
                       for (const std::uint32_t ranks : {context.pick(256u, 32u), context.pick(1024u, 64u)}) {
                         if (all_to_all::measure<M>(context, ranks) > kLongestRun) return;
                       }
                     }});
  }
}

}  // namespace benchmarks::allocators
