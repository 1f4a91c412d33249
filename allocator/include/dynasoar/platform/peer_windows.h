/// @file
/// PeerWindows: memory of this process into which loops of neighbouring processes write messages, and flags that say
/// which messages have arrived. For GPUs that can access each other's memory, and for processes of one host that share
/// memory. Used to exchange ghosts.
///
/// Every exchange has a number, its *epoch*: 1, 2, 3, ... A process has two windows for each neighbour, for even and
/// for odd epochs. In epoch k, each process
///
///   1. writes its message into the neighbour's window for k % 2,
///   2. stores k in the neighbour's flags, which releases what it has written,
///   3. waits, with an acquire, until its own flags are at least k; then the neighbour's message is there,
///   4. reads the message.
///
/// Two windows are enough, and no process has to report that a window is free. A process writes message k + 2 into the
/// window of message k. Before that, it has waited for the neighbour's message k + 1, and the neighbour has sent
/// message k + 1 after it had read message k. Each pair of neighbours exchanges messages in both directions, so this
/// holds for both of them. tests/model_checking/spin/peer_windows.pml checks it.
///
/// On a GPU, all of this is one kernel. A thread block writes a part of a message, stores its own flags, and waits for
/// all flags of this side, so for all thread blocks of the neighbour. Therefore all thread blocks must run at the same
/// time, and there are at most as many as the device can hold. Epochs are words on the device, one for each thread
/// block, which the kernel itself increments, so that an exchange may be recorded.
#pragma once

#include <algorithm>
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
  static constexpr unsigned kFlags = 128;           // of a side: the maximum number of thread blocks that write to it

  std::uint64_t* epochs;         ///< of the last exchange, one for each thread block
  std::uint64_t* has_failed;     ///< 1: all further exchanges return immediately
  std::uint64_t* arrived[2];     ///< this process's flags, for each neighbour; null if there is none
  std::uint64_t* sent[2];        ///< the flags of the neighbours
  volatile std::uint64_t* mail;  ///< in the host's memory
  std::uint64_t patience;        ///< nanoseconds

  /// Waits until a flag of this process is at least `now`.
  /// @param looks_out   whether to read the clock and the host's memory. If false, another thread that waits for the
  ///                    same flag does so
  /// @param begin       the time when the first wait began; 0 if this is the first wait
  /// @return whether the flag reached `now` in time, and no exchange has failed or been aborted
  __device__ bool wait_for(int side, unsigned flag, std::uint64_t now, bool looks_out, std::uint64_t& begin) const;
};

/// Stores a flag of another process. @pre fence_before_flags was called: a thread that acquires the flag then sees all
/// writes before that fence, by this thread and by threads with which it had synchronized
__device__ inline void store_flag(std::uint64_t* flag, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
#else
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);  // ThreadSanitizer does not know fences
#endif
}

__device__ inline void fence_before_flags() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
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

__device__ inline bool PeerState::wait_for(int side, unsigned flag, std::uint64_t now, bool looks_out,
                                           std::uint64_t& begin) const {
  constexpr int kLooksAtOnce = 1000;  // before it pauses, and reads the clock and the host's memory, which take longer
  for (int looks = 0; acquire_flag(arrived[side] + flag) < now; ++looks) {
    if (looks < kLooksAtOnce) continue;
    if (begin == 0) begin = clock_now();
    pause_for_a_moment();
    if (*static_cast<volatile std::uint64_t*>(has_failed) != 0) return false;
    if (!looks_out) continue;
    const bool is_aborted = mail[kAborted] != 0;
    if (!is_aborted && clock_now() - begin < patience) continue;
    *static_cast<volatile std::uint64_t*>(has_failed) = 1;
    mail[kFailure] = is_aborted ? 3 : static_cast<std::uint64_t>(side) + 1;
    mail_fence();
    return false;
  }
  return true;
}

#if DYNASOAR_CUDA_BACKEND

/// An exchange. `blockIdx.y` counts the sides that have a neighbour.
template <class Write, class Read>
static __global__ void __launch_bounds__(kThreadsPerBlock)
    peer_kernel(std::uint32_t count, bool reads, Write write, Read read, PeerState peers) {
  take_turns();
  const int side = peers.arrived[0] == nullptr ? 1 : static_cast<int>(blockIdx.y);
  std::uint64_t* const epoch = peers.epochs + blockIdx.y * gridDim.x + blockIdx.x;
  const std::uint64_t now = *static_cast<volatile std::uint64_t*>(epoch) + 1;
  // All threads of the block take the same branch, even if another thread block fails at this moment.
  if (__syncthreads_or(*static_cast<volatile std::uint64_t*>(peers.has_failed) != 0)) return;
  const std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  for (std::uint32_t i = first; i < count; i += stride) write(side, i, now % 2);
  __syncthreads();
  if (threadIdx.x < 32) {
    fence_before_flags();
    for (unsigned flag = blockIdx.x + threadIdx.x * gridDim.x; flag < PeerState::kFlags; flag += 32 * gridDim.x) {
      store_flag(peers.sent[side] + flag, now);
    }
  }
  bool has_arrived = true;
  std::uint64_t begin = 0;
  for (unsigned flag = threadIdx.x; flag < PeerState::kFlags; flag += blockDim.x) {
    has_arrived = has_arrived && peers.wait_for(side, flag, now, blockIdx.x == 0, begin);
  }
  if (!__syncthreads_and(has_arrived)) return;
  if (threadIdx.x == 0) *epoch = now;
  if (!reads) return;
  for (std::uint32_t i = first; i < count; i += stride) read(side, i, now % 2);
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
  template <class Write, class Read>
  void load() const {
#if DYNASOAR_CUDA_BACKEND
    static_cast<void>(traits<Write, Read>());
#endif
  }

  /// Calls `write(side, i, odd)` for each side with a neighbour and 0 <= i < count, notifies the neighbours, waits for
  /// their messages, and calls `read(side, i, odd)` in the same way. On a GPU this happens in the executor's order, and
  /// the host does not wait. `odd` is 1 in odd epochs.
  ///
  /// @pre count is the same in all exchanges
  /// @param reads   false: it does not call `read`; work that follows in the executor's order may read the messages
  template <class Write, class Read>
  void exchange(std::size_t count, const Write& write, const Read& read, bool reads) {
    const std::size_t sides = (state_.arrived[0] != nullptr ? 1u : 0u) + (state_.arrived[1] != nullptr ? 1u : 0u);
#if DYNASOAR_CUDA_BACKEND
    const std::size_t threads = std::max<std::size_t>(count, 1);
    KernelTraits sized = traits<Write, Read>().for_threads(threads * sides, executor_.multiprocessors());
    static_assert(PeerState::kFlags <= kThreadsPerBlock);
    sized.threads = std::max(sized.threads, PeerState::kFlags);  // so that a thread waits for one flag at most
    const std::size_t most = std::min<std::size_t>(PeerState::kFlags, sized.resident / sides);
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>((threads - 1) / sized.threads + 1, most));
    launch(sized, peer_kernel<Write, Read>, dim3(blocks, static_cast<unsigned>(sides)), executor_.stream(),
           static_cast<std::uint32_t>(count), reads, write, read, state_);
#else
    if (*state_.has_failed != 0) return;
    const std::uint64_t now = *state_.epochs + 1;
    const int first = state_.arrived[0] != nullptr ? 0 : 1;
    const auto for_all = [&](const auto& function) {
      executor_.for_each_index(
          count * sides, [&](std::size_t i) { function(first + static_cast<int>(i / count), i % count, now % 2); });
    };
    for_all(write);
    for (int side = first; side < first + static_cast<int>(sides); ++side) store_flag(state_.sent[side], now);
    std::uint64_t begin = 0;
    for (int side = first; side < first + static_cast<int>(sides); ++side) {
      if (!state_.wait_for(side, 0, now, true, begin)) return;
    }
    *state_.epochs = now;
    if (reads) for_all(read);
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

  /// The epoch, for loops that follow an exchange.
  const std::uint64_t* epoch() const {
    return state_.epochs;
  }

  /// The side of a neighbour that did not arrive in time; -1 if there is none. Submitted exchanges may still change it.
  int missing_side() const;

  /// Lets waiting and later exchanges return soon. No message can be exchanged any more.
  void abort() noexcept {
    mail_.data()[PeerState::kAborted] = 1;
  }

 private:
  static constexpr std::size_t kFlagBytes = PeerState::kFlags * sizeof(std::uint64_t), kHeadBytes = 4096;
  static_assert(2 * kFlagBytes <= kHeadBytes);

#if DYNASOAR_CUDA_BACKEND
  template <class Write, class Read>
  const KernelTraits& traits() const {
    static const KernelTraits known(peer_kernel<Write, Read>, executor_.multiprocessors());
    return known;
  }
#endif

  char* window(char* memory, int side) const {
    return memory + kHeadBytes + static_cast<std::size_t>(side) * 2 * stride_;
  }
  static std::uint64_t* flags(char* memory, int side) {
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
