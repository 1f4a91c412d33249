/// @file
/// Deadline: a time limit for calls of MPI and NCCL that wait for other ranks and cannot be polled. Used by
/// Communicator and NcclMessages.
#pragma once

#include <atomic>
#include <thread>

namespace dynasoar::detail {

/// Ends this process, with a message, if this object lives longer than `seconds`. The launcher then ends the other
/// ranks.
///
/// @par Usage   Deadline deadline("MPI_Finalize", patience); MPI_Finalize();
class Deadline {
 public:
  /// @param call   a literal, for the message
  Deadline(const char* call, double seconds);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

 private:
  void run(const char* call, double seconds) const;

  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

/// Called when the time is over: prints the message, and ends the process.
[[noreturn]] void end_after_waiting(const char* call, double seconds);

}  // namespace dynasoar::detail
