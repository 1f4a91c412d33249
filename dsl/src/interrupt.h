/// @file
/// Signals that ask a program to end, such as Ctrl-C: after the first one, the program ends in an orderly way; a later
/// one ends it immediately.
#pragma once

#include <vector>

namespace dynasoar::detail {

/// From now on SIGINT, SIGTERM, SIGHUP, and the signals that batch systems send before they kill a program (SIGXCPU,
/// SIGUSR1, SIGUSR2), only make interrupted() true. Does not change signals that are ignored, as with `nohup`, or that
/// have another handler.
///
/// A second signal ends the program if a second has passed since the first one: `timeout`, and terminals that are
/// closed, send two at a time.
void catch_interrupts();

/// The signals of catch_interrupts() that end the program, because they have no handler and are not ignored.
///
/// @par Usage   A library's function that may install handlers for itself, such as MPI_Init, is called while this
/// lives.
///              The destructor removes these handlers. Otherwise, catch_interrupts() would take them for the program's.
class UnhandledInterrupts {
 public:
  UnhandledInterrupts();
  UnhandledInterrupts(const UnhandledInterrupts&) = delete;
  UnhandledInterrupts& operator=(const UnhandledInterrupts&) = delete;
  ~UnhandledInterrupts();

 private:
  std::vector<int> signals_;
};

/// True once the user has asked the program to end.
bool interrupted();

}  // namespace dynasoar::detail
