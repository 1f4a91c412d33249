// The heap operations of programs for a CPU.
#include <dynasoar/heap/block_heap.h>

namespace dynasoar {

DYNASOAR_HOST_TEMPLATE(class BlockHeap<kAnyNumber>);

}  // namespace dynasoar
