#include "deadline.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <dynasoar/base/number_text.h>
#include "ranks.h"
#include "transport.h"

namespace dynasoar::detail {

Deadline::Deadline(const char* call, double seconds) : thread_([this, call, seconds] { run(call, seconds); }) {}

Deadline::~Deadline() {
  is_over_ = true;
  thread_.join();
}

void Deadline::run(const char* call, double seconds) const {
  Wait waiting(0);
  while (waiting.seconds() <= seconds) {
    if (is_over_) return;
    waiting.pause();
  }
  end_after_waiting(call, seconds);
}

void end_after_waiting(const char* call, double seconds) {
  std::string text = "dynasoar: a process of " + host_name() + " has waited ";
  append_number(text, static_cast<long long>(seconds));
  text += " s in ";
  text += call;
  text += " for other ranks. The run ends.\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace dynasoar::detail
