// The linear and the quadratic workload (listings 2 and 3): each thread allocates n numbers and works with them.
#include <cstdio>
#include <cstdlib>

__device__ float* make_data(int n) {                             // argument
  float* data = static_cast<float*>(malloc(n * sizeof(float)));  // collective
  for (int i = 0; data != nullptr && i < n; ++i) data[i] = static_cast<float>(i);
  return data;
}

__global__ void linear(int n, float* results) {
  float* data = make_data(n);  // collective
  if (data == nullptr) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += data[i];
  data[0] = sum;
  results[blockIdx.x * blockDim.x + threadIdx.x] = data[0];
  free(data);
}

__global__ void quadratic(int n, float* results) {
  float* data = make_data(n);  // collective
  if (data == nullptr) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) sum += data[i] * data[j];
  }
  data[0] = sum;
  results[blockIdx.x * blockDim.x + threadIdx.x] = data[0];
  free(data);
}

// No thread but the first of a block has a log.
__global__ void with_log(int n, float* results) {
  if (threadIdx.x != 0) return;
  float* log = static_cast<float*>(malloc(n * sizeof(float)));  // alone: 'threadIdx.x' in line 35
  if (log == nullptr) return;
  log[n - 1] = results[0];
  results[blockIdx.x] = log[n - 1];
  free(log);
}

int main(int argc, char** argv) {
  const int n = 100, blocks = 12, threads = 1024;
  const size_t results_bytes = blocks * threads * sizeof(float);
  float* on_device = nullptr;
  cudaMalloc(&on_device, results_bytes);
  linear<<<blocks, threads>>>(n, on_device);
  quadratic<<<blocks, threads>>>(n, on_device);
  with_log<<<blocks, threads>>>(n, on_device);
  float* results = static_cast<float*>(std::malloc(results_bytes));
  cudaMemcpy(results, on_device, results_bytes, cudaMemcpyDeviceToHost);
  std::printf("%g\n", results[blocks * threads - 1]);
  std::free(results);
  cudaFree(on_device);
  return 0;
}
