#include <dynasoar/heap/compaction.h>

#include <cstddef>

#include <dynasoar/heap/compaction_tasks.h>
#include <dynasoar/heap/forwarding.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/loops/team_loops.h>

namespace dynasoar::detail {

void compact(Executor& executor, const HeapMemory& memory, const ClassSet& classes, double above,
             const OtherPointers& pointers) {
  const RelocatedHeap heap = memory.relocated(classes);
  const std::size_t types = heap.heap.types.size();
  load_team_loop<MoveObjects>(executor);
  load_pointer_updates<Forwarding>(executor, memory.classes(), classes);
  loop_over_teams(executor, types, ChooseClasses{heap, above});
  const std::size_t blocks = heap.heap.blocks();
  loop_over_teams(executor, blocks / kBlocksPerGroup + types, MoveObjects(heap));
  update_pointers(executor, memory.classes(), blocks, Forwarding(heap), pointers);
}

}  // namespace dynasoar::detail
