/// @file
/// Transport: sends and receives messages between the ranks of a Communicator, without waiting. Implemented with MPI in
/// communicator_mpi.cpp; a rank that is alone needs none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <dynasoar/detail/communicator.h>

namespace dynasoar::detail {

/// A message that a rank sends outside of collective calls: it has waited for some time, it no longer waits (none), it
/// ends the run, or the reason why it will not take part in further calls.
enum class Notice : int { none, waits, ends_run, destroyed, exception, exit };

class Transport {
 public:
  enum class Length { exact, at_most };

  struct Transfer {
    int rank;  ///< the other rank
    int tag;
    std::size_t bytes;
    bool is_received;
    Length length;
  };

  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Both functions begin a transfer. Do not use the memory as long as the transfer is under way. Tags are 0 or more.
  virtual void send(int to, int tag, const char* data, std::size_t bytes) = 0;
  virtual void receive(int from, int tag, char* data, std::size_t bytes, Length length) = 0;

  /// Completes the transfers that can be completed without waiting. @return whether there were any
  virtual bool progress() = 0;
  virtual const std::vector<Transfer>& under_way() const = 0;
  /// Returns the error of a completed transfer, and forgets it; empty if there was none.
  virtual std::string take_error() = 0;

  /// Sends a notice without waiting for any rank.
  virtual void send_notice(int to, Notice notice) = 0;
  /// The result of take_notice(), which returns the next notice that has arrived, and forgets it. The rank is -1 if
  /// there is none.
  struct ArrivedNotice {
    int rank;
    Notice notice;
  };
  virtual ArrivedNotice take_notice() = 0;

  /// Ends the run on all ranks.
  [[noreturn]] virtual void abort() = 0;
};

/// Makes the Transport of a Communicator.
///
/// @param communicator   an MPI_Comm, of `handle_bytes` bytes; if there are 0 bytes, all processes are connected
/// @return   null if this rank is alone
/// @throws CommunicatorError
std::unique_ptr<Transport> connect(const void* communicator, std::size_t handle_bytes,
                                   const CommunicatorOptions& options);

/// Called if an exception is thrown past a Communicator: the process will end with MPI_Abort when it exits.
void remember_exception();

std::string transport_description();
std::string host_name();

/// The environment variable that shows that a launcher has started several processes: "PMI_SIZE=4"; empty if there is
/// none.
std::string launcher_of_several();

}  // namespace dynasoar::detail
