#include <dynasoar/detail/loop_reports.h>

namespace dynasoar::detail {

template class LoopReports<HeapMemory, HeapGrowth>;

}  // namespace dynasoar::detail
