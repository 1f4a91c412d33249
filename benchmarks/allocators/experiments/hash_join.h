/// @file
/// A hash join whose threads write their results to pages, which they take when they need them: seconds from tables to
/// results, over the tables' size.
///
/// Source: Pham et al., ICS '22, section 5.2.3, figure 12. Two tables of as many tuples are joined, one thread for each
/// tuple of the second. Allocators that do not free stand for the paper's Direct Output Buffer, which moves one counter
/// on. What differs: the join that the paper builds upon partitions its tables, this one chains the first one's tuples
/// by their hash; there are 2^22 pages of 256 bytes instead of 128 M, and 2^20 tuples at most instead of 10 M. A key
/// occurs 24 times in each table on average, so that one thread of ten needs a second page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../suite.h"
#include "series.h"

namespace benchmarks::allocators {
namespace hash_join {

struct Tuple {
  std::uint32_t key, payload;
};

/// What is counted on the device: results, the sum of their payloads' products, and results for which no page was left.
enum Counts { kResults, kChecksum, kLost, kAllCounts };
using Counter = dynasoar::AtomicWord<std::uint64_t>;

/// The first table's tuples, those of a bucket in a chain.
struct HashTable {
  using Head = dynasoar::AtomicWord<std::uint32_t>;
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  const Tuple* tuples;
  Head* heads;          // [2^bits], kEnd at first
  std::uint32_t* next;  // [tuples]
  int bits;

  __device__ Head& head_of(std::uint32_t key) const { return heads[key * 0x9E3779B1u >> (32 - bits)]; }
};

/// A page of a thread's results, and what it had filled before.
struct Page {
  struct Result {
    std::uint32_t first, second;  // payloads
  };
  static constexpr std::uint32_t kMost = 30;

  Page* before;
  std::uint64_t count;
  Result results[kMost];
};
static_assert(sizeof(Page) == 256);

struct Build {
  HashTable table;
  __device__ void operator()(std::size_t i) const {
    const auto tuple = static_cast<std::uint32_t>(i);
    table.next[i] = table.head_of(table.tuples[i].key).exchange(tuple, dynasoar::Order::relaxed);
  }
};

template <class M>
struct Probe {
  M memory;
  HashTable table;
  const Tuple* tuples;
  Page** outputs;   // [tuples], the last page of each
  Counter* counts;  // [kAllCounts]

  __device__ void operator()(std::size_t i) const {
    const Tuple tuple = tuples[i];
    Page* page = nullptr;
    std::uint64_t lost = 0;
    for (std::uint32_t at = table.head_of(tuple.key).load(dynasoar::Order::relaxed); at != HashTable::kEnd;
         at = table.next[at]) {
      if (table.tuples[at].key != tuple.key) continue;
      if (page == nullptr || page->count == Page::kMost) page = page_after(page);
      if (page == nullptr || page->count == Page::kMost) {
        ++lost;
      } else {
        page->results[page->count++] = {table.tuples[at].payload, tuple.payload};
      }
    }
    outputs[i] = page;
    if (lost > 0) counts[kLost].add(lost, dynasoar::Order::relaxed);
  }

  /// A new page, or the full one if there is none.
  __device__ Page* page_after(Page* full) const {
    auto* const page = static_cast<Page*>(memory.malloc(sizeof(Page)));
    if (page == nullptr) return full;
    page->before = full;
    page->count = 0;
    return page;
  }
};

struct SumUp {
  Page** outputs;
  Counter* counts;
  __device__ void operator()(std::size_t i) const {
    std::uint64_t results = 0;
    std::uint64_t checksum = 0;
    for (const Page* page = outputs[i]; page != nullptr; page = page->before) {
      results += page->count;
      for (std::uint64_t at = 0; at < page->count; ++at) {
        checksum += std::uint64_t{page->results[at].first} * page->results[at].second;
      }
    }
    counts[kResults].add(results, dynasoar::Order::relaxed);
    counts[kChecksum].add(checksum, dynasoar::Order::relaxed);
  }
};

template <class M>
struct FreePages {
  M memory;
  Page** outputs;
  __device__ void operator()(std::size_t i) const {
    for (Page* page = outputs[i]; page != nullptr;) {
      Page* const before = page->before;
      memory.free(page);
      page = before;
    }
  }
};

inline std::vector<Tuple> random_table(std::size_t tuples, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Tuple> table(tuples);
  for (Tuple& tuple : table) {
    tuple.key = random() % static_cast<std::uint32_t>(tuples / 24);
    tuple.payload = random();
  }
  return table;
}

/// The join's results, as the host finds them.
struct Expected {
  std::uint64_t results = 0;
  std::uint64_t checksum = 0;
};

/// Sums over the pairs with the same key are, for each key, products of sums over the two tables.
inline Expected join_on_host(const std::vector<Tuple>& first, const std::vector<Tuple>& second) {
  std::vector<std::uint64_t> counts(first.size()), sums(first.size());
  for (const Tuple& tuple : first) {
    ++counts[tuple.key];
    sums[tuple.key] += tuple.payload;
  }
  Expected expected;
  for (const Tuple& tuple : second) {
    expected.results += counts[tuple.key];
    expected.checksum += sums[tuple.key] * tuple.payload;
  }
  return expected;
}

/// Two tables on the device, and the pages of their join.
template <class M>
class Join {
 public:
  Join(std::size_t heap_bytes, int log)
      : heap_bytes_(heap_bytes),
        size_(std::size_t{1} << log),
        first_(size_),
        second_(size_),
        heads_(size_),
        next_(size_),
        outputs_(size_) {
    const std::vector<Tuple> first = random_table(size_, 1);
    const std::vector<Tuple> second = random_table(size_, 2);
    expected_ = join_on_host(first, second);
    first_.upload(first);
    second_.upload(second);
    table_ = {first_.data(), reinterpret_cast<HashTable::Head*>(heads_.data()), next_.data(), log};
  }

  /// Joins once. @return seconds
  double run() {
    // An allocator that does not free begins with an empty heap.
    if (!storage_ || !M::kProperties.frees) {
      storage_.reset();  // there may be no room for two
      storage_ = std::make_unique<typename M::Storage>(executor_, dynasoar::MallocNeeds{heap_bytes_, sizeof(Page)});
    }
    counts_.fill_bytes(0);
    return seconds_of(executor_, [&] {
      heads_.fill_bytes(0xff);
      executor_.for_each_index(size_, Build{table_});
      executor_.for_each_index(size_,
                               Probe<M>{storage_->view(), table_, second_.data(), outputs_.data(), device_counts()});
    });
  }

  /// Looks at the results and frees their pages.
  ///
  /// @return the share of the results for which no page was left
  /// @throws std::runtime_error if those in the pages are wrong
  double check_and_free() {
    executor_.for_each_index(size_, SumUp{outputs_.data(), device_counts()});
    executor_.for_each_index(size_, FreePages<M>{storage_->view(), outputs_.data()});
    executor_.synchronize();
    const std::vector<std::uint64_t> counts = counts_.download();
    if (counts[kResults] + counts[kLost] != expected_.results) {
      throw std::runtime_error("the join has " + std::to_string(counts[kResults]) + " results instead of " +
                               std::to_string(expected_.results));
    }
    if (counts[kLost] == 0 && counts[kChecksum] != expected_.checksum) {
      throw std::runtime_error("the join's results are damaged");
    }
    return static_cast<double>(counts[kLost]) / static_cast<double>(expected_.results);
  }

 private:
  Counter* device_counts() { return reinterpret_cast<Counter*>(counts_.data()); }

  dynasoar::Executor executor_;
  std::size_t heap_bytes_;
  std::size_t size_;  // tuples of a table
  dynasoar::DeviceArray<Tuple> first_, second_;
  dynasoar::DeviceArray<std::uint32_t> heads_, next_;
  dynasoar::DeviceArray<Page*> outputs_;
  dynasoar::DeviceArray<std::uint64_t> counts_{kAllCounts};
  HashTable table_{};
  Expected expected_;
  std::unique_ptr<typename M::Storage> storage_;
};

/// @return the longest run's seconds
template <class M>
double measure(const Context& context, int log) {
  Join<M> join(heap_bytes(context), log);
  double longest = join.run();
  double lost = join.check_and_free();
  std::vector<double> milliseconds;
  for (int i = 0; i < (longest > kLongestRun ? 1 : context.repetitions); ++i) {
    const double seconds = join.run();
    longest = std::max(longest, seconds);
    milliseconds.push_back(1e3 * seconds);
    lost = std::max(lost, join.check_and_free());
  }
  const std::map<std::string, std::int64_t> parameters = {{"tuples", std::int64_t{1} << log}};
  context.add({"hash_join", M::kProperties.name, parameters, "time", "ms", milliseconds});
  if (lost > 0) context.add({"hash_join", M::kProperties.name, parameters, "refused", "%", {100 * lost}});
  return longest;
}

}  // namespace hash_join

template <class M>
void add_hash_join(std::vector<Case>& cases) {
  if constexpr (!M::kProperties.collective) {
    cases.push_back({"hash_join", M::kProperties.name, [](const Context& context) {
                       for (int log = context.pick(14, 10); log <= context.pick(20, 12); log += 2) {
                         if (hash_join::measure<M>(context, log) > kLongestRun) return;
                       }
                     }});
  }
}

}  // namespace benchmarks::allocators
