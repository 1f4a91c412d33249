// Listing 1 of "Coalescing Memory Allocations for GPU MPI" before it is rewritten, with output.
#include "gpu_mpi.h"

void f() {                          // argument
  void* ptr = malloc(sizeof(int));  // collective
  free(ptr);
}

int main(int argc, char** argv) {
  void* ptr = malloc(8 * sizeof(int));  // collective
  f();                                  // collective
  for (int i = 0; i < 8; ++i) static_cast<int*>(ptr)[i] = 10 * threadIdx.x + i;
  int received[8];
  MPI_Alltoall(ptr, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);  // collective
  std::printf("%d received %d from rank 7\n", threadIdx.x, received[7]);
  free(ptr);
  if (threadIdx.x < 4) {
    void* ptr2 = malloc(sizeof(int));  // alone: 'threadIdx.x' in line 17
    f();                               // alone: 'threadIdx.x' in line 17
    free(ptr2);
  }
  return 0;
}
