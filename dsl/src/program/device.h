/// @file
/// The device of parallel loops, for code that is not compiled as CUDA: only device.cpp includes dynasoar.
#pragma once

#include <string>

namespace dynasoar::program {

/// True if the program can run its loops: always on the CPU; on the GPU, if there is one.
bool device_available();

/// True if submitted loops run asynchronously, as on a GPU.
bool device_is_asynchronous();

/// Chooses a GPU for process number `process` of the `processes` processes on this host that run one model.
/// @return   the number of CPU threads for the process
/// @throws std::exception if there is no device
int share_host(int process, int processes);

/// "the GPU NVIDIA H200" or "the CPU AMD EPYC, 2 threads".
///
/// @param threads   on the CPU; 0: one per processor
/// @throws std::exception if there is no device
std::string device_description(int threads);

}  // namespace dynasoar::program
