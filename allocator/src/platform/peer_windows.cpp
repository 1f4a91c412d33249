#include <dynasoar/platform/peer_windows.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/platform/error.h>
#include <dynasoar/platform/forks.h>

#if !DYNASOAR_CUDA_BACKEND
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#endif

namespace dynasoar::detail {

namespace {

struct Retired {
  char* memory;
  std::size_t bytes;
};

/// Destroyed windows that neighbours may still have open.
std::vector<Retired>& retired() {
  static auto* const all = new std::vector<Retired>;
  return *all;
}

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

#if DYNASOAR_CUDA_BACKEND

constexpr std::size_t kUnit = std::size_t{2} << 20;  // smaller allocations can only be opened together

std::string text_of(const cudaUUID_t& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

std::string identity_of(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return text_of(properties.uuid);
}

int current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

char* make_window(std::size_t bytes, std::string& name) {
  auto* const memory = static_cast<char*>(allocate_device_memory(bytes, 1));
  cudaIpcMemHandle_t handle{};
  static_assert(sizeof handle == PeerWindows::kNameBytes);
  const cudaError_t code = cudaIpcGetMemHandle(&handle, memory);
  if (code != cudaSuccess) free_device_memory(memory);
  check_cuda(code, "cudaIpcGetMemHandle");
  name.assign(reinterpret_cast<const char*>(&handle), sizeof handle);
  return memory;
}

char* open_window(const std::string& name, std::size_t) {
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, name.data(), sizeof handle);
  void* memory = nullptr;
  check_cuda(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
  return static_cast<char*>(memory);
}

void close_window(char* memory, std::size_t) noexcept {
  if (device_is_out_of_reach()) return;
  static_cast<void>(cudaIpcCloseMemHandle(memory));
}

void free_window(const Retired& window) noexcept {
  free_device_memory(window.memory);
}

void remove_name(const std::string&) noexcept {}

#else

constexpr std::size_t kUnit = 4096;

[[noreturn]] void throw_failed(const char* call, const std::string& path) {
  throw Error(std::string("dynasoar: memory that processes share: ") + call + " of " + path + ": " +
              std::strerror(errno));
}

char* map_window(int file, std::size_t bytes, const std::string& path) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) throw_failed("mmap", path);
  return static_cast<char*>(memory);
}

char* make_window(std::size_t bytes, std::string& name) {
  std::string path = "/dev/shm/dynasoar-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) throw_failed("mkstemp", path);
  if (const int error = posix_fallocate(file, 0, static_cast<off_t>(bytes)); error != 0) {  // or writing would be fatal
    close(file);
    unlink(path.c_str());
    errno = error;
    throw_failed("posix_fallocate", path);
  }
  try {
    char* const memory = map_window(file, bytes, path);
    name = path;
    name.resize(PeerWindows::kNameBytes);
    return memory;
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
}

char* open_window(const std::string& name, std::size_t bytes) {
  const int file = open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw_failed("open", name.c_str());
  return map_window(file, bytes, name.c_str());
}

void close_window(char* memory, std::size_t bytes) noexcept {
  munmap(memory, bytes);
}

void free_window(const Retired& window) noexcept {
  munmap(window.memory, window.bytes);
}

void remove_name(const std::string& name) noexcept {
  unlink(name.c_str());
}

#endif

}  // namespace

#if DYNASOAR_CUDA_BACKEND

std::string device_identity() {
  return identity_of(current_device());
}

std::string why_unreachable(const std::string& identity) {
  const int here = current_device();
  if (identity == identity_of(here)) return "both use " + identity;
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  for (int device = 0; device < count; ++device) {
    if (identity_of(device) != identity) continue;
    int can = 0;
    check_cuda(cudaDeviceCanAccessPeer(&can, here, device), "cudaDeviceCanAccessPeer");
    return can != 0 ? "" : identity_of(here) + " cannot access the memory of " + identity;
  }
  return identity + " is on another host, or CUDA_VISIBLE_DEVICES hides it";
}

#else

// Containers on one host may each have a /dev/shm of their own.
std::string device_identity() {
  std::string identity;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> identity;
  struct stat folder {};
  static_cast<void>(stat("/dev/shm", &folder));  // if there is none, make_window fails
  return identity + " " + std::to_string(folder.st_dev) + ":" + std::to_string(folder.st_ino);
}

std::string why_unreachable(const std::string& identity) {
  const std::string here = device_identity();
  return here == identity ? ""
                          : "they do not share /dev/shm, because they are on two hosts or in two containers (" + here +
                                " and " + identity + ")";
}

std::uint64_t nanoseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void pause_thread() {
  std::this_thread::yield();
}

#endif

PeerWindows::PeerWindows(Executor& executor, std::size_t bytes, double patience_seconds)
    : executor_(executor),
      stride_(rounded_up(bytes, 256)),
      bytes_(rounded_up(kHeadBytes + 4 * stride_, kUnit)),
      words_(2 * PeerState::kFlags + 1),
      mail_(2) {
  words_.fill_bytes(0);
  memory_ = make_window(bytes_, name_);
  try {
    executor.fill_bytes(memory_, 0, bytes_);  // so that ghosts have no objects before the first message
    executor.wait();                          // before another process gets the name
  } catch (...) {
    remove_name(name_);
    free_window({memory_, bytes_});
    throw;
  }
  state_.epochs = words_.data();
  state_.has_failed = words_.data() + 2 * PeerState::kFlags;
  state_.mail = mail_.data();
  state_.patience = static_cast<std::uint64_t>(std::min(patience_seconds * 1e9, 1e18));
}

PeerWindows::~PeerWindows() {
  try {
    executor_.wait();
  } catch (...) {
    // The next function that waits reports the error.
  }
  for (const auto& [name, memory] : opened_) close_window(memory, bytes_);
  forget_name();
  retired().push_back({memory_, bytes_});
}

void PeerWindows::connect(int side, const std::string& name) {
  char* const memory = opened(name);
  outgoing_[side] = window(memory, 1 - side);  // to the neighbour before, this process is the one behind it
  state_.sent[side] = flags(memory, 1 - side);
  state_.arrived[side] = flags(memory_, side);
}

char* PeerWindows::opened(const std::string& name) {
  if (name == name_) return memory_;
  for (const auto& [known, memory] : opened_) {
    if (known == name) return memory;
  }
  opened_.emplace_back(name, open_window(name, bytes_));
  return opened_.back().second;
}

void PeerWindows::forget_name() noexcept {
  remove_name(name_);
}

void PeerWindows::free_retired() noexcept {
  for (const Retired& window : retired()) free_window(window);
  retired().clear();
}

int PeerWindows::missing_side() const {
  const std::uint64_t failure = mail_[PeerState::kFailure];
  return failure == 1 || failure == 2 ? static_cast<int>(failure) - 1 : -1;
}

}  // namespace dynasoar::detail
