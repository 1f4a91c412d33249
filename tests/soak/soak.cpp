// The phases of the soak test, and how tables and heap are compared between them.
#include "soak.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <dynasoar/dynasoar.h>

#include "objects.h"
#include "workers.h"

namespace soak {

struct Phase {
  const char* name;
  int rounds;
  double level;         ///< share of the heap that workers try to take
  bool in_step;         ///< whether warps stay together, so that their requests are combined
  std::uint32_t loyal;  ///< creations in 256 that are of the class in demand; 0: all classes are in equal demand
};

// A heap can only be filled to the last page as long as demand does not change: then pages keep a few objects of the
// class that was in demand before. Refusals take a while, so most rounds are those in which few are to be expected.
constexpr Phase kPhases[] = {{"grow until full", 1, 1.3, false, 0},
                             {"churn at 99 %", 1, 0.99, false, 0},
                             {"drain", 1, 0.02, false, 0},
                             {"churn at 3 %", 20, 0.03, false, 192},
                             {"churn at 50 %", 1, 0.5, false, 192},
                             {"drain to 3 %", 2, 0.03, true, 192},
                             {"in step at 3 %", 100, 0.03, true, 192},
                             {"churn beyond full", 1, 1.1, false, 192},
                             {"drain to 10 %", 1, 0.1, false, 192},
                             {"in step at 30 %", 20, 0.3, true, 0}};

/// The heap, the tables, and the phases of a run.
class Soak {
 public:
  explicit Soak(const Options& options)
      : options_(options),
        handle_({.heap_bytes = options.heap_bytes != 0 ? options.heap_bytes : kDefaultHeap,
                 .on_refusal = dynasoar::OnRefusal::record,
                 .threads = options.threads}),
        pages_(handle_.statistics().pages),
        heap_bytes_(handle_.statistics().heap_bytes),
        workers_(options.workers != 0 ? options.workers : default_workers(heap_bytes_)),
        held_(workers_ * kMost),
        count_(workers_),
        bytes_(workers_),
        claims_(pages_ * Allocator::pages().block_stride * 64),
        mailboxes_(workers_ / 4 + 1),
        stop_(1) {
    count_.fill_bytes(0);
    bytes_.fill_bytes(0);
    claims_.fill_bytes(0);
    mailboxes_.fill_bytes(0);
    stop_.fill_bytes(0);
    tables_ = {held_.data(),
               count_.data(),
               bytes_.data(),
               static_cast<std::uint32_t>(workers_),
               reinterpret_cast<AtomicWord<std::uint32_t>*>(claims_.data()),
               reinterpret_cast<AtomicWord<std::uint64_t>*>(mailboxes_.data()),
               static_cast<std::uint32_t>(mailboxes_.size()),
               reinterpret_cast<AtomicWord<std::uint32_t>*>(stop_.data()),
               tally_.sums()};
  }

  State run(const AfterRound& after_round) {
    bool go_on = true;
    for (std::size_t phase = 0; go_on; ++phase) {
      phase_ = kPhases[phase % std::size(kPhases)];
      for (int i = 0; go_on && i < phase_.rounds; ++i) {
        work();
        go_on = !limit_reached() && after_round(seconds(), [this] { return describe(); });
      }
      verify();
      go_on = go_on && totals_.errors() + unowned_ == 0;
    }
    phase_ = {"end", 0, 0, false, 0};
    if (totals_.errors() + unowned_ == 0)
      finish();  // else the heap is not to be trusted, and might keep us waiting for ever
    return describe();
  }

 private:
  static constexpr std::size_t kDefaultHeap = std::size_t{dynasoar::kCudaBackend ? 1024 : 16} << 20;

  /// Heaps are full at 26 bytes per object then, which is less than any mix of classes takes.
  static std::size_t default_workers(std::size_t heap_bytes) { return heap_bytes / 816 / 32 * 32 + 32; }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  void work() {
    const double share = static_cast<double>(heap_bytes_) / static_cast<double>(workers_);
    handle_.parallel_for(workers_,
                         Round{tables_, options_.seed + ++round_, static_cast<std::uint32_t>(share * phase_.level),
                               phase_.loyal, phase_.in_step});
    handle_.synchronize();
    update();
  }

  bool limit_reached() const {
    return (options_.operations != 0 && totals_.operations() >= options_.operations) ||
           (options_.seconds != 0 && seconds() >= options_.seconds) || found_in_rounds() != 0;
  }

  std::uint64_t found_in_rounds() const { return totals_.doubled + totals_.damaged + totals_.wrong + unowned_; }

  /// Takes over what the workers have counted.
  void update() {
    const auto tally = tally_.totals();
    totals_.created = tally[kCreated];
    totals_.destroyed = tally[kDestroyed];
    totals_.checked = tally[kChecked];
    totals_.exchanged = tally[kExchanged];
    refused_ = tally[kRefused];
    totals_.refused_full = refused_ - totals_.refused_contended;
    totals_.doubled = tally[kDoubled];
    totals_.damaged = tally[kDamaged];
    totals_.wrong = tally[kWrong];
    unowned_ = tally[kUnowned];
  }

  State describe() {
    State state{phase_.name, seconds(), totals_, heap_bytes_, workers_, 0, 0, 0};
    state.totals.lost += unowned_;
    const dynasoar::Statistics statistics = handle_.statistics();
    state.used = statistics.used();
    state.totals.refused_contended = 0;
    for (std::uint32_t type = 0; type < kTypes; ++type) {
      state.live += statistics.types[type].objects;
      state.filled += static_cast<double>(statistics.types[type].objects * bytes_of(type));
      state.totals.refused_contended += statistics.types[type].refused_contended;
    }
    state.totals.refused_full = refused_ - state.totals.refused_contended;
    state.filled /= static_cast<double>(heap_bytes_);
    return state;
  }

  template <class T>
  void sum_objects(const SumsMemory& sums) {
    handle_.template parallel_do<T>(SumObjects{tables_, sums.sums()});
  }

  /// Compares the tables with the heap: its objects one by one, and its own counts.
  void verify() {
    ++totals_.verifications;
    SumsMemory held, found;
    handle_.parallel_for(workers_, SumHeld{tables_, held.sums()});
    handle_.parallel_for(mailboxes_.size(), SumMailboxes{tables_, held.sums()});
    sum_objects<Object4>(found);
    sum_objects<Object12>(found);
    sum_objects<Object28>(found);
    sum_objects<Object60>(found);
    sum_objects<Object100>(found);
    sum_objects<Object200>(found);
    handle_.synchronize();
    update();
    compare(held.totals(), found.totals());
  }

  void compare(const std::array<std::uint64_t, Sums::kStride>& held,
               const std::array<std::uint64_t, Sums::kStride>& found) {
    const dynasoar::Statistics statistics = handle_.statistics();
    for (std::uint32_t type = 0; type < kTypes; ++type) {
      const std::uint64_t owned = held[count_of(type)];
      const std::uint64_t there = found[count_of(type)];
      totals_.visited += there;
      totals_.lost += owned > there ? owned - there : 0;
      totals_.left_over += there > owned ? there - owned : 0;
      // As many, but others.
      totals_.lost += owned == there && held[ids_of(type)] != found[ids_of(type)];
      totals_.miscounted += statistics.types[type].objects != there;
    }
    totals_.miscounted += handle_.count<Object>() != statistics.objects();
    totals_.miscounted += statistics.created() != totals_.created;
    totals_.miscounted += statistics.refused() != refused_;
  }

  void finish() {
    handle_.parallel_for(workers_, DestroyHeld{tables_});
    handle_.parallel_for(mailboxes_.size(), EmptyMailboxes{tables_});
    handle_.synchronize();
    verify();
    SumsMemory claims;
    handle_.parallel_for(claims_.size(), SumClaims{tables_, claims.sums()});
    handle_.synchronize();
    totals_.left_over += claims.totals()[0];
    totals_.miscounted += handle_.statistics().free_pages != pages_;
  }

  Options options_;
  AllocatorHandle<Allocator> handle_;
  std::size_t pages_;
  std::size_t heap_bytes_;
  std::size_t workers_;
  DeviceArray<Object*> held_;
  DeviceArray<std::uint32_t> count_, bytes_, claims_;
  DeviceArray<std::uint64_t> mailboxes_;
  DeviceArray<std::uint32_t> stop_;
  SumsMemory tally_;
  Tables tables_{};
  Phase phase_{};
  std::uint64_t round_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t unowned_ = 0;  // objects whose claim was gone
  Totals totals_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

State run(const Options& options, const AfterRound& after_round) {
  return Soak(options).run(after_round);
}

}  // namespace soak
