/// @file
/// HaloExchange: updates the ghosts of neighbouring ranks. A loop packs the layers next to the rank's borders into
/// messages, a Transport moves them, and a loop unpacks them. Used by DistributedLattice; compiled once for all
/// programs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/detail/attachment.h>
#include <dynasoar/detail/communicator.h>
#include <dynasoar/detail/device_messages.h>
#include <dynasoar/detail/exchange_watch.h>
#include <dynasoar/detail/ghosts.h>
#include <dynasoar/detail/halo_copies.h>
#include <dynasoar/detail/transport.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/host_buffer.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/peer_windows.h>

namespace dynasoar {

namespace detail {

/// The parts of a DistributedHandle and a DistributedLattice that HaloExchange uses.
struct HaloContext {
  Communicator& communicator;
  Executor& executor;
  Attachments& attachments;
  std::function<void(const std::function<void()>&)> on_all;  ///< DistributedHandle::on_all
  /// Functions of the target dynasoar::distributed. Only programs with a HaloContext link them.
  std::string (*why_no_device_messages)();
  std::shared_ptr<DeviceMessages> (*connect_devices)(Communicator&);
};

class HaloExchange final : public Attachment {
 public:
  /// Collective.
  /// @param ghosts     of this lattice; outlive the exchange
  /// @param messages   those of an earlier exchange, or null
  /// @throws Error on all ranks if the transport is impossible
  HaloExchange(const HaloContext& context, const Ghosts& ghosts, Transport wanted,
               std::shared_ptr<DeviceMessages> messages);
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;
  /// Does not wait for other ranks if an exception is being thrown.
  ~HaloExchange();

  Transport transport() const { return transport_; }

  /// Returns the messages, for the exchange that replaces this one. @pre the device is idle, and check_neighbours()
  /// has found nothing
  std::shared_ptr<DeviceMessages> take_messages() {
    watch_.reset();
    return std::move(messages_);
  }

  /// @throws Error if an exchange cannot be submitted now: while a step is recorded, with `staged`
  void check_may_exchange() const;

  /// Updates the ghosts. The host waits only with `staged`, or if ghosts are audited.
  ///
  /// @param audited   number of layers of ghosts, next to the rank's own, that are first compared with the arriving
  ///                  layers
  /// @return          the first difference as a text; empty if there is none
  /// @pre all changes are visible: PlacedClasses::refresh
  std::string exchange(std::size_t audited);

  /// The number of layers of ghosts that are up to date. It is 0 at the beginning and at the end of a recorded step.
  int valid() const { return executor_.may_wait() == is_outside_ ? valid_ : 0; }
  void set_valid(int layers);

  /// @throws CommunicatorError if a neighbour has not arrived in time
  void check_neighbours() const;

  Shortage loops_done() override;
  void step_begins() override { valid_ = 0; }
  void before_replay() override { valid_ = 0; }
  void objects_replaced() override { valid_ = 0; }

 private:
  enum Area { kOutgoing, kIncoming };

  void make_tables();
  void choose(Transport wanted);
  std::string connect(Transport transport);
  std::string shared_device() const;
  std::string why_no_peers() const;
  std::string why_no_nccl() const;
  std::string reason_of_all(const std::string& mine) const;
  std::vector<std::string> of_all(std::string mine, std::size_t bytes) const;
  std::string connect_peers();
  std::string connect_nccl();
  void make_areas();
  std::size_t units() const { return sides_ * pack_.tables.units; }
  bool has_neighbour(std::size_t side) const { return neighbours_[side] >= 0; }
  std::vector<char> received(std::size_t side) const;
  std::string difference(std::size_t audited) const;
  bool is_over() const;

  HaloContext context_;
  Executor& executor_;
  const Ghosts& ghosts_;
  std::array<int, 2> neighbours_;  // ranks before and behind; -1: none
  std::size_t halo_, sides_, bytes_ = 0;
  Transport transport_ = Transport::staged;
  std::vector<std::string> identities_;  // of all ranks' devices

  DeviceArray<HaloClass> classes_;  // beyond HaloTables::kFirst
  DeviceArray<PlaceField> fields_;
  DeviceArray<LatticeShape> shapes_;
  PackHalo pack_{};
  UnpackHalo unpack_{};

  std::optional<PeerWindows> windows_;
  std::shared_ptr<DeviceMessages> messages_;
  std::optional<ExchangeWatch> watch_;  // of messages_
  DeviceMessages::OfSides sent_{}, received_{};
  std::array<DeviceArray<char>, 2> on_device_[2];  // by Area and side
  std::array<HostBuffer, 2> on_host_[2];

  int valid_ = 0;
  bool is_outside_ = true;  // whether `valid_` was set outside of recorded steps
  int exceptions_at_construction_;
};

}  // namespace detail
}  // namespace dynasoar
