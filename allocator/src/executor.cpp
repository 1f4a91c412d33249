#include <dynasoar/platform/executor.h>

#include <algorithm>

#if !DYNASOAR_CUDA_BACKEND
#include <atomic>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>
#if defined(_OPENMP)
#include <omp.h>
#endif
#endif

namespace dynasoar {

void WaitingRule::refuse_to_wait() {
  throw Error(std::string("dynasoar: ") + detail::kNoWaiting);
}

#if DYNASOAR_CUDA_BACKEND

namespace detail {

void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  const bool while_recording = code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
  const bool no_gpu = code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver;
  throw Error(std::string("dynasoar: ") + call + " failed: " + cudaGetErrorName(code) + " (" +
              cudaGetErrorString(code) + ")" + (while_recording ? std::string("; ") + kNoWaiting : "") +
              (no_gpu ? "; to run on the CPU, configure with -DDYNASOAR_CUDA=OFF" : ""));
}

KernelTraits::KernelTraits(const void* kernel, int multiprocessors) {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  threads = static_cast<unsigned>(attributes.maxThreadsPerBlock);
  int per_multiprocessor = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, static_cast<int>(threads), 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  resident = static_cast<unsigned>(std::max(1, per_multiprocessor * multiprocessors));
  takes_turns = attributes.ptxVersion >= 90;
}

KernelTraits KernelTraits::for_threads(std::size_t wanted, int multiprocessors) const {
  const std::size_t share = (wanted - 1) / static_cast<std::size_t>(multiprocessors) + 1;
  KernelTraits result = *this;
  result.threads = static_cast<unsigned>(std::min<std::size_t>(threads, (share + 31) / 32 * 32));
  return result;
}

unsigned KernelTraits::grid_for(std::size_t wanted) const {
  return static_cast<unsigned>(std::min<std::size_t>((wanted + threads - 1) / threads, resident));
}

void launch_kernel(const KernelTraits& traits, const void* kernel, dim3 grid, cudaStream_t stream, void** arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(traits.threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = traits.takes_turns ? 1 : 0;
  check_cuda(cudaLaunchKernelExC(&config, kernel, arguments), "kernel launch");
}

}  // namespace detail

Executor::Executor([[maybe_unused]] int threads) {
  int device = 0;
  detail::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  detail::check_cuda(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
                     "cudaDeviceGetAttribute");
  detail::check_cuda(cudaStreamCreate(&stream_), "cudaStreamCreate");  // ordered with the default stream
}

Executor::~Executor() {
  static_cast<void>(cudaStreamDestroy(stream_));
}

void Executor::require_stack(std::size_t bytes) {
  std::size_t available = 0;
  detail::check_cuda(cudaDeviceGetLimit(&available, cudaLimitStackSize), "cudaDeviceGetLimit");
  if (available < bytes) detail::check_cuda(cudaDeviceSetLimit(cudaLimitStackSize, bytes), "cudaDeviceSetLimit");
}

void Executor::wait() {
  detail::check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void Executor::fill_bytes(void* memory, unsigned char value, std::size_t bytes) {
  if (bytes > 0) detail::check_cuda(cudaMemsetAsync(memory, value, bytes, stream_), "cudaMemsetAsync");
}

bool Executor::is_recording() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  detail::check_cuda(cudaStreamIsCapturing(stream_, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

std::string Executor::device_name() {
  int device = 0;
  cudaDeviceProp properties{};
  detail::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  detail::check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.name;
}

bool Executor::device_available() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  return count > 0;
}

#else

namespace {

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

int default_threads() {
#if defined(_OPENMP) && !defined(DYNASOAR_STD_THREADS)
  return omp_get_max_threads();
#else
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
}

template <class F>
void work_as(int thread, const F& work) {
  const std::uint32_t outer_number = std::exchange(detail::thread_number, static_cast<std::uint32_t>(thread));
  const bool was_in_loop = std::exchange(detail::is_in_loop, true);
  work();
  detail::thread_number = outer_number;
  detail::is_in_loop = was_in_loop;
}

template <class F>
void run_team(int threads, F work) {
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
  const SignalsBlocked blocked;
  for (int i = 0; i < threads; ++i) {
    team.emplace_back([i, &work] { work_as(i, work); });
  }
#endif
}

}  // namespace

Executor::Executor(int threads) : threads_(threads > 0 ? threads : default_threads()) {}

void Executor::fill_bytes(void* memory, unsigned char value, std::size_t bytes) {
  if (bytes > 0) std::memset(memory, value, bytes);
}

std::string Executor::device_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

void Executor::for_each_chunk(std::size_t count, void (*work)(void* function, std::size_t begin, std::size_t end),
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

#endif

}  // namespace dynasoar
