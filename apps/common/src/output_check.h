/// @file
/// check_outputs: finds out before the first step what would keep a run's outputs from being written. Used by Run.
#pragma once

#include <app/program.h>

namespace app {

/// Checks that every output can be written, and that none of them is another one, an input, or what the program prints
/// to: also under another name, by a link, as a temporary file, or as one of the numbered files of --frames, --export
/// and --view. Makes the folder of --frames.
///
/// @throws UsageError if not; then no folder was made
void check_outputs(const Program& program, const RunOptions& options);

}  // namespace app
