/// @file
/// As much of GPU MPI as the programs here use: each rank is a thread, and all are one block. gpu_mpi.cpp runs them on
/// a CPU.
#pragma once

#include <cstdio>
#include <cstdlib>

struct ThreadIndex {
  int x;
};
extern thread_local ThreadIndex threadIdx;

#define MPI_COMM_WORLD 0
#define MPI_INT 4
#define MPI_DOUBLE 8

int MPI_Comm_rank(int communicator, int* rank);
int MPI_Comm_size(int communicator, int* size);

/// @param coalesce   whether all ranks call it together, with the same counts
int MPI_Alltoall(const void* send, int send_count, int send_type, void* receive, int receive_count, int receive_type,
                 int communicator, bool coalesce = false);

/// For sizes that no analysis knows; adds to a counter that all ranks share.
int next_ticket();
