#include <dynasoar/platform/executor.h>

#include <algorithm>

#include <dynasoar/platform/forks.h>

#if DYNASOAR_CUDA_BACKEND
#include <cuda.h>
#else
#include <atomic>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>

#include <dynasoar/platform/error.h>
#include <dynasoar/platform/host_threads.h>
#endif

namespace dynasoar {

namespace detail {

void refuse_in_loop() {
  throw Error(
      "dynasoar: code that a loop runs called a function of the host (a function of AllocatorHandle, UniformGrid, "
      "Step, "
      "Executor or DeviceArray). In a loop, use make_new, make_new_n, destroy and device_do; call the handle between "
      "loops");
}

}  // namespace detail

void WaitingRule::refuse_to_wait() {
  throw Error(std::string("dynasoar: ") + detail::kNoWaiting);
}

#if DYNASOAR_CUDA_BACKEND

namespace detail {

void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  // Clear the error if possible, because the exception carries it. Otherwise the next caller that checks for errors,
  // such as CUB, would take it for an error of its own, and CUB never forgets it.
  static_cast<void>(cudaGetLastError());
  const bool while_recording = code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
  const bool no_gpu = code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver;
  throw Error(std::string("dynasoar: ") + call + " failed: " + cudaGetErrorName(code) + " (" +
              cudaGetErrorString(code) + ")" + (while_recording ? std::string("; ") + kNoWaiting : "") +
              (no_gpu ? "; to run on the CPU, configure with -DDYNASOAR_CUDA=OFF" : "") +
              (device_is_out_of_reach() ? std::string("; ") + kInChild : ""));
}

bool device_is_out_of_reach() noexcept {
  static const std::uint64_t at_first_use = forks_so_far();  // the first Executor's
  return forks_so_far() != at_first_use;
}

void refuse_in_child() {
  throw Error(std::string("dynasoar: ") + kInChild);
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

unsigned KernelTraits::grid_for(std::size_t wanted, unsigned times) const {
  const std::size_t needed = wanted / threads + (wanted % threads == 0 ? 0 : 1);
  return static_cast<unsigned>(std::min<std::size_t>(needed, std::size_t{resident} * times));
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
  check_may_submit();
  int device = 0;
  detail::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  detail::check_cuda(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
                     "cudaDeviceGetAttribute");
  detail::check_cuda(cudaStreamCreate(&stream_), "cudaStreamCreate");  // ordered with the default stream
}

Executor::~Executor() {
  if (detail::device_is_out_of_reach()) return;
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

void Executor::choose_device(int process) {
  int count = 0, current = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2 || cudaGetDevice(&current) != cudaSuccess ||
      current != 0) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  // If the program has selected the first GPU, it is already in use.
  void* call = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  detail::check_cuda(
      cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &call, 7000, cudaEnableDefault, &found),
      "cudaGetDriverEntryPointByVersion");
#else
  detail::check_cuda(cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", &call, cudaEnableDefault, &found),
                     "cudaGetDriverEntryPoint");
#endif
  if (found != cudaDriverEntryPointSuccess) return;
  unsigned flags = 0;
  int is_active = 0;
  const auto state = reinterpret_cast<CUresult (*)(CUdevice, unsigned*, int*)>(call);
  if (state(0, &flags, &is_active) != CUDA_SUCCESS || is_active != 0) return;
  detail::check_cuda(cudaSetDevice(process % count), "cudaSetDevice");
}

#else

namespace {

/// Distributes the indices of a loop in order, in chunks. Chunks are long enough for little overhead, and short enough
/// to balance uneven work.
class Chunks {
 public:
  Chunks(std::size_t count, int threads)
      : count_(count), size_(std::clamp<std::size_t>(count / (static_cast<std::size_t>(threads) * 8), 1, 4096)) {}

  std::size_t size() const { return size_; }

  /// The next chunk. @return whether there is one
  bool take(std::size_t& begin, std::size_t& end) {
    begin = next_.load(std::memory_order_relaxed);
    do {
      if (begin == count_) return false;
      end = begin + std::min(size_, count_ - begin);
    } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    return true;
  }

  /// Discards all remaining chunks.
  void drop() { next_.store(count_, std::memory_order_relaxed); }

 private:
  std::size_t count_;
  std::size_t size_;
  std::atomic<std::size_t> next_{0};
};

/// Runs `work()` as a thread of a loop.
template <class F>
void work_as(int thread, const F& work) {
  detail::thread_number = static_cast<std::uint32_t>(thread);
  detail::is_in_loop = true;
  work();
  detail::is_in_loop = false;
  detail::thread_number = 0;
}

int checked_threads(int threads) {
  if (threads >= 0) return threads > 0 ? threads : detail::usable_processors();
  throw Error("dynasoar: a program cannot have " + std::to_string(threads) +
              " threads; leave the number of threads out, or pass 0, for one per processor");
}

}  // namespace

Executor::Executor(int threads) : team_(checked_threads(threads)) {}

void Executor::fill_bytes(void* memory, unsigned char value, std::size_t bytes) {
  check_may_submit();
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
  check_may_submit();
  Chunks chunks(count, threads());
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto take_part = [&] {
    try {
      for (std::size_t begin = 0, end = 0; chunks.take(begin, end);) work(function, begin, end);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      chunks.drop();
    }
  };
  if (count <= chunks.size() || threads() == 1) {
    work_as(0, take_part);
  } else {
    team_.run([](void* part, int thread) { work_as(thread, *static_cast<decltype(take_part)*>(part)); }, &take_part);
  }
  if (failure) std::rethrow_exception(failure);
}

#endif

}  // namespace dynasoar
