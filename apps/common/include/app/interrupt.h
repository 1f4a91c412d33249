/// @file
/// Ctrl-C and SIGTERM: the first asks the program to end in good order, the second ends it.
#pragma once

namespace app {

/// From now on the first SIGINT or SIGTERM only makes interrupted() true.
void catch_interrupts();

/// True once the user has asked the program to end.
bool interrupted();

}  // namespace app
