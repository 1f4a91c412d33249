/// @file
/// Signals that ask a program to end, such as Ctrl-C: the first makes it end in good order, a later one ends it at
/// once.
#pragma once

namespace dynasoar::detail {

/// From now on SIGINT, SIGTERM, SIGHUP, and what batch systems send before they kill (SIGXCPU, SIGUSR1, SIGUSR2), only
/// make interrupted() true. Signals that are ignored, as by `nohup`, or that something else handles, are left alone.
///
/// A second signal ends the program if a second has passed since the first one: `timeout`, and terminals that are
/// closed, send two at a time.
void catch_interrupts();

/// True once the user has asked the program to end.
bool interrupted();

}  // namespace dynasoar::detail
