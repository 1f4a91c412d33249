#include <dynasoar/heap/compaction.h>

#include <algorithm>
#include <cstddef>

#include <dynasoar/heap/compaction_tasks.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/loops/team_loops.h>

namespace dynasoar::detail {

namespace {

/// Teams that are worth having for an update of so many pointers, or slots.
std::size_t teams_for(std::size_t updates) {
  return updates / kUpdatesPerTeam + 1;
}

bool heap_has_pointers_to(const ClassTable& table, const ClassSet& moved) {
  for (const ClassInfo& info : table.classes) {
    if (!info.is_placed && info.may_point_to(moved)) return true;
  }
  return false;
}

}  // namespace

void compact(Executor& executor, const HeapMemory& memory, const ClassSet& classes, double above,
             View<HandleArray> arrays, View<PlacedBlocks> placed) {
  constexpr std::size_t kMost = UpdatePointers::kMost;
  const CompactedHeap heap = memory.compacted(classes);
  const std::size_t types = heap.heap.types.size();
  loop_over_teams(executor, types, ChooseClasses{heap, above});
  const std::size_t blocks = heap.heap.blocks();
  loop_over_teams(executor, blocks / kBlocksPerGroup + types, MoveObjects(heap));
  bool objects = heap_has_pointers_to(memory.classes(), classes);
  while (objects || !arrays.empty() || !placed.empty()) {
    const auto arrays_now = arrays.first(std::min(arrays.size(), kMost));
    const auto placed_now = placed.first(std::min(placed.size(), kMost));
    std::size_t most = objects ? teams_for(blocks * kSlotsPerBlock) : 0;
    for (const HandleArray& array : arrays_now) most += teams_for(array.size);
    for (const PlacedBlocks& of_class : placed_now) most += teams_for(of_class.blocks.blocks * kSlotsPerBlock);
    loop_over_teams(executor, most, UpdatePointers(heap, objects, arrays_now, placed_now));
    arrays = arrays.without_first(arrays_now.size());
    placed = placed.without_first(placed_now.size());
    objects = false;
  }
}

}  // namespace dynasoar::detail
