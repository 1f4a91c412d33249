/// @file
/// Transport: the choice of how ghosts are exchanged. Plain C++, for HaloExchange and for programs.
#pragma once

#include <string>

#include <dynasoar/platform/error.h>

namespace dynasoar {

/// The way in which ghosts get from rank to rank.
enum class Transport {
  automatic,  ///< the first of the others that all ranks can use; on a CPU, `staged`
  peer,  ///< loops write into the neighbour's memory: GPUs of one host that reach each other's memory; CPUs of one host
  nccl,  ///< NCCL; every rank needs a GPU of its own
  staged  ///< through the hosts' memory and MPI; always possible, but the host waits in each exchange
};

/// The name of a transport, such as "peer".
inline const char* name_of(Transport transport) {
  switch (transport) {
    case Transport::peer: return "peer";
    case Transport::nccl: return "nccl";
    case Transport::staged: return "staged";
    default: return "automatic";
  }
}

namespace detail {

/// The transport that a program has chosen cannot be used. All ranks throw it.
class TransportError : public Error {
 public:
  TransportError(Transport wanted, const std::string& reason)
      : Error("dynasoar: the ghosts of a DistributedLattice cannot be exchanged with Transport::" +
              std::string(name_of(wanted)) + ": " + reason +
              ". Choose Transport::automatic, which takes what is possible"),
        reason_(reason) {}

  /// "rank 0: loops run on the CPU"
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace detail
}  // namespace dynasoar
