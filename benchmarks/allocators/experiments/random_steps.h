/// @file
/// Threads that at each step take memory, if they have none, or give it back, each with some probability: what the
/// experiments of ScatterAlloc (section 7) and the Probability test of Vinkler and Havran (section 6) have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/random.h>

#include "../runs.h"

namespace benchmarks::allocators {

/// What random numbers are for.
enum class Draw : std::uint32_t { whether, size };

/// Probabilities of a step, in percent.
struct Chances {
  std::uint32_t alloc;
  std::uint32_t free;
};

/// Request sizes, each as likely as the others, in bytes.
struct SizeRange {
  std::uint32_t least;
  std::uint32_t most;
};

/// One step of threads of which one in `spacing` takes part.
template <class M>
struct RandomStep {
  M memory;
  Piece* pieces;  // [threads / spacing]
  dynasoar::AtomicWord<std::uint32_t>* refused;
  Chances chances;
  SizeRange sizes;
  std::uint32_t spacing;
  std::uint32_t step;

  __device__ void operator()(std::size_t thread) const {
    if (thread % spacing != 0) return;
    const auto worker = static_cast<std::uint32_t>(thread / spacing);
    const std::uint32_t percent = dynasoar::random::draw(kSeed, Draw::whether, worker, step, 100);
    Piece& mine = pieces[worker];
    if (mine.memory == nullptr) {
      if (percent < chances.alloc) take(mine, worker);
    } else if (percent < chances.free) {
      memory.free(mine.memory);
      mine.memory = nullptr;
    }
  }

 private:
  static constexpr dynasoar::random::Seed kSeed{1};

  __device__ void take(Piece& mine, std::uint32_t worker) const {
    mine.bytes = sizes.least + dynasoar::random::draw(kSeed, Draw::size, worker, step, sizes.most - sizes.least + 1);
    mine.memory = memory.malloc(mine.bytes);
    ++mine.asked;
    if (mine.memory == nullptr) refused->fetch_add(1, dynasoar::Order::relaxed);
  }
};

/// Threads between steps.
class RandomWorkers {
 public:
  explicit RandomWorkers(std::size_t workers) : pieces_(workers), refused_(1) { reset(); }

  void reset() {
    pieces_.fill_bytes(0);
    refused_.fill_bytes(0);
  }

  std::size_t size() const { return pieces_.size(); }
  Piece* pieces() const { return pieces_.data(); }
  dynasoar::AtomicWord<std::uint32_t>* refused_word() const {
    return reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(refused_.data());
  }

  std::vector<Piece> download() const { return pieces_.download(); }
  std::uint64_t refused() const { return refused_.download()[0]; }
  std::uint64_t asked() const {
    std::uint64_t sum = 0;
    for (const Piece& piece : download()) sum += piece.asked;
    return sum;
  }

 private:
  dynasoar::DeviceArray<Piece> pieces_;
  dynasoar::DeviceArray<std::uint32_t> refused_;
};

}  // namespace benchmarks::allocators
