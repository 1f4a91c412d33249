/// @file
/// Creation: divides the creation of many objects among threads, and counts these objects. Used by LoopRunner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/bulk_creation.h>
#include <dynasoar/objects.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// Creates the object of an index.
template <class T, class... Args>
struct IndexedNew {
  std::tuple<Args...> arguments;
  __device__ void operator()(std::size_t index) const { create(index, std::index_sequence_for<Args...>{}); }

 private:
  template <std::size_t... I>
  __device__ void create(std::size_t index, std::index_sequence<I...>) const {
    make_new<T>(index, std::get<I>(arguments)...);
  }
};

/// Creates the objects for some of all indices. Used if there are so many that most will be refused: after a few
/// refusals in a row, it refuses the rest together.
///
/// @tparam A   the allocator
template <class A, class T, class... Args>
struct NewInPieces {
  static constexpr std::size_t kPieces = kPiecesOfRefusedLoop;

  std::size_t count;
  std::tuple<Args...> arguments;

  __device__ void operator()(std::size_t piece) const {
    const std::size_t begin = piece * (count / kPieces);
    const std::size_t size = piece + 1 == kPieces ? count - begin : count / kPieces;
    std::size_t tried = 0;
    for (int refused = 0; tried < size && refused < kMostRefusalsInARow; ++tried) {
      const auto create = [&](const Args&... args) {
        return A::template make_new<T>(begin + tried, args...) != nullptr;
      };
      refused = std::apply(create, arguments) ? 0 : refused + 1;
    }
    A::template refuse_together<T>(size - tried);
  }
};

/// @tparam A   the allocator
template <class A>
class Creation {
 public:
  explicit Creation(const Executor& executor) : executor_(executor), bulk_(executor) {}

  /// The number of objects of some classes that the host has asked for since the start, without recorded steps.
  std::uint64_t asked_for(const ClassSet& classes) const {
    std::uint64_t sum = 0;
    for (std::size_t type = 0; type < asked_for_.size(); ++type) sum += classes.has(type) ? asked_for_[type] : 0;
    return sum;
  }

  /// Creates `T(i, args...)` for 0 <= i < count.
  ///
  /// @param run   `run(n, function, per_thread)` calls `function(i)` for 0 <= i < n in parallel; a thread takes at
  ///              least `per_thread` of them
  template <class T, class Run, class... Args>
  void create(std::size_t count, const typename A::Storage& storage, const Run& run, std::tuple<Args...> arguments) {
    if (!executor_.is_recording()) asked_for_[static_cast<std::size_t>(A::template index_of<T>)] += count;
    if constexpr (A::kCreatesInPieces) {
      const auto run_pieces = [&run](const auto& function) { run(function.threads(), function, 1); };
      bulk_.template create<A, T>(count, run_pieces, arguments);
    } else if (count <= storage.most_objects(static_cast<std::size_t>(A::template index_of<T>))) {
      // Two objects per thread, so that the threads of a warp fill a block of 64 slots.
      run(count, IndexedNew<T, Args...>{std::move(arguments)}, 2);
    } else {
      using Pieces = NewInPieces<A, T, Args...>;
      run(Pieces::kPieces, Pieces{count, std::move(arguments)}, 1);
    }
  }

 private:
  const Executor& executor_;
  std::array<std::uint64_t, A::Types::size> asked_for_{};
  [[no_unique_address]] std::conditional_t<A::kCreatesInPieces, BulkCreation, NoBulkCreation> bulk_;
};

}  // namespace dynasoar::detail
