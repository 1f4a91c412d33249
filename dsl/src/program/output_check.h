/// @file
/// check_outputs: checks before the first step that all outputs of a run can be written. Used by Run.
#pragma once

#include <dynasoar/program/display.h>

namespace dynasoar::program {

/// Checks that every output can be written, and that it is not also another output, an input, or the file to which the
/// program prints. Takes other names, links, temporary files and numbered files into account. Creates the folders of
/// numbered files.
///
/// @throws UsageError if a check fails; no folder has been created then
void check_outputs(const Program& program, const RunOptions& options, const Display* display);

}  // namespace dynasoar::program
