/// @file
/// The lists of tables of objects, made on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/object_table.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

template <int kTypes>
void make_lists(Executor& executor, const ChosenTables<kTypes>& chosen) {
  for (int number = 0; number < chosen.count; ++number) {
    const ObjectTable& table = chosen.tables[number];
    const std::uint32_t removed = table.counts->removed.load(Order::relaxed);
    executor.for_each_index(removed,
                            [&](std::size_t i) { table.list_gap_and_mover(static_cast<std::uint32_t>(i), removed); });
    executor.for_each_index(table.counts->gaps.load(Order::relaxed),
                            [&](std::size_t i) { table.move_entry(static_cast<std::uint32_t>(i)); });
    table.finish_compaction(removed);
  }
}

}  // namespace dynasoar::detail
