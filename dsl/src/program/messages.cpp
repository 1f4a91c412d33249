#include "messages.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "../interrupt.h"

namespace dynasoar::program {
namespace {

constexpr std::chrono::milliseconds kShortWait{100};
constexpr std::chrono::milliseconds kLongWait{1000};

bool is_silenced = false;

// Writes and removes the beginning of `text`. A pipe that is ready takes PIPE_BUF bytes without waiting.
std::error_code write_part(int descriptor, std::string_view& text, std::chrono::milliseconds patience) {
  pollfd ready{descriptor, POLLOUT, 0};
  const int found = ::poll(&ready, 1, static_cast<int>(patience.count()));
  if (found == 0) return std::make_error_code(std::errc::timed_out);
  const ssize_t written =
      found < 0 ? -1 : ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
  if (written < 0 && errno == EINTR) return {};
  if (written < 0) return {errno, std::generic_category()};
  text.remove_prefix(static_cast<std::size_t>(written));
  return {};
}

std::error_code write_all(int descriptor, std::string_view text, std::chrono::milliseconds patience) {
  while (!text.empty() && !is_silenced) {
    if (const std::error_code error = write_part(descriptor, text, patience)) return error;
  }
  return {};
}

}  // namespace

void protect_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() returns the least free number, which is this one. If there is no /dev/null, a folder serves, because it
    // cannot be written to, either.
    if (::open("/dev/null", O_RDWR) < 0) static_cast<void>(::open("/", O_RDONLY | O_DIRECTORY));
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void silence(bool is_silent) {
  is_silenced = is_silent;
}

void print_error(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text, kLongWait));
}

void print_progress(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text, std::chrono::milliseconds::zero()));
}

std::error_code print(std::string_view text) {
  while (!text.empty() && !is_silenced) {
    const bool is_last_try = detail::interrupted();
    const std::error_code error = write_part(STDOUT_FILENO, text, is_last_try ? kLongWait : kShortWait);
    const bool waits = error == std::errc::timed_out || error == std::errc::resource_unavailable_try_again;
    if (error && !(waits && !is_last_try)) return error;
  }
  return {};
}

}  // namespace dynasoar::program
