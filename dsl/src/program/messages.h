/// @file
/// What programs print. A message that cannot be written never ends a run, stops it for good, or reaches a data file.
#pragma once

#include <string_view>
#include <system_error>

namespace dynasoar::program {

/// Prepares the process: standard input, output and error that are closed are opened on /dev/null, so that no file gets
/// their numbers; writing to a pipe that nobody reads, or more than `ulimit -f` allows, is an error and no signal.
/// @pre no file was opened
void protect_streams();

/// From now on this process prints nothing, or prints again: of several that make a run, the first prints for all.
void silence(bool is_silent);

/// Prints to standard error, which may be lost: on a full disk, in a terminal that is gone, in a pipe that is not read.
void print_error(std::string_view text);

/// Likewise, but loses the text at once if it would have to wait.
void print_progress(std::string_view text);

/// Prints to standard output. Waits for its reader, but not for long after an interrupt.
///
/// @return   why the text could not be written; no error if it was
std::error_code print(std::string_view text);

}  // namespace dynasoar::program
