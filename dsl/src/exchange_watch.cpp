#include <dynasoar/detail/exchange_watch.h>

#include <algorithm>
#include <chrono>

#include <dynasoar/platform/mail.h>

namespace dynasoar::detail {
namespace {

// The time between two checks, and the maximum that counts as such a time. Because of the maximum, a process that was
// stopped still waits for neighbours when it continues.
constexpr double kSeconds = 0.05, kMostSeconds = 0.2;

}  // namespace

ExchangeWatch::ExchangeWatch(DeviceMessages& messages, double patience_seconds)
    : messages_(messages), patience_(patience_seconds), counts_(2), mail_(2) {
  counts_.fill_bytes(0);
  for (const int i : {0, 1}) mail_.data()[i] = 0;
  thread_ = std::thread([this] { run(); });
}

ExchangeWatch::~ExchangeWatch() {
  stop();
}

void ExchangeWatch::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  stops_.notify_all();
  thread_.join();
}

ExchangeWatch::End ExchangeWatch::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

std::string ExchangeWatch::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ExchangeWatch::run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (stops_.wait_for(lock, std::chrono::duration<double>(kSeconds), [this] { return is_stopped_; })) return;
    }
    const Clock::time_point now = Clock::now();
    if (look(std::min(std::chrono::duration<double>(now - last).count(), kMostSeconds))) break;
    last = now;
  }
  messages_.abort();  // without the lock, because other threads call end() meanwhile
}

// Whether the messages must be aborted. @param seconds   since the last call
bool ExchangeWatch::look(double seconds) {
  const std::string failure = messages_.failure();
  const std::uint64_t ended = mailed(mail_.data() + 1);
  const std::uint64_t begun = mailed(mail_.data());  // read second, so that it is not less than `ended`
  waited_ = begun > ended && ended == seen_ && !messages_.is_connecting() ? waited_ + seconds : 0;
  seen_ = ended;
  if (failure.empty() && waited_ <= patience_) return false;
  const std::lock_guard lock(mutex_);
  end_ = failure.empty() ? End::too_late : End::failed;
  failure_ = failure;
  return true;
}

}  // namespace dynasoar::detail
