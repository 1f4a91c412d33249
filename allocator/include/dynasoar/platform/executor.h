/// @file
/// Executor: runs parallel work, in a CUDA stream or on a team of host threads.
///
/// Work runs in the order in which it is submitted. On the GPU a submission returns immediately and `synchronize()`
/// waits; on the host a submission returns when the work is done.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/thread_team.h>
#include <dynasoar/platform/warp.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

#if DYNASOAR_CUDA_BACKEND

namespace detail {

/// Runs the calling thread's share of `function(begin + i)`, 0 <= i < count.
///
/// The loop counts in 32 bits. In kernels that are short of registers, each word that lives from one iteration to the
/// next is spilled: all lanes write it to the L2 cache, read it back, and wait for it.
///
/// Warps stay converged: all lanes have the same number of iterations and synchronize after each call. Otherwise
/// diverged lanes would stay diverged, and could not combine their memory accesses and their requests to the allocator.
template <class F>
__device__ void for_each_index_of_thread(std::size_t begin, std::uint32_t count, const F& function) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < count; first += stride) {
    if (first + lane < count) function(begin + (first + lane));
    __syncwarp();
  }
}

/// Calls `launch(begin, size)` for the parts of a loop over `count` indices. There is usually only one part.
template <class Launch>
void for_each_part(std::size_t count, const Launch& launch) {
  constexpr std::size_t kLargest = std::size_t{1} << 31;  // leaves room for the strides of all threads
  for (std::size_t left = count; left > 0;) {
    const std::size_t size = left < kLargest ? left : kLargest;
    launch(count - left, static_cast<std::uint32_t>(size));
    left -= size;
  }
}

/// Waits until the previous kernel has ended. Every kernel calls this before it accesses memory: Hopper starts its
/// thread blocks while the last ones of the previous kernel are still running, which hides most of the launch latency.
__device__ inline void wait_for_turn() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the next kernel start, once all thread blocks of this kernel have called this. The next kernel calls
/// wait_for_turn.
__device__ inline void let_next_in() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// The first call in kernels; for an exception, see object_kernel.
__device__ inline void take_turns() {
  wait_for_turn();
  let_next_in();
}

/// The second call in kernels if DYNASOAR_SPILL_TO_SHARED_MEMORY is set.
__device__ __forceinline__ void spill_to_shared_memory() {
#if defined(__CUDA_ARCH__) && __CUDACC_VER_MAJOR__ >= 13 && DYNASOAR_SPILL_TO_SHARED_MEMORY && !DYNASOAR_CHECKED
  asm volatile(".pragma \"enable_smem_spilling\";");
#endif
}

/// The minimum number of thread blocks of a loop over indices per multiprocessor, which limits the registers. A
/// function can set it with `kLeastResident`; 0: no minimum.
template <class F>
inline constexpr int kLeastResident = 0;
template <class F>
requires requires {
  F::kLeastResident;
}
inline constexpr int kLeastResident<F> = F::kLeastResident;

// Kernels have internal linkage. Without -rdc every translation unit has its own copy of `__constant__` memory, so a
// unit must launch its own copy of a kernel.
template <class F>
static __global__ void __launch_bounds__(kThreadsPerBlock, kLeastResident<F>)
    index_kernel(std::size_t begin, std::uint32_t count, F function) {
  take_turns();
  for_each_index_of_thread(begin, count, function);
}

/// Properties of all launches of a kernel.
struct KernelTraits {
  unsigned threads = 0;      ///< per thread block: the number in its launch bounds, or fewer
  unsigned resident = 0;     ///< number of thread blocks that the device holds at a time
  bool takes_turns = false;  ///< whether its code was compiled with take_turns

  template <class... Parameters>
  KernelTraits(void (*kernel)(Parameters...), int multiprocessors)
      : KernelTraits(reinterpret_cast<const void*>(kernel), multiprocessors) {}
  KernelTraits(const void* kernel, int multiprocessors);

  /// The same for `wanted` threads in all. Takes smaller thread blocks if there would be fewer of them than
  /// multiprocessors.
  KernelTraits for_threads(std::size_t wanted, int multiprocessors) const;

  /// The number of thread blocks for `wanted` threads, limited to the number that fills the device `times` times.
  unsigned grid_for(std::size_t wanted, unsigned times = 1) const;
};

/// Launches a kernel that takes turns. @param arguments   addresses of its arguments
void launch_kernel(const KernelTraits& traits, const void* kernel, dim3 grid, cudaStream_t stream, void** arguments);

template <class... Parameters>
void launch(const KernelTraits& traits, void (*kernel)(Parameters...), dim3 grid, cudaStream_t stream,
            const std::type_identity_t<Parameters>&... arguments) {
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  launch_kernel(traits, reinterpret_cast<const void*>(kernel), grid, stream, addresses);
}

}  // namespace detail

#endif

namespace detail {

/// @throws Error
[[noreturn]] void refuse_in_loop();

#if DYNASOAR_CUDA_BACKEND
/// Whether this process is a child of fork(), and its parent uses the device: CUDA does not work here then.
bool device_is_out_of_reach() noexcept;

/// @throws Error
[[noreturn]] void refuse_in_child();
#endif

}  // namespace detail

/// The common base of both kinds of Executor. It knows whether work may be submitted, and whether the host may wait for
/// it, which is not allowed while work is recorded.
class WaitingRule {
 public:
  /// During its lifetime, waiting throws.
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

  /// @throws Error if the host may not wait, or if no work may be submitted
  void check_may_wait() const {
    check_may_submit();
    if (!may_wait_) refuse_to_wait();
  }

  /// Whether no recorded step, or part of one, is being submitted.
  bool may_wait() const { return may_wait_; }

  /// @throws Error in code that a loop runs, and in a child of fork() that cannot use the device. Host functions that
  ///         submit work call this first, so that nothing has changed when it throws
  static void check_may_submit() {
#if DYNASOAR_CUDA_BACKEND
    if (detail::device_is_out_of_reach()) detail::refuse_in_child();
#else
    if (detail::is_in_loop) detail::refuse_in_loop();
#endif
  }

 private:
  [[noreturn]] static void refuse_to_wait();

  bool may_wait_ = true;
};

namespace detail {
/// A loop's function, for LoopExecutor.
struct NoFunction {
  __device__ void operator()(std::size_t) const {}
};
}  // namespace detail

/// The interface of an executor for the layers above; the functions are described below.
template <class E>
concept LoopExecutor = std::derived_from<E, WaitingRule> && std::constructible_from<E, int> &&
    requires(E& executor, const E& constant, std::size_t count, void* memory, unsigned char value) {
  { executor.for_each_index(count, detail::NoFunction{}) } -> std::same_as<void>;
  { executor.fill_bytes(memory, value, count) } -> std::same_as<void>;
  { executor.require_stack(count) } -> std::same_as<void>;
  { executor.synchronize() } -> std::same_as<void>;
  { executor.wait() } -> std::same_as<void>;
  { constant.concurrent_warps() } -> std::same_as<std::uint32_t>;
  { constant.is_recording() } -> std::same_as<bool>;
  { E::device_name() } -> std::same_as<std::string>;
  { E::device_available() } -> std::same_as<bool>;
  { E::choose_device(0) } -> std::same_as<void>;
};

#if DYNASOAR_CUDA_BACKEND

/// A CUDA stream of the current device.
class Executor : public WaitingRule {
 public:
  /// @param threads   ignored: a GPU uses all of its multiprocessors
  /// @throws Error if there is no usable GPU
  explicit Executor(int threads = 0);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

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
    detail::for_each_part(count, [&](std::size_t begin, std::uint32_t size) {
      detail::launch(traits, detail::index_kernel<F>, traits.grid_for(size), stream_, begin, size, function);
    });
  }

  /// Ensures that recursive device functions have `bytes` bytes of stack per thread. @throws Error if this is
  /// impossible
  void require_stack(std::size_t bytes);

  /// Waits for all submitted work. @throws Error if any of it failed, or if a step is being recorded
  void synchronize() {
    check_may_wait();
    wait();
  }

  /// The same for the library itself, which may wait even if its user must not. @pre not is_recording()
  void wait();

  /// Sets `bytes` bytes of device memory to `value`.
  void fill_bytes(void* memory, unsigned char value, std::size_t bytes);

  /// Whether work that is submitted now is recorded instead of run.
  bool is_recording() const;

  /// The device's name.
  static std::string device_name();

  /// True if the program can run its loops: there is a GPU for which its code was compiled.
  static bool device_available();

  /// Selects a GPU for the calling thread, unless the program has used or selected one. The processes of a host that
  /// run one model pass 0, 1, 2 and so on. If there are fewer GPUs, several processes share a GPU.
  static void choose_device(int process);

 private:
  cudaStream_t stream_ = nullptr;
  int multiprocessors_ = 0;
};

#else

/// A team of host threads.
class Executor : public WaitingRule {
 public:
  /// @param threads   size of the team; 0 means one per processor that the caller may run on
  /// @throws Error if `threads` is negative
  explicit Executor(int threads = 0);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return team_.threads(); }

  /// An upper bound on `PlatformWarp::id()` of work that runs here.
  std::uint32_t concurrent_warps() const { return static_cast<std::uint32_t>(threads()); }

  /// Calls `function(i)` for 0 <= i < count, in parallel, in no particular order.
  ///
  /// @throws anything that `function` throws, once all threads have stopped
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

  /// Does nothing: the stack of a thread is large.
  void require_stack(std::size_t) {}

  /// Does not wait: submissions return when the work is done.
  void synchronize() { check_may_wait(); }
  void wait() {}

  /// Sets `bytes` bytes to `value`.
  void fill_bytes(void* memory, unsigned char value, std::size_t bytes);

  /// Always false: submitted work runs.
  bool is_recording() const { return false; }

  /// The processor's name.
  static std::string device_name();

  /// Always true: there is always a CPU.
  static bool device_available() { return true; }

  /// Does nothing: all processes of a host share its CPU.
  static void choose_device(int) {}

 private:
  /// The part of for_each_index that does not depend on the type of the function, so that it is compiled only once.
  /// @param work   called with `function`, and the first index and the end of a piece of all indices
  void for_each_chunk(std::size_t count, void (*work)(void* function, std::size_t begin, std::size_t end),
                      void* function);

  detail::ThreadTeam team_;
};

#endif

static_assert(LoopExecutor<Executor>);

namespace detail {
/// The executor's cudaStream_t, for code that is not compiled with nvcc; null on a CPU.
inline void* stream_of([[maybe_unused]] const Executor& executor) {
#if DYNASOAR_CUDA_BACKEND
  return executor.stream();
#else
  return nullptr;
#endif
}
}  // namespace detail

}  // namespace dynasoar
