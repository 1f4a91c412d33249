/// @file
/// ExchangeWatch: a thread that ends exchanges for which a neighbour is missing. Used by HaloExchange with NCCL,
/// because the device then waits for neighbours without a time limit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include <dynasoar/detail/device_messages.h>
#include <dynasoar/detail/halo_copies.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Loops count the exchanges that have begun and those that have ended. A thread reads these counts, and aborts the
/// messages if an exchange takes too long or the messages have failed.
///
/// If the process was stopped for some time, this time counts as 0.2 s at most.
class ExchangeWatch {
 public:
  /// @param messages   the messages to abort; must outlive this object
  ExchangeWatch(DeviceMessages& messages, double patience_seconds);
  ExchangeWatch(const ExchangeWatch&) = delete;
  ExchangeWatch& operator=(const ExchangeWatch&) = delete;
  /// Calls stop(), and frees memory, which waits for the device. The device may be waiting for neighbours, so end the
  /// messages first.
  ~ExchangeWatch();

  /// Ends the thread. If the thread is aborting messages, waits until it has done so.
  void stop();

  /// For the loop in front of an exchange, and for the one behind it.
  ExchangeCount begun() const { return {counts_.data(), mail_.data()}; }
  ExchangeCount ended() const { return {counts_.data() + 1, mail_.data() + 1}; }

  /// The reason why the thread has ended the exchanges; may be called on any thread.
  enum class End { none, too_late, failed };
  End end() const;

  /// The result of DeviceMessages::failure(). @pre end() is `failed`
  std::string failure() const;

 private:
  void run();
  bool look(double seconds);

  DeviceMessages& messages_;
  double patience_, waited_ = 0;
  std::uint64_t seen_ = 0;  // exchanges that had ended when the thread looked last
  DeviceArray<std::uint64_t> counts_;
  MailedWords mail_;
  mutable std::mutex mutex_;
  std::condition_variable stops_;
  bool is_stopped_ = false;
  End end_ = End::none;
  std::string failure_;
  std::thread thread_;  // the last member, because it uses all others
};

}  // namespace dynasoar::detail
