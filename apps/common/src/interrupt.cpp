#include <app/interrupt.h>

#include <csignal>

namespace app {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

extern "C" void note_signal(int) {
  signal_seen = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  // One shot each: the second signal of a kind finds the default action, which kills.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return signal_seen != 0;
}

}  // namespace app
