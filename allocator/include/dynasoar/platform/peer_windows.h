/// @file
/// PeerWindows: memory of this process into which loops of neighbouring processes write, and flags for the messages
/// that have arrived. For GPUs that can access each other's memory, and for CPUs in memory that the processes of a host
/// share. Used to exchange ghosts.
///
/// Every exchange has a number, its *epoch*: 1, 2, 3, ... A process has two windows for each neighbour, for even and
/// for odd epochs. In epoch k, each process
///
///   1. writes its message into the neighbour's window for k % 2,
///   2. stores k in the neighbour's flag, which releases what it has written,
///   3. waits, with an acquire, until its own flag is at least k; then the neighbour's message is there.
///
/// What follows in the executor's order reads the message. Two windows are enough, and no message is needed to tell
/// that a window is free: a process writes epoch k + 2 into the window of epoch k only after it has waited for the
/// neighbour's message k + 1, which the neighbour has sent after it had read message k. Each pair of neighbours
/// exchanges messages in both directions, so this holds for both of them. tests/model_checking/spin/peer_windows.pml
/// checks it.
///
/// The epoch is a word on the device, which the loop itself increments, so that an exchange may be recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// A name of this process's device that is the same in all processes: the UUID of the GPU; for a CPU, the host and its
/// /dev/shm.
std::string device_identity();

/// Checks whether loops of this process can write into the memory of a process on the device with this identity.
/// @return the reason why they cannot; empty if they can
std::string why_unreachable(const std::string& identity);

/// The state of the windows for loops.
struct PeerState {
  static constexpr int kAborted = 0, kFailure = 1;  // mailed words

  std::uint64_t* epoch;          ///< of the last exchange
  std::uint64_t* has_failed;     ///< 1: all further exchanges return immediately
  std::uint32_t* finished;       ///< thread blocks that have written their part of the messages
  std::uint64_t* arrived[2];     ///< this process's flags, one for each neighbour; null if there is none
  std::uint64_t* sent[2];        ///< the flags of the neighbours
  volatile std::uint64_t* mail;  ///< in the host's memory
  std::uint64_t patience;        ///< nanoseconds

  /// Tells the neighbours that the messages are there, and waits for theirs. One thread calls it, once everything has
  /// been written.
  __device__ void signal_and_wait(std::uint64_t now) const;
};

/// Stores a flag of another process. A release: a thread that acquires the flag sees all writes of this thread, and all
/// writes that this thread has seen.
__device__ inline void release_flag(std::uint64_t* flag, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
#else
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
#endif
}

__device__ inline std::uint64_t acquire_flag(const std::uint64_t* flag) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
#else
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
#endif
}

#if !DYNASOAR_CUDA_BACKEND
std::uint64_t nanoseconds_now();
void pause_thread();
#endif

/// A clock in nanoseconds.
__device__ inline std::uint64_t clock_now() {
#if defined(__CUDA_ARCH__)
  std::uint64_t time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
#elif !DYNASOAR_CUDA_BACKEND
  return nanoseconds_now();
#else
  return 0;  // not called
#endif
}

__device__ inline void pause_for_a_moment() {
#if defined(__CUDA_ARCH__)
  __nanosleep(40);
#elif !DYNASOAR_CUDA_BACKEND
  pause_thread();
#endif
}

__device__ inline void PeerState::signal_and_wait(std::uint64_t now) const {
  for (std::uint64_t* const flag : sent) {
    if (flag != nullptr) release_flag(flag, now);
  }
  constexpr int kLooksAtOnce = 1000;  // between reads of the clock and of the host's memory, which take longer
  const std::uint64_t begin = clock_now();
  for (int side = 0; side < 2; ++side) {
    if (arrived[side] == nullptr) continue;
    for (int looks = 0; acquire_flag(arrived[side]) < now; ++looks) {
      if (looks < kLooksAtOnce) continue;
      pause_for_a_moment();
      const bool is_aborted = mail[kAborted] != 0;
      if (!is_aborted && clock_now() - begin < patience) continue;
      *has_failed = 1;
      mail[kFailure] = is_aborted ? 3 : static_cast<std::uint64_t>(side) + 1;
      mail_fence();
      return;
    }
  }
  *epoch = now;
}

#if DYNASOAR_CUDA_BACKEND

/// Calls `write(i, epoch % 2)` for 0 <= i < count. The last thread block to finish signals and waits.
template <class F>
static __global__ void __launch_bounds__(kThreadsPerBlock) peer_kernel(std::uint32_t count, F write, PeerState peers) {
  take_turns();
  // All thread blocks see the same values in both, because only the last one changes them, when all others have
  // finished.
  if (*static_cast<volatile std::uint64_t*>(peers.has_failed) != 0) return;
  const std::uint64_t now = *static_cast<volatile std::uint64_t*>(peers.epoch) + 1;
  for_each_index_of_thread(0, count, [&](std::size_t i) { write(i, now % 2); });
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();  // orders the writes of this thread block before the change of `finished` and of the flags
  if (atomicAdd(peers.finished, 1u) + 1 != gridDim.x) return;
  __threadfence_system();
  *peers.finished = 0;
  peers.signal_and_wait(now);
}

#endif

/// The windows of a process, and those of up to two neighbours. Side 0 is the neighbour before this process, side 1 the
/// one behind it; they may be the same process, or this one.
class PeerWindows {
 public:
  /// @param bytes   the size of a message, the same on all processes
  /// @param patience_seconds   the longest time that an exchange waits for a neighbour
  /// @throws Error if there is not enough memory
  PeerWindows(Executor& executor, std::size_t bytes, double patience_seconds);
  PeerWindows(const PeerWindows&) = delete;
  PeerWindows& operator=(const PeerWindows&) = delete;
  /// Does not wait for neighbours. The windows stay until `free_retired`, because neighbours may not have closed them.
  ~PeerWindows();

  /// The name with which other processes open the windows: a fixed number of bytes.
  const std::string& name() const { return name_; }
  static constexpr std::size_t kNameBytes = 64;

  /// Connects a side. @param name   the name of the neighbour's windows; may be that of this process
  /// @throws Error if its memory cannot be opened
  void connect(int side, const std::string& name);

  /// Called once all neighbours have opened the windows, or will not open them.
  void forget_name() noexcept;

  /// Frees windows that were destroyed. @pre those of all neighbours have been destroyed, or are no longer used
  static void free_retired() noexcept;

  /// Loads the code of `exchange`. @throws Error
  template <class F>
  void load() const {
#if DYNASOAR_CUDA_BACKEND
    static_cast<void>(traits<F>());
#endif
  }

  /// Calls `write(i, odd)` for 0 <= i < count, then notifies the neighbours, and waits for their messages. On a GPU
  /// this happens in the executor's order, and the host does not wait. `odd` is 1 in odd epochs.
  template <class F>
  void exchange(std::size_t count, const F& write) {
#if DYNASOAR_CUDA_BACKEND
    const std::size_t threads = count > 0 ? count : 1;
    const KernelTraits sized = traits<F>().for_threads(threads, executor_.multiprocessors());
    launch(sized, peer_kernel<F>, sized.grid_for(threads), executor_.stream(), static_cast<std::uint32_t>(count), write,
           state_);
#else
    if (*state_.has_failed != 0) return;
    const std::uint64_t now = *state_.epoch + 1;
    executor_.for_each_index(count, [&](std::size_t i) { write(i, now % 2); });
    state_.signal_and_wait(now);
#endif
  }

  /// The memory for the message to a side, and the next function for the message from a side, in even epochs. In odd
  /// epochs, they are `stride()` bytes further.
  char* outgoing(int side) const {
    return outgoing_[side];
  }
  char* incoming(int side) const {
    return window(memory_, side);
  }
  std::size_t stride() const {
    return stride_;
  }

  /// The epoch, for loops.
  const std::uint64_t* epoch() const {
    return state_.epoch;
  }

  /// The side of a neighbour that did not arrive in time; -1 if there is none. Submitted exchanges may still change it.
  int missing_side() const;
  bool was_aborted() const {
    return mail_[PeerState::kAborted] != 0;
  }

  /// Lets waiting and later exchanges return soon. No message can be exchanged any more.
  void abort() noexcept {
    mail_.data()[PeerState::kAborted] = 1;
  }

 private:
  static constexpr std::size_t kFlagBytes = 128, kHeadBytes = 4096;

#if DYNASOAR_CUDA_BACKEND
  template <class F>
  const KernelTraits& traits() const {
    static const KernelTraits known(peer_kernel<F>, executor_.multiprocessors());
    return known;
  }
#endif

  char* window(char* memory, int side) const {
    return memory + kHeadBytes + static_cast<std::size_t>(side) * 2 * stride_;
  }
  static std::uint64_t* flag(char* memory, int side) {
    return reinterpret_cast<std::uint64_t*>(memory + static_cast<std::size_t>(side) * kFlagBytes);
  }
  char* opened(const std::string& name);

  Executor& executor_;
  std::size_t stride_, bytes_;
  char* memory_ = nullptr;
  std::string name_;
  std::vector<std::pair<std::string, char*>> opened_;  // of neighbours
  char* outgoing_[2] = {};
  DeviceArray<std::uint64_t> words_;
  MailedWords mail_;
  PeerState state_{};
};

}  // namespace dynasoar::detail
