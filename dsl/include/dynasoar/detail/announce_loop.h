/// @file
/// announce_loop: tells device code which loop runs next. Used by LoopRunner in checked builds.
#pragma once

#include <cstdint>

#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// @param number    the number of the loop, see LoopRecord
/// @param visited   the classes of the objects that it visits
void announce_loop(Executor& executor, LoopRecord* record, std::uint32_t number, const ClassSet& visited);

}  // namespace dynasoar::detail
