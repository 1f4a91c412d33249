/// @file
/// The numbers that the hand-written baselines note after a step: numbers of cells, radius and lowest oxygen.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"
#include "slots.h"

namespace tumour::baselines {

/// The numbers of a step, in words that many threads update. A maximum is stored as the minimum of the complements.
struct Record {
  Word cells[3];
  Word not_radius;  ///< the complement of the radius's bits
  Word oxygen;      ///< its bits, mapped to integers in the same order

  __device__ static std::uint32_t ordered(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000;
  }
  static float value_of(std::uint32_t ordered) {
    return std::bit_cast<float>((ordered >> 31) != 0 ? ordered & 0x7FFFFFFF : ~ordered);
  }
};

/// Each of kThreads threads looks at some of the cells and places.
template <class CellsT>
struct TakeRecord {
  static constexpr std::size_t kThreads = 1 << 12;

  Work<CellsT> work;
  Record* record;

  __device__ void operator()(std::size_t thread) const {
    std::uint32_t cells[3] = {};
    float radius = 0;
    const std::uint32_t used = work.pool.used();
    for (auto i = static_cast<std::uint32_t>(thread); i < used; i += kThreads) {
      const Slot slot = work.cells.slot(i);
      if (slot == Slot::free) continue;
      ++cells[static_cast<int>(slot) - 1];
      radius = std::fmax(radius, std::sqrt(squared_length(work.cells.position(i))) + work.cells.radius(i));
    }
    std::uint32_t oxygen = 0xFFFFFFFF;
    for (std::size_t i = thread; i < work.oxygen.places(); i += kThreads) {
      const std::uint32_t ordered = Record::ordered(work.oxygen.now[i]);
      oxygen = ordered < oxygen ? ordered : oxygen;
    }
    for (int i = 0; i < 3; ++i) record->cells[i].add(cells[i], Order::relaxed);
    record->not_radius.fetch_min(~std::bit_cast<std::uint32_t>(radius), Order::relaxed);
    record->oxygen.fetch_min(oxygen, Order::relaxed);
  }
};

struct ClearRecords {
  Record* records;
  __device__ void operator()(std::size_t i) const {
    for (Word& word : records[i].cells) word.store(0, Order::relaxed);
    records[i].not_radius.store(0xFFFFFFFF, Order::relaxed);
    records[i].oxygen.store(0xFFFFFFFF, Order::relaxed);
  }
};

/// The records of the last steps, which stay in device memory until the host takes them.
class History {
 public:
  History() : records_(kSteps) {}

  template <class CellsT>
  void record(dynasoar::Executor& executor, const Work<CellsT>& work) {
    if (pending_ == kSteps) collect(executor);
    if (pending_ == 0) executor.for_each_index(kSteps, ClearRecords{records_.data()});
    executor.for_each_index(TakeRecord<CellsT>::kThreads, TakeRecord<CellsT>{work, records_.data() + pending_++});
  }

  std::vector<Census> take(dynasoar::Executor& executor) {
    collect(executor);
    return std::exchange(collected_, {});
  }

 private:
  static constexpr std::size_t kSteps = 256;

  void collect(dynasoar::Executor& executor) {
    executor.synchronize();
    if (pending_ == 0) return;
    const std::vector<Record> records = records_.download();
    for (std::size_t step = 0; step < pending_; ++step) collected_.push_back(census_of(records[step]));
    pending_ = 0;
  }

  static Census census_of(const Record& record) {
    const auto value = [](const Word& word) { return word.load(Order::relaxed); };
    return {value(record.cells[0]), value(record.cells[1]), value(record.cells[2]),
            std::bit_cast<float>(~value(record.not_radius)), Record::value_of(value(record.oxygen))};
  }

  dynasoar::DeviceArray<Record> records_;
  std::size_t pending_ = 0;
  std::vector<Census> collected_;
};

}  // namespace tumour::baselines
