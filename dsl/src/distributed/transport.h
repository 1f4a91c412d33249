/// @file
/// Transport: messages between the ranks of a Communicator that are under way. Implemented with MPI in
/// communicator_mpi.cpp; a rank that is alone needs none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <dynasoar/detail/communicator.h>

namespace dynasoar::detail {

/// What a rank tells others outside of calls: that it has waited for some time, that it no longer waits, that it ends
/// the run, or why it will not take part in further calls.
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

  /// Begin a transfer; the memory belongs to it until it is no longer under way. Tags are 0 or more.
  virtual void send(int to, int tag, const char* data, std::size_t bytes) = 0;
  virtual void receive(int from, int tag, char* data, std::size_t bytes, Length length) = 0;

  /// Completes what can be completed now. @return whether there was anything
  virtual bool progress() = 0;
  virtual const std::vector<Transfer>& under_way() const = 0;
  /// What was wrong with a completed transfer, empty if nothing; forgets it.
  virtual std::string take_error() = 0;

  /// Waits for nobody.
  virtual void send_notice(int to, Notice notice) = 0;
  /// The next notice that has arrived, and forgets it; rank -1 if there is none.
  struct ArrivedNotice {
    int rank;
    Notice notice;
  };
  virtual ArrivedNotice take_notice() = 0;

  /// Ends the run on all ranks.
  [[noreturn]] virtual void abort() = 0;
};

/// What a Communicator is made from.
///
/// @param communicator   an MPI_Comm, of `handle_bytes` bytes; for all processes there are 0
/// @return   null if this rank is alone
/// @throws CommunicatorError
std::unique_ptr<Transport> connect(const void* communicator, std::size_t handle_bytes,
                                   const CommunicatorOptions& options);

/// Registers a Communicator's end while an exception is thrown past it: the process ends with MPI_Abort when it exits.
void remember_exception();

std::string transport_description();
std::string host_name();

/// The environment variable by which a launcher says that it has started several processes: "PMI_SIZE=4", empty if
/// there is none.
std::string launcher_of_several();

}  // namespace dynasoar::detail
