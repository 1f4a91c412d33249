// Builds without NCCL.

#include <dynasoar/detail/device_messages.h>

namespace dynasoar::detail {

std::string why_no_device_messages() {
  return "this build has no NCCL; configure with -DDYNASOAR_NCCL=ON (Debian, Ubuntu: apt-get install libnccl-dev, from "
         "NVIDIA's repository)";
}

std::shared_ptr<DeviceMessages> connect_devices(Communicator&) {
  throw Error("dynasoar: " + why_no_device_messages());
}

}  // namespace dynasoar::detail
