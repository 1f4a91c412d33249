/// @file
/// UsageError: what the user can put right on the command line. Programs print it and exit with kExitUsage. The
/// exit codes.
#pragma once

#include <stdexcept>

namespace dynasoar::program {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitHeapTooSmall = 3;
/// All steps were made, or the run was interrupted, but something that was asked for was not written.
inline constexpr int kExitNotWritten = 4;
/// What shells report for a program that Ctrl-C ended.
inline constexpr int kExitInterrupted = 130;

/// A wrong option or a file that cannot be written; the message is one line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dynasoar::program
