// The operations of the heap that programs for a CPU allocate from.
#include <dynasoar/heap/block_heap.h>

#if !DYNASOAR_CUDA_BACKEND
template class dynasoar::BlockHeap<dynasoar::kAnyNumber>;
#endif
