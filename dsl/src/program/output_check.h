/// @file
/// check_outputs: finds out before the first step what would keep a run's outputs from being written. Used by Run.
#pragma once

#include <dynasoar/program/display.h>

namespace dynasoar::program {

/// Checks that every output can be written, and that none of them is another one, an input, or what the program prints
/// to: also under another name, by a link, as a temporary file, or as one of the numbered files. Makes folders
/// for these.
///
/// @throws UsageError if not; then no folder was made
void check_outputs(const Program& program, const RunOptions& options, const Display* display);

}  // namespace dynasoar::program
