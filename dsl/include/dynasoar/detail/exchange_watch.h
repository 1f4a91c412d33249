/// @file
/// ExchangeWatch: a thread that ends exchanges for which a neighbour does not come. Used by HaloExchange where the
/// device waits for neighbours without a time limit of its own: with NCCL.
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

/// Loops count the exchanges that have begun and those that have ended; a thread reads that, and aborts the messages
/// if one takes too long or the messages have failed.
///
/// A time in which this process does not run counts at most 0.2 s.
class ExchangeWatch {
 public:
  /// @param messages   that are aborted; outlive this
  ExchangeWatch(DeviceMessages& messages, double patience_seconds);
  ExchangeWatch(const ExchangeWatch&) = delete;
  ExchangeWatch& operator=(const ExchangeWatch&) = delete;
  /// As stop(). Waits for the device, which may wait for neighbours: end the messages first.
  ~ExchangeWatch();

  /// Ends the thread; if it aborts messages now, waits for that.
  void stop();

  /// For the loop in front of an exchange, and for the one behind it.
  ExchangeCount begun() const { return {counts_.data(), mail_.data()}; }
  ExchangeCount ended() const { return {counts_.data() + 1, mail_.data() + 1}; }

  /// What has gone wrong, on any thread.
  enum class End { none, too_late, failed };
  End end() const;

  /// What DeviceMessages::failure() said. @pre end() is `failed`
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
  std::thread thread_;  // the last: it uses all of them
};

}  // namespace dynasoar::detail
