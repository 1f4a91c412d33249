// Builds without MPI: a rank is alone.

#include "transport.h"

namespace dynasoar::detail {

std::unique_ptr<Transport> connect(const void*, std::size_t handle_bytes, const CommunicatorOptions&) {
  if (handle_bytes != 0) {
    throw CommunicatorError(
        "dynasoar: a Communicator was given an MPI communicator, but this build of dynasoar has no MPI; configure with "
        "-DDYNASOAR_MPI=ON (Debian, Ubuntu: apt-get install libopenmpi-dev)");
  }
  if (const std::string launcher = launcher_of_several(); !launcher.empty()) {
    throw CommunicatorError(
        "dynasoar: a launcher has started several processes (" + launcher +
        " in the environment), but this build of dynasoar has no MPI, so each would run the whole model. Configure "
        "with -DDYNASOAR_MPI=ON (Debian, Ubuntu: apt-get install libopenmpi-dev), or start one process without the "
        "launcher. If each process is to run a model of its own, remove the variable: env -u NAME program");
  }
  return nullptr;
}

void remember_exception() {}

std::string transport_description() {
  return "no MPI";
}

std::string host_name() {
  return "localhost";
}

}  // namespace dynasoar::detail
