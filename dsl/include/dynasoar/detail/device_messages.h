/// @file
/// DeviceMessages: messages between the memories of ranks' GPUs, in the order of a stream. Implemented with NCCL in
/// dsl/src/distributed/device_messages_nccl.cpp. Used by HaloExchange.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include <dynasoar/detail/communicator.h>

namespace dynasoar::detail {

class DeviceMessages {
 public:
  struct Message {
    int rank;
    char* data;  ///< in the device's memory; null if there is no message
    std::size_t bytes;
  };
  /// Messages to or from the rank before and the rank behind.
  using OfSides = std::array<Message, 2>;

  /// If an exception is being thrown, it does not wait, and ends messages in flight.
  virtual ~DeviceMessages() = default;

  /// Submits messages; the host does not wait. If two ranks are neighbours on both sides, the message that one sends
  /// first is the one that the other receives last.
  /// @param stream   a cudaStream_t, which may record
  /// @throws Error
  virtual void exchange(const OfSides& sent, const OfSides& received, void* stream) = 0;

  // For the thread that watches exchanges.

  /// Whether the host waits for neighbours within exchange(). That wait has a separate time limit.
  virtual bool is_connecting() = 0;

  /// The reason why submitted messages have failed; empty if no failure is known, and after abort().
  virtual std::string failure() = 0;

  /// Ends messages in flight. Messages that are submitted later do nothing. Called once.
  virtual void abort() = 0;
};

/// The reason why this build has no DeviceMessages; empty if it has them.
std::string why_no_device_messages();

/// Connects the devices of all ranks, which must be different ones. Collective.
/// @throws Error on all ranks
std::shared_ptr<DeviceMessages> connect_devices(Communicator& communicator);

}  // namespace dynasoar::detail
