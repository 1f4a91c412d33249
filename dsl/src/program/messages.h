/// @file
/// Prints messages. A message that cannot be written never ends a run, blocks it, or reaches a data file. Used by
/// everything in this folder that prints.
#pragma once

#include <string_view>
#include <system_error>

namespace dynasoar::program {

/// Prepares the process. Opens standard input, output and error on /dev/null if they are closed, so that no file gets
/// their numbers. Makes it an error, and not a signal, to write to a pipe without a reader, or more than `ulimit -f`
/// allows.
/// @pre no file was opened
void protect_streams();

/// Sets whether this process prints nothing. If several processes share a run, only the first one prints.
void silence(bool is_silent);

/// Prints to standard error. The text may be lost: on a full disk, in a closed terminal, or in a pipe that is not read.
void print_error(std::string_view text);

/// The same, but discards the text immediately if it would have to wait.
void print_progress(std::string_view text);

/// Prints to standard output. Waits for its reader, but not for long after an interrupt.
///
/// @return   the error if the text could not be written
std::error_code print(std::string_view text);

}  // namespace dynasoar::program
