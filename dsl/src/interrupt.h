/// @file
/// Signals that ask a program to end, such as Ctrl-C. After the first signal, the program ends in an orderly way; a
/// later one ends it immediately. Used by run_program and Communicator.
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

/// Remembers which signals of catch_interrupts() have no handler and are not ignored. The destructor removes handlers
/// that have been installed for them since then.
///
/// Keep one while you call a function of a library that may install handlers, such as MPI_Init: catch_interrupts()
/// would take these handlers for the program's, and leave them alone.
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
