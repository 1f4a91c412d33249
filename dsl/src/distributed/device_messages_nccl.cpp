// All calls of NCCL.

#include <dynasoar/detail/device_messages.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <dynasoar/platform/error.h>
#include <nccl.h>
#include "deadline.h"

namespace dynasoar::detail {
namespace {

std::string text_of(ncclResult_t code, const char* call) {
  return std::string("dynasoar: ") + call + ": " + ncclGetErrorString(code);
}

void check(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw Error(text_of(code, call));
}

/// @par Concurrency   one thread exchanges, and another one may look for failures and abort. Calls that wait for other
///                    ranks on the host have a Deadline; nothing can be aborted before ncclCommInitRank has returned,
///                    or while another thread is in a call of NCCL.
class NcclMessages final : public DeviceMessages {
 public:
  NcclMessages(ncclComm_t communicator, double patience_seconds)
      : communicator_(communicator),
        patience_(patience_seconds),
        exceptions_at_construction_(std::uncaught_exceptions()) {}

  ~NcclMessages() override {
    if (is_aborted_) return;
    if (std::uncaught_exceptions() > exceptions_at_construction_ || has_failed_) {
      end("ncclCommAbort", ncclCommAbort);
    } else {
      end("ncclCommDestroy", ncclCommDestroy);  // waits for the other ranks
    }
  }

  void exchange(const OfSides& sent, const OfSides& received, void* stream) override {
    const std::lock_guard lock(in_use_);
    if (is_aborted_) return;
    // In the first exchange, which connects the ranks, the host waits for its neighbours. In later ones, the device
    // does.
    std::optional<Deadline> deadline;
    if (!is_connected_) deadline.emplace("the first exchange of NCCL", patience_);
    is_connecting_ = !is_connected_;
    has_failed_ = true;  // reset at the end
    auto* const cuda = static_cast<cudaStream_t>(stream);
    check(ncclGroupStart(), "ncclGroupStart");
    ncclResult_t code = ncclSuccess;
    const auto note = [&](ncclResult_t result) {
      if (code == ncclSuccess) code = result;
    };
    for (const Message& message : sent) {
      if (message.data != nullptr)
        note(ncclSend(message.data, message.bytes, ncclChar, message.rank, communicator_, cuda));
    }
    // If both neighbours are the same rank, that rank first sends the message to the rank before it. Seen from here,
    // this message comes from the rank behind, so receive it first.
    for (const int side : {1, 0}) {
      const Message& message = received[static_cast<std::size_t>(side)];
      if (message.data != nullptr)
        note(ncclRecv(message.data, message.bytes, ncclChar, message.rank, communicator_, cuda));
    }
    note(ncclGroupEnd());
    is_connecting_ = false;
    check(code, "an exchange of NCCL");
    has_failed_ = false;
    is_connected_ = true;
  }

  bool is_connecting() override { return is_connecting_; }

  std::string failure() override {
    if (is_aborted_) return "";
    ncclResult_t code = ncclSuccess;
    if (ncclCommGetAsyncError(communicator_, &code) != ncclSuccess || code == ncclSuccess || code == ncclInProgress)
      return "";
    return text_of(code, "an exchange of NCCL");
  }

  // ncclCommAbort makes NCCL's kernels on the device return. It frees the communicator when all steps that were
  // recorded with it have been destroyed. The other thread destroys them once it no longer waits for the device.
  void abort() override {
    {
      // The other thread is in NCCL for a moment only, unless the device's queue is full.
      const std::unique_lock lock(in_use_, std::chrono::seconds(1));
      if (!lock.owns_lock()) end_after_waiting("an exchange of NCCL", patience_);
      is_aborted_ = true;
    }
    end("ncclCommAbort", ncclCommAbort);
  }

 private:
  void end(const char* name, ncclResult_t (*call)(ncclComm_t)) const {
    const Deadline deadline(name, patience_);
    static_cast<void>(call(communicator_));
  }

  ncclComm_t communicator_;
  double patience_;
  int exceptions_at_construction_;
  std::timed_mutex in_use_;  // by exchange()
  std::atomic<bool> is_connecting_{false};
  bool is_aborted_ = false, is_connected_ = false, has_failed_ = false;
};

}  // namespace

std::string why_no_device_messages() {
  return "";
}

std::shared_ptr<DeviceMessages> connect_devices(Communicator& communicator) {
  struct {
    ncclUniqueId id;
    ncclResult_t code;
  } start{};
  if (communicator.rank() == 0) start.code = ncclGetUniqueId(&start.id);
  communicator.broadcast(&start, sizeof start, 0);
  check(start.code, "ncclGetUniqueId");
  ncclComm_t connected = nullptr;
  ncclResult_t code = ncclSuccess;
  {
    const Deadline deadline("ncclCommInitRank", communicator.patience_seconds());
    code = ncclCommInitRank(&connected, communicator.size(), start.id, communicator.rank());
  }
  std::uint64_t worst = static_cast<std::uint64_t>(code);
  communicator.maximum({&worst, 1});
  if (worst != ncclSuccess) {
    if (code == ncclSuccess) static_cast<void>(ncclCommAbort(connected));
    throw Error(text_of(static_cast<ncclResult_t>(worst), "ncclCommInitRank"));
  }
  return std::make_shared<NcclMessages>(connected, communicator.patience_seconds());
}

}  // namespace dynasoar::detail
