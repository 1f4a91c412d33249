/// @file
/// LeaveParts: the `finish` of a reduction that leaves its parts to the caller. See object_loops.h. Used by StepLog.
#pragma once

namespace dynasoar::detail {

struct LeaveParts {};

}  // namespace dynasoar::detail
