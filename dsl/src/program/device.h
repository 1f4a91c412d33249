/// @file
/// Where parallel loops run, for programs that are not compiled as CUDA themselves: only device.cpp includes dynasoar.
#pragma once

#include <string>

namespace dynasoar::program {

/// True if the program can run its loops: on the CPU always, on the GPU if there is one.
bool device_available();

/// True if submitted loops run while the host goes on, as on a GPU.
bool device_is_asynchronous();

/// For one of `processes` processes of this host that run one model: chooses a GPU for it.
/// @return   threads that it may use on the CPU
/// @throws std::exception if there is no device
int share_host(int process, int processes);

/// "the GPU NVIDIA H200" or "the CPU AMD EPYC, 2 threads".
///
/// @param threads   on the CPU; 0: one per processor
/// @throws std::exception if there is no device
std::string device_description(int threads);

}  // namespace dynasoar::program
