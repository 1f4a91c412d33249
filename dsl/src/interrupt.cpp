#include "interrupt.h"

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>

namespace dynasoar::detail {
namespace {

constexpr std::array<int, 6> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};
constexpr long long kSecond = 1'000'000'000;

std::atomic<long long> first_signal{0};  // time of the first signal, in nanoseconds; 0: none yet
static_assert(std::atomic<long long>::is_always_lock_free, "a signal handler must not wait for a lock");

extern "C" void note_signal(int number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long time = now.tv_sec * kSecond + now.tv_nsec + 1;
  long long first = 0;
  if (first_signal.compare_exchange_strong(first, time) || time - first < kSecond) return;
  std::signal(number, SIG_DFL);
  std::raise(number);  // delivered when this function returns
}

bool is_unhandled(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

}  // namespace

UnhandledInterrupts::UnhandledInterrupts() {
  for (const int number : kSignals) {
    if (is_unhandled(number)) signals_.push_back(number);
  }
}

UnhandledInterrupts::~UnhandledInterrupts() {
  for (const int number : signals_) std::signal(number, SIG_DFL);
}

void catch_interrupts() {
  for (const int number : kSignals) {
    if (!is_unhandled(number)) continue;
    struct sigaction action {};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

bool interrupted() {
  return first_signal.load(std::memory_order_relaxed) != 0;
}

}  // namespace dynasoar::detail
