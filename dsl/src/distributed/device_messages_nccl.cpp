// All calls of NCCL.

#include <dynasoar/detail/device_messages.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include <dynasoar/platform/error.h>
#include <nccl.h>

namespace dynasoar::detail {
namespace {

std::string text_of(ncclResult_t code, const char* call) {
  return std::string("dynasoar: ") + call + ": " + ncclGetErrorString(code);
}

void check(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw Error(text_of(code, call));
}

class NcclMessages final : public DeviceMessages {
 public:
  explicit NcclMessages(ncclComm_t communicator)
      : communicator_(communicator), exceptions_at_construction_(std::uncaught_exceptions()) {}

  ~NcclMessages() override {
    // ncclCommDestroy waits for the other ranks.
    if (std::uncaught_exceptions() > exceptions_at_construction_ || has_failed_) {
      static_cast<void>(ncclCommAbort(communicator_));
    } else {
      static_cast<void>(ncclCommDestroy(communicator_));
    }
  }

  void exchange(const OfSides& sent, const OfSides& received, void* stream) override {
    has_failed_ = true;  // unless it comes to the end
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
    // If both neighbours are one rank, it sends to the one before it first, which is here the one behind.
    for (const int side : {1, 0}) {
      const Message& message = received[static_cast<std::size_t>(side)];
      if (message.data != nullptr)
        note(ncclRecv(message.data, message.bytes, ncclChar, message.rank, communicator_, cuda));
    }
    note(ncclGroupEnd());
    check(code, "an exchange of NCCL");
    has_failed_ = false;
  }

 private:
  ncclComm_t communicator_;
  int exceptions_at_construction_;
  bool has_failed_ = false;
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
  const ncclResult_t code = ncclCommInitRank(&connected, communicator.size(), start.id, communicator.rank());
  std::uint64_t worst = static_cast<std::uint64_t>(code);
  communicator.maximum({&worst, 1});
  if (worst != ncclSuccess) {
    if (code == ncclSuccess) static_cast<void>(ncclCommAbort(connected));
    throw Error(text_of(static_cast<ncclResult_t>(worst), "ncclCommInitRank"));
  }
  return std::make_shared<NcclMessages>(connected);
}

}  // namespace dynasoar::detail
