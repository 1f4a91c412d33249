/// @file
/// The files that a run reads and writes. Used by check_outputs and Run.
#pragma once

#include <vector>

#include <dynasoar/program/display.h>

namespace dynasoar::program {

std::vector<NamedFile> inputs_of(const Program& program, const RunOptions& options);

/// The outputs of a run, without numbered files.
std::vector<NamedFile> outputs_of(const Program& program, const RunOptions& options, const Display* display);

std::vector<NumberedFiles> numbered_files_of(const RunOptions& options, const Display* display);

}  // namespace dynasoar::program
