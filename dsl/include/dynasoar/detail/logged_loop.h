/// @file
/// LoggedLoop: the loop that computes some totals of the objects of a class for the rows of a StepLog. Used by
/// StepLog::add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/log_rows.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_runner.h>
#include <dynasoar/detail/totals.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/leave_parts.h>
#include <dynasoar/loops/object_loops.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Closes a row. Its step is the number of the row.
struct CloseRow {
  LogTarget target;
  __device__ void operator()(std::size_t) const { target.close_row(target.cursor->next); }
};

/// Closes a row with the number of a step. @tparam Step   a StepNumber
template <class Step>
struct CloseRowOfStep {
  LogTarget target;
  Step step;
  __device__ void operator()(std::size_t) const { target.close_row(static_cast<std::uint32_t>(step)); }
};

/// The position of a loop's totals in a row.
struct PartOfRow {
  std::size_t values;  ///< offset in bytes
  std::size_t bins;    ///< offset in bytes
};

/// Writes totals to the current row, and adds up the copies of bins. Runs when all parts of a reduction are done.
template <class TotalsT>
struct WriteTotals {
  using Values = typename TotalsT::Values;
  static_assert(sizeof(Values) <= 512,
                "dynasoar: these are too many totals for one loop: distribute them over several calls of add");

  LogBins bins;
  LogTarget target;
  PartOfRow part;
  std::uint32_t* ticket;

  __device__ void operator()(std::uint32_t thread, std::uint32_t threads, const Values& result) const {
    char* const row = target.row();
    if (row == nullptr) return;
    if (thread == 0) *reinterpret_cast<Values*>(row + part.values) = result;
    for (std::uint32_t bin = thread; bin < bins.bins; bin += threads)
      reinterpret_cast<std::uint64_t*>(row + part.bins)[bin] = bins.count_of(bin);
  }
};

/// @tparam A         the allocator
/// @tparam T         visits the objects of T and its subclasses
/// @tparam TotalsT   a Totals
template <class A, class T, class TotalsT>
class LoggedLoop final : public LoggedTotals {
 public:
  /// @param edges    of the bins of all histograms, one after the other
  /// @param offset   of this part in a row, a multiple of 16
  LoggedLoop(LoopRunner<A>& loops, const TotalsT& totals, const std::vector<double>& edges, std::size_t offset)
      : loops_(loops), totals_(totals), edges_(edges.size()), ticket_(1), part_{offset, offset + kValueBytes} {
    edges_.upload(edges);
    std::size_t used = 0;
    totals_.for_each([&]<class Total>(Total& total) {
      if constexpr (is_histogram_v<Total>) {
        total.edges = edges_.data() + used;
        total.first = bins_.bins;
        used += total.bins + 1;
        bins_.bins += total.bins;
      }
    });
    words_ = DeviceArray<LogBins::Word>(std::size_t{LogBins::kCopies} * bins_.bins);
    bins_.words = words_.data();
    totals_.for_each([&]<class Total>(Total& total) {
      if constexpr (is_histogram_v<Total>) total.all = bins_;
    });
    std::size_t most = 0;
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      most += most_parts<A, Values, Combine, Slot<S>, Finish<S>>(loops_.executor());
      if constexpr (is_placed<S>() && A::template Subtypes<S>::size > 1) {  // allocates an empty list once
        static_cast<void>(loops_.placed().list(static_cast<std::size_t>(A::template index_of<S>)));
      }
    });
    results_ = DeviceArray<char>(most * sizeof(Values));
    results_.fill_bytes(0);  // values may have padding
    ticket_.fill_bytes(0);
  }

  std::size_t bytes() const { return kValueBytes + sizeof(std::uint64_t) * bins_.bins; }

  void submit(const LogTarget& target) override {
    Values* const results = reinterpret_cast<Values*>(results_.data());
    std::size_t count = 0;
    loops_.placed().template check_have_lattices<T>();
    // Clear the bins here and not after the loop, which may have stopped half-way.
    if (bins_.bins > 0) loops_.executor().fill_bytes(words_.data(), 0, words_.bytes());
    const WriteTotals<TotalsT> write{bins_, target, part_, ticket_.data()};
    loops_.template run<T, TotalsT>([&] {
      loops_.template for_each_list<T>([&]<class S>(std::type_identity<S>, BlockList list, std::size_t capacity) {
        Finish<S> finish{};
        if constexpr (!std::is_same_v<Finish<S>, LeaveParts>) finish = write;
        count += submit_reduction<A>(loops_.executor(), list, capacity, results, count, totals_.none(),
                                     Combine{totals_}, Slot<S>{totals_}, finish);
      });
    });
  }

  void read(const char* row, std::vector<LogValue>& cells) const override {
    Values values = totals_.none();
    std::memcpy(static_cast<void*>(&values), row + part_.values, sizeof values);
    totals_.read(values, reinterpret_cast<const std::uint64_t*>(row + part_.bins), cells);
  }

 private:
  using Values = typename TotalsT::Values;
  using Combine = CombineTotals<TotalsT>;
  template <class S>
  using Slot = SlotValue<S, TotalsT>;
  template <class S>
  static constexpr bool is_last_class() {
    bool is_last = false;
    A::template Subtypes<T>::for_each([&]<class C>(std::type_identity<C>) { is_last = std::is_same_v<C, S>; });
    return is_last;
  }
  /// The reduction over the last class writes the totals of all classes.
  template <class S>
  using Finish = std::conditional_t<is_last_class<S>(), WriteTotals<TotalsT>, LeaveParts>;
  static_assert(alignof(Values) <= 16);
  static constexpr std::size_t kValueBytes = (sizeof(Values) + 15) / 16 * 16;

  LoopRunner<A>& loops_;
  TotalsT totals_;
  DeviceArray<double> edges_;
  DeviceArray<LogBins::Word> words_;
  LogBins bins_;
  DeviceArray<char> results_;          // of the parts of a loop
  DeviceArray<std::uint32_t> ticket_;  // for WriteTotals
  PartOfRow part_;
};

}  // namespace dynasoar::detail
