#include <dynasoar/heap/compaction.h>

#include <algorithm>

#include <dynasoar/heap/compaction_tasks.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/loops/team_loops.h>

namespace dynasoar::detail {

namespace {

bool have_pointers_to(const ClassTable& table, const ClassSet& moved) {
  for (const ClassInfo& info : table.classes) {
    for (const FieldInfo& field : info.fields) {
      if (field.targets.overlaps(moved)) return true;
    }
  }
  return false;
}

}  // namespace

void compact(Executor& executor, const HeapMemory& memory, const ClassSet& classes, double above,
             View<HandleArray> arrays) {
  const CompactedHeap heap = memory.compacted(classes);
  const std::size_t types = heap.heap.types.size();
  loop_over_teams(executor, types, ChooseClasses{heap, above});
  const std::size_t blocks = heap.heap.blocks();
  loop_over_teams(executor, blocks / kBlocksPerGroup + types, MoveObjects(heap));
  bool objects = have_pointers_to(memory.classes(), classes);
  while (objects || !arrays.empty()) {
    const auto now = arrays.first(std::min(arrays.size(), UpdatePointers::kMostArrays));
    std::size_t most = objects ? blocks * kSlotsPerBlock / kUpdatesPerTeam + 1 : 0;
    for (const HandleArray& array : now) most += array.size / kUpdatesPerTeam + 1;
    loop_over_teams(executor, most, UpdatePointers(heap, now, objects));
    arrays = arrays.without_first(now.size());
    objects = false;
  }
}

}  // namespace dynasoar::detail
