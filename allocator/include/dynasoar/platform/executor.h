/// @file
/// Executor: where parallel work runs, a CUDA stream or a team of host threads.
///
/// Work is ordered as it is submitted. On the GPU a submission returns at once and `synchronize()` waits; on the host a
/// submission returns when the work is done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/warp.h>

#if !DYNASOAR_CUDA_BACKEND
#include <atomic>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>
#if defined(_OPENMP)
#include <omp.h>
#endif
#endif

namespace dynasoar {

#if DYNASOAR_CUDA_BACKEND

namespace detail {

inline constexpr int kThreadsPerBlock = 256;

/// The calling thread's share of `function(i)`, 0 <= i < count.
///
/// Warps stay together: all lanes go round equally often and meet after each call, because lanes that went different
/// ways would otherwise stay apart, and so would their memory accesses and their requests to the allocator.
template <class F>
__device__ void for_each_index_of_thread(std::size_t count, const F& function) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t lane = threadIdx.x % 32;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x - lane; first < count; first += stride) {
    if (first + lane < count) function(first + lane);
    __syncwarp();
  }
}

/// The first thing every kernel does: waits until the kernel before it is done, and lets the next one be brought in.
///
/// Hopper starts a kernel's thread blocks while the last ones of the kernel before it still run, which hides most of
/// what a launch costs. They must not touch memory before this.
__device__ inline void take_turns() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Kernels have internal linkage: without -rdc every translation unit has its own copy of `__constant__` memory, and a
// kernel must be the one of the unit that launches it.
template <class F>
static __global__ void __launch_bounds__(kThreadsPerBlock) index_kernel(std::size_t count, F function) {
  take_turns();
  for_each_index_of_thread(count, function);
}

/// What launches of one kernel have in common.
struct KernelTraits {
  unsigned threads = 0;      ///< per thread block: what its launch bounds say, or fewer
  unsigned resident = 0;     ///< thread blocks that fill the device once
  bool takes_turns = false;  ///< its code was compiled with take_turns

  template <class Kernel>
  KernelTraits(Kernel kernel, int multiprocessors) {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    threads = static_cast<unsigned>(attributes.maxThreadsPerBlock);
    int per_multiprocessor = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, static_cast<int>(threads), 0),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    resident = static_cast<unsigned>(std::max(1, per_multiprocessor * multiprocessors));
    takes_turns = attributes.ptxVersion >= 90;
  }

  /// The same for `wanted` threads in all: in smaller thread blocks if there were fewer of them than multiprocessors.
  KernelTraits for_threads(std::size_t wanted, int multiprocessors) const {
    const std::size_t share = (wanted - 1) / static_cast<std::size_t>(multiprocessors) + 1;
    KernelTraits result = *this;
    result.threads = static_cast<unsigned>(std::min<std::size_t>(threads, (share + 31) / 32 * 32));
    return result;
  }

  /// Thread blocks for `wanted` threads, or as many as fill the device.
  unsigned grid_for(std::size_t wanted) const {
    return static_cast<unsigned>(std::min<std::size_t>((wanted + threads - 1) / threads, resident));
  }
};

/// Launches a kernel whose first statement is take_turns().
template <class... Parameters, class... Arguments>
void launch(const KernelTraits& traits, void (*kernel)(Parameters...), dim3 grid, cudaStream_t stream,
            const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(traits.threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = traits.takes_turns ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), "kernel launch");
}

}  // namespace detail

#endif

/// What both kinds of Executor have: a state in which nobody may wait for submitted work, because it is being recorded.
class WaitingRule {
 public:
  /// While it lives, waiting throws.
  class Unwaited {
   public:
    explicit Unwaited(WaitingRule& rule) : rule_(rule), before_(std::exchange(rule.may_wait_, false)) {}
    Unwaited(const Unwaited&) = delete;
    Unwaited& operator=(const Unwaited&) = delete;
    ~Unwaited() { rule_.may_wait_ = before_; }

   private:
    WaitingRule& rule_;
    bool before_;
  };

  /// @throws Error if nobody may wait
  void check_may_wait() const {
    if (may_wait_) return;
    throw Error(std::string("dynasoar: ") + detail::kNoWaiting);
  }

 private:
  bool may_wait_ = true;
};

#if DYNASOAR_CUDA_BACKEND

/// A CUDA stream of the current device.
class Executor : public WaitingRule {
 public:
  /// @param threads   ignored: a GPU uses all of its multiprocessors
  /// @throws Error if there is no usable GPU
  explicit Executor([[maybe_unused]] int threads = 0) {
    int device = 0;
    detail::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    detail::check_cuda(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
                       "cudaDeviceGetAttribute");
    detail::check_cuda(cudaStreamCreate(&stream_), "cudaStreamCreate");  // ordered with the default stream
  }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() { static_cast<void>(cudaStreamDestroy(stream_)); }

  cudaStream_t stream() const { return stream_; }
  int multiprocessors() const { return multiprocessors_; }

  /// An upper bound on `PlatformWarp::id()` of work that runs here.
  std::uint32_t concurrent_warps() const { return static_cast<std::uint32_t>(multiprocessors_) * 64; }

  /// Calls `function(i)` for 0 <= i < count, in parallel, in no particular order.
  ///
  /// @param function   a device callable, copied to the device
  /// @throws Error if the launch is refused
  template <class F>
  void for_each_index(std::size_t count, F function) {
    if (count == 0) return;
    static const detail::KernelTraits all_traits(detail::index_kernel<F>, multiprocessors_);
    const detail::KernelTraits traits = all_traits.for_threads(count, multiprocessors_);
    detail::launch(traits, detail::index_kernel<F>, traits.grid_for(count), stream_, count, function);
  }

  /// Makes sure that device functions that call themselves have so much stack per thread. @throws Error if they cannot
  void require_stack(std::size_t bytes) {
    std::size_t available = 0;
    detail::check_cuda(cudaDeviceGetLimit(&available, cudaLimitStackSize), "cudaDeviceGetLimit");
    if (available < bytes) detail::check_cuda(cudaDeviceSetLimit(cudaLimitStackSize, bytes), "cudaDeviceSetLimit");
  }

  /// Waits until everything submitted is done. @throws Error if any of it failed, or a step is being recorded
  void synchronize() {
    check_may_wait();
    wait();
  }

  /// The same for the library itself, which may wait where its user must not. @pre not is_recording()
  void wait() { detail::check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// Sets `bytes` bytes of device memory to `value`.
  void fill_bytes(void* memory, unsigned char value, std::size_t bytes) {
    if (bytes > 0) detail::check_cuda(cudaMemsetAsync(memory, value, bytes, stream_), "cudaMemsetAsync");
  }

  /// Whether what is submitted now is recorded instead of run.
  bool is_recording() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    detail::check_cuda(cudaStreamIsCapturing(stream_, &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }

  /// The device's name.
  static std::string device_name() {
    int device = 0;
    cudaDeviceProp properties{};
    detail::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    detail::check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return properties.name;
  }

  /// True if the program can run its loops: there is a GPU that its code was compiled for.
  static bool device_available() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return false;
    }
    return count > 0;
  }

 private:
  cudaStream_t stream_ = nullptr;
  int multiprocessors_ = 0;
};

#else

namespace detail {

/// Blocks the signals of the calling thread, and of threads that it creates meanwhile, but those that a thread brings
/// upon itself, whose handlers report faults, and a profiler's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
      sigdelset(&blocked, signal);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace detail

/// A team of host threads: OpenMP's, or plain threads where `DYNASOAR_STD_THREADS` is defined (ThreadSanitizer does not
/// understand g++'s OpenMP runtime and would report races that are none).
class Executor : public WaitingRule {
 public:
  /// @param threads   size of the team; 0 means one per processor
  explicit Executor(int threads = 0) : threads_(threads > 0 ? threads : default_threads()) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return threads_; }

  /// An upper bound on `PlatformWarp::id()` of work that runs here.
  std::uint32_t concurrent_warps() const { return static_cast<std::uint32_t>(threads_); }

  /// Calls `function(i)` for 0 <= i < count, in parallel, in no particular order.
  ///
  /// @throws whatever `function` throws, once all threads have stopped
  template <class F>
  void for_each_index(std::size_t count, F function) {
    for_each_chunk(
        count,
        [](void* f, std::size_t begin, std::size_t end) {
          F& function = *static_cast<F*>(f);
          for (std::size_t i = begin; i < end; ++i) function(i);
        },
        &function);
  }

  /// Nothing to do: a thread's stack is large.
  void require_stack(std::size_t) {}

  /// Nothing to wait for: submissions return when they are done.
  void synchronize() { check_may_wait(); }
  void wait() {}

  /// Sets `bytes` bytes to `value`.
  void fill_bytes(void* memory, unsigned char value, std::size_t bytes) {
    if (bytes > 0) std::memset(memory, value, bytes);
  }

  /// False: what is submitted runs.
  bool is_recording() const { return false; }

  /// The processor's name.
  static std::string device_name() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);) {
      if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "CPU";
  }

  /// True: there is always a CPU.
  static bool device_available() { return true; }

 private:
  static int default_threads() {
#if defined(_OPENMP) && !defined(DYNASOAR_STD_THREADS)
    return omp_get_max_threads();
#else
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
  }

  /// What for_each_index does, but for the function: code that need not be compiled for each of them.
  /// @param work   called with `function` and the first index and the end of a piece of all indices
  void for_each_chunk(std::size_t count, void (*work)(void* function, std::size_t begin, std::size_t end),
                      void* function) {
    // Chunks are handed out in order: long enough to be cheap, short enough to balance uneven work.
    const std::size_t chunk =
        std::clamp<std::size_t>(count / (static_cast<std::size_t>(threads_) * 8), 1, std::size_t{4096});
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    run_team(count <= chunk ? 1 : threads_, [&] {
      try {
        for (std::size_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < count;) {
          work(function, begin, std::min(count, begin + chunk));
        }
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next.store(count, std::memory_order_relaxed);
      }
    });
    if (failure) std::rethrow_exception(failure);
  }

  template <class F>
  static void run_team(int threads, F work) {
    if (threads == 1) {
      work_as(0, work);
      return;
    }
#if defined(_OPENMP) && !defined(DYNASOAR_STD_THREADS)
#pragma omp parallel num_threads(threads)
    work_as(omp_get_thread_num(), work);
#else
    // Signals are left to the application's threads: ThreadSanitizer puts a signal off until the thread that takes it
    // next calls the C library, and one of these may end before and the signal with it.
    std::vector<std::jthread> team;
    const detail::SignalsBlocked blocked;
    for (int i = 0; i < threads; ++i) {
      team.emplace_back([i, &work] { work_as(i, work); });
    }
#endif
  }

  template <class F>
  static void work_as(int thread, const F& work) {
    const std::uint32_t outer_number = std::exchange(detail::thread_number, static_cast<std::uint32_t>(thread));
    const bool was_in_loop = std::exchange(detail::is_in_loop, true);
    work();
    detail::thread_number = outer_number;
    detail::is_in_loop = was_in_loop;
  }

  int threads_;
};

#endif

}  // namespace dynasoar
