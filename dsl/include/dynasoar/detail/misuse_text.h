/// @file
/// Describes misuse for people: which class or field, what was done, to which object, by which; throws it. Used by
/// AllocatorHandle.
#pragma once

#include <vector>

#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// Throws the misuse that was found, if any. @param reports   without texts @throws MisuseError
void throw_misuse(const ClassTable& classes, std::vector<MisuseReport> reports);

}  // namespace dynasoar::detail
