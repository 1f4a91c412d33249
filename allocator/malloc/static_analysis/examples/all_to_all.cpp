// The All-to-All workload (listing 4): each rank sends each other rank four numbers.
#include "gpu_mpi.h"

int main(int argc, char** argv) {
  const int count = 4;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double* a = (double*)malloc(count * ranks * sizeof(double));  // collective
  double* b = (double*)malloc(count * ranks * sizeof(double));  // collective
  for (int i = 0; i < count * ranks; ++i) a[i] = 1000 * rank + i;
  MPI_Alltoall(a, count, MPI_DOUBLE, b, count, MPI_DOUBLE, MPI_COMM_WORLD);  // collective
  int wrong = 0;
  for (int from = 0; from < ranks; ++from) {
    for (int i = 0; i < count; ++i) wrong += b[from * count + i] != 1000 * from + rank * count + i;
  }
  std::printf("rank %d: %d wrong\n", rank, wrong);
  free(a);
  free(b);
  return 0;
}
