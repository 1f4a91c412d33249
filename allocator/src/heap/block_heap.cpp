// The operations of the heap that programs for a CPU allocate from.
#include <dynasoar/heap/block_heap.h>

namespace dynasoar {

DYNASOAR_HOST_TEMPLATE(class BlockHeap<kAnyNumber>);

}  // namespace dynasoar
