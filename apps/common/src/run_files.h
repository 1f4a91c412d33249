/// @file
/// The files that a run reads and writes. Used by check_outputs and Run.
#pragma once

#include <vector>

#include <app/program.h>

#include "numbered_files.h"

namespace app {

/// Whether an option names an output.
bool wanted(const std::string& output);

std::vector<NamedFile> inputs_of(const Program& program, const RunOptions& options);

/// But for those with numbers in their names.
std::vector<NamedFile> outputs_of(const Program& program, const RunOptions& options);

std::vector<NumberedFiles> numbered_files_of(const Program& program, const RunOptions& options);

}  // namespace app
