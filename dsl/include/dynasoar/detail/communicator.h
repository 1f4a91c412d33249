/// @file
/// Communicator: the processes (ranks) that run one model together. It offers reductions, messages, and agreement on
/// errors and signals, and limits how long a rank waits for the others. Included by dynasoar/distributed.h; needs the
/// target dynasoar::distributed, but not <mpi.h>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

/// Errors of a Communicator, including wrong calls. The message names the ranks.
class CommunicatorError : public Error {
 public:
  using Error::Error;
};

struct CommunicatorOptions {
  /// The time for which a rank waits for the others before it ends the run on all ranks. Choose more than the longest
  /// time for which one rank computes or writes files while the others wait. Time in which this process does not run,
  /// because it was stopped by Ctrl-Z, does not count.
  double patience_seconds = 300;
  /// Longer messages are sent in pieces of this size. MPI counts bytes with 31 bits. All ranks must choose the same.
  std::size_t piece_bytes = std::size_t{256} << 20;
};

namespace detail {

struct Ranks;

/// Values that a function changes in place: a pointer and a count, an array or a vector.
template <class T>
class Values {
 public:
  Values(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t n>
  Values(T (&values)[n]) : data_(values), size_(n) {}
  template <std::size_t n>
  Values(std::array<T, n>& values) : data_(values.data()), size_(n) {}
  Values(std::vector<T>& values) : data_(values.data()), size_(values.size()) {}

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_;
  std::size_t size_;
};

}  // namespace detail

/// The processes that run one model together. Each has a rank, from 0 to size() - 1.
///
///     dynasoar::Communicator communicator;
///     std::uint64_t agents = count_of_this_rank();
///     communicator.sum({&agents, 1});
///     if (communicator.rank() == 0) std::printf("%llu agents\n", static_cast<unsigned long long>(agents));
///
/// `mpirun -n 4 program` starts four ranks. Without `mpirun`, or in a build without MPI, the program is rank 0 of 1.
///
/// @par Collective calls
/// All member functions are collective unless their comment says otherwise: every rank must call them, in the same
/// order. If a rank calls another function than the others, the run ends with an error.
///
/// @par Failures
/// If a rank is missing in a collective call, the run ends on all ranks with MPI_Abort, and a message names the missing
/// rank. The time until then depends on the reason:
/// - If a rank hangs, is stopped, or was killed and `mpirun` does not notice it: 1.1 times `patience_seconds` plus 2
///   seconds at most, after the first rank begins to wait.
/// - If a rank has destroyed its Communicator, has thrown an exception past it, or has called exit(): 2 seconds at
///   most, after another rank begins to wait for it.
///
/// An exception on one rank should be passed to agree(), so that all ranks can throw it at the same step.
///
/// The destructor does not wait for other ranks. MPI is finalized when the process exits, if the Communicator has
/// initialized it; this waits until all ranks exit, not longer than `patience_seconds`.
///
/// @par Concurrency
/// Only one thread of a process may use its communicators. Several communicators of one process are independent of each
/// other; ranks that belong to both of two communicators must use them in the same order.
///
/// @par Cost
/// Reductions, agree() and check_same() send one message from each rank to rank 0, and the result along a binary tree.
/// They are meant for a few numbers per step.
class Communicator {
 public:
  /// All processes that `mpirun` has started. Initializes MPI unless the program has done so. Collective.
  ///
  /// @throws CommunicatorError if the processes do not find each other, because the launcher belongs to another MPI, or
  ///         this is a build without MPI; if MPI has been finalized; if an option is out of range
  explicit Communicator(const CommunicatorOptions& options = {});

  /// The processes of an MPI communicator of yours; pass the address of an MPI_Comm. It is duplicated, and may be freed
  /// afterwards. Collective among its processes.
  ///
  ///     MPI_Comm half;
  ///     MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  ///     dynasoar::Communicator communicator(&half);
  ///
  /// @throws CommunicatorError as above; if it is MPI_COMM_NULL or an intercommunicator; in a build without MPI
  template <class MpiCommunicator>
  explicit Communicator(const MpiCommunicator* communicator, const CommunicatorOptions& options = {})
      : Communicator(communicator, sizeof(MpiCommunicator), options) {}

  /// Not collective.
  ~Communicator();

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// The number of this process. Not collective.
  int rank() const { return rank_; }
  /// The number of processes. Not collective.
  int size() const { return size_; }
  /// The number of this process among those of the same host, and the number of those. Not collective.
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }
  /// CommunicatorOptions::patience_seconds. Not collective.
  double patience_seconds() const;
  /// "MPI (Open MPI v4.1.4)", or "no MPI". Not collective.
  std::string description() const;

  /// Replaces each value by the sum, the least or the greatest of all ranks' values at this position. All ranks get the
  /// same result: numbers are added in the order of ranks. NaN is neither less nor greater than a number.
  ///
  /// @throws CommunicatorError on all ranks if they pass different numbers of values
  void sum(detail::Values<std::uint64_t> values);
  void sum(detail::Values<double> values);
  void minimum(detail::Values<std::uint64_t> values);
  void minimum(detail::Values<double> values);
  void maximum(detail::Values<std::uint64_t> values);
  void maximum(detail::Values<double> values);

  /// Copies bytes of rank `root` to all ranks.
  ///
  /// @throws CommunicatorError on a rank that passes another number of bytes than the root
  void broadcast(void* data, std::size_t bytes, int root);

  /// Collects bytes of all ranks, of different lengths, on rank `root`.
  ///
  /// @return   on `root` an element for each rank, on other ranks nothing
  std::vector<std::vector<char>> gather(const void* data, std::size_t bytes, int root);

  /// Bytes to or from another rank.
  struct Message {
    int rank;           ///< the other rank; may be this one
    int tag;            ///< from 0 to kGreatestTag; distinguishes messages between the same two ranks
    char* data;         ///< in the host's memory
    std::size_t bytes;  ///< may be 0 or more than 2 GiB
  };
  static constexpr int kGreatestTag = 16383;

  /// Sends and receives messages; returns when all have been sent and received. Called by the ranks that have messages
  /// for each other. Several messages with one tag between two ranks are received in the order of `sent`.
  ///
  /// @pre memory of received messages overlaps no other message
  /// @throws CommunicatorError on the receiving rank if a message has another length than expected, and if a rank or
  ///         tag is out of range
  void exchange(detail::View<Message> sent, detail::View<Message> received);

  /// Waits until all ranks have called it.
  void barrier();

  /// The events since the last step.
  struct Status {
    bool error = false;        ///< an exception, a refusal or misuse
    bool stop = false;         ///< the program wants to end; agree() sets it if a signal has been caught
    bool grow = false;         ///< a heap needs more memory
    std::string message = {};  ///< of the error
    int rank = -1;             ///< result of agree(): the lowest rank with an error
  };

  /// Combines the events of all ranks. All ranks get the same result: whether any rank has an error, wants to stop or
  /// needs to grow, and the message of the lowest rank with an error.
  Status agree(const Status& mine);

  /// Catches the first SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 or SIGUSR2 of this process from now on. The signal
  /// then does not end the process, but makes agree() return `stop` on all ranks. Not collective.
  static void catch_signals();

  /// Checks that all ranks have the same value.
  ///
  /// @param what    what the value is, for the message: "the classes"
  /// @param value   the value, or a text that describes it
  /// @throws CommunicatorError on all ranks if they do not; the message names ranks and values
  void check_same(std::string_view what, std::string_view value);

 private:
  Communicator(const void* communicator, std::size_t handle_bytes, const CommunicatorOptions& options);

  std::unique_ptr<detail::Ranks> ranks_;
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
};

}  // namespace dynasoar
