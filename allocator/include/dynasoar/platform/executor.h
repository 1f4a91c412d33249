/// @file
/// Executor: where parallel work runs, a CUDA stream or a team of host threads.
///
/// Work is ordered as it is submitted. On the GPU a submission returns at once and `synchronize()` waits; on the host a
/// submission returns when the work is done.
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

/// The calling thread's share of `function(begin + i)`, 0 <= i < count.
///
/// The loop counts in 32 bits: in kernels that are short of registers, each word that lives from one turn to the next
/// is written to the L2 cache and read back, by all lanes, and that is what they wait for in the end.
///
/// Warps stay together: all lanes go round equally often and meet after each call, because lanes that went different
/// ways would otherwise stay apart, and so would their memory accesses and their requests to the allocator.
template <class F>
__device__ void for_each_index_of_thread(std::size_t begin, std::uint32_t count, const F& function) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < count; first += stride) {
    if (first + lane < count) function(begin + (first + lane));
    __syncwarp();
  }
}

/// Calls `launch(begin, size)` for the parts of a loop over `count` indices, of which there is seldom more than one.
template <class Launch>
void for_each_part(std::size_t count, const Launch& launch) {
  constexpr std::size_t kLargest = std::size_t{1} << 31;  // with room for the strides of all threads
  for (std::size_t left = count; left > 0;) {
    const std::size_t size = left < kLargest ? left : kLargest;
    launch(count - left, static_cast<std::uint32_t>(size));
    left -= size;
  }
}

/// Waits until the kernel before this one is done. Every kernel does so before it touches memory: Hopper starts its
/// thread blocks while the last ones of the kernel before still run, which hides most of what a launch costs.
__device__ inline void wait_for_turn() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the next kernel be brought in, once all thread blocks of this one have said so. It waits for its turn.
__device__ inline void let_next_in() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// The first thing that kernels do; but see object_kernel.
__device__ inline void take_turns() {
  wait_for_turn();
  let_next_in();
}

/// The second thing that kernels do where DYNASOAR_SPILL_TO_SHARED_MEMORY says so.
__device__ __forceinline__ void spill_to_shared_memory() {
#if defined(__CUDA_ARCH__) && __CUDACC_VER_MAJOR__ >= 13 && DYNASOAR_SPILL_TO_SHARED_MEMORY && !DYNASOAR_CHECKED
  asm volatile(".pragma \"enable_smem_spilling\";");
#endif
}

/// For how many thread blocks of a loop over indices a multiprocessor has room at least: what its function says in
/// `kLeastResident`, which bounds the registers, or 0 for as many as there happen to be.
template <class F>
inline constexpr int kLeastResident = 0;
template <class F>
requires requires {
  F::kLeastResident;
}
inline constexpr int kLeastResident<F> = F::kLeastResident;

// Kernels have internal linkage: without -rdc every translation unit has its own copy of `__constant__` memory, and a
// kernel must be the one of the unit that launches it.
template <class F>
static __global__ void __launch_bounds__(kThreadsPerBlock, kLeastResident<F>)
    index_kernel(std::size_t begin, std::uint32_t count, F function) {
  take_turns();
  for_each_index_of_thread(begin, count, function);
}

/// What launches of one kernel have in common.
struct KernelTraits {
  unsigned threads = 0;      ///< per thread block: what its launch bounds say, or fewer
  unsigned resident = 0;     ///< thread blocks that fill the device once
  bool takes_turns = false;  ///< its code was compiled with take_turns

  template <class... Parameters>
  KernelTraits(void (*kernel)(Parameters...), int multiprocessors)
      : KernelTraits(reinterpret_cast<const void*>(kernel), multiprocessors) {}
  KernelTraits(const void* kernel, int multiprocessors);

  /// The same for `wanted` threads in all: in smaller thread blocks if there were fewer of them than multiprocessors.
  KernelTraits for_threads(std::size_t wanted, int multiprocessors) const;

  /// Thread blocks for `wanted` threads, or as many as fill the device `times` times.
  unsigned grid_for(std::size_t wanted, unsigned times = 1) const;
};

/// Launches a kernel that takes turns. @param arguments   addresses of them
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
/// Whether this process is a child that fork() made of one that uses the device: CUDA does not work here.
bool device_is_out_of_reach() noexcept;

/// @throws Error
[[noreturn]] void refuse_in_child();
#endif

}  // namespace detail

/// What both kinds of Executor have: states in which nothing may be submitted, or nobody may wait for what was
/// submitted, because it is being recorded.
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

  /// @throws Error if nobody may wait, or nothing may be submitted
  void check_may_wait() const {
    check_may_submit();
    if (!may_wait_) refuse_to_wait();
  }

  /// Whether no recorded step, or part of one, is being submitted.
  bool may_wait() const { return may_wait_; }

  /// @throws Error in code that a loop runs, and where a fork has put the device out of reach. The host's functions
  ///         that submit something say it first, so that nothing has changed then
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

/// What the layers above need of an executor; the functions are described below.
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

  /// Makes sure that device functions that call themselves have so much stack per thread. @throws Error if they cannot
  void require_stack(std::size_t bytes);

  /// Waits until everything submitted is done. @throws Error if any of it failed, or a step is being recorded
  void synchronize() {
    check_may_wait();
    wait();
  }

  /// The same for the library itself, which may wait where its user must not. @pre not is_recording()
  void wait();

  /// Sets `bytes` bytes of device memory to `value`.
  void fill_bytes(void* memory, unsigned char value, std::size_t bytes);

  /// Whether what is submitted now is recorded instead of run.
  bool is_recording() const;

  /// The device's name.
  static std::string device_name();

  /// True if the program can run its loops: there is a GPU that its code was compiled for.
  static bool device_available();

  /// Selects a GPU for the calling thread, unless the program has used or selected one. The processes of a host that
  /// run one model pass 0, 1, 2 and so on, and take turns if there are fewer GPUs.
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
  explicit Executor(int threads = 0);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return team_.threads(); }

  /// An upper bound on `PlatformWarp::id()` of work that runs here.
  std::uint32_t concurrent_warps() const { return static_cast<std::uint32_t>(threads()); }

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
  void fill_bytes(void* memory, unsigned char value, std::size_t bytes);

  /// False: what is submitted runs.
  bool is_recording() const { return false; }

  /// The processor's name.
  static std::string device_name();

  /// True: there is always a CPU.
  static bool device_available() { return true; }

  /// Nothing to choose: all processes of a host share its CPU.
  static void choose_device(int) {}

 private:
  /// What for_each_index does, but for the function: code that need not be compiled for each of them.
  /// @param work   called with `function` and the first index and the end of a piece of all indices
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
