// The linear and the quadratic workload (listings 2 and 3): each thread allocates n numbers and works with them. Also an
// all-to-all, in which the threads of a block send messages to each other.
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
  float* log = static_cast<float*>(malloc(n * sizeof(float)));  // alone: 'threadIdx.x' in line 36
  if (log == nullptr) return;
  log[n - 1] = results[0];
  results[blockIdx.x] = log[n - 1];
  free(log);
}

// Each thread sends n numbers to every thread of its block.
__global__ void all_to_all(int n, float* results) {
  __shared__ float* sent[1024];
  float* messages = static_cast<float*>(malloc(blockDim.x * n * sizeof(float)));  // collective
  sent[threadIdx.x] = messages;
  const bool all_have_memory = __syncthreads_and(messages != nullptr) != 0;
  if (all_have_memory) {
    for (int i = 0; i < blockDim.x * n; ++i) messages[i] = static_cast<float>(threadIdx.x + i);
  }
  __syncthreads();
  float sum = 0;
  for (int from = 0; all_have_memory && from < blockDim.x; ++from) {
    for (int i = 0; i < n; ++i) sum += sent[from][threadIdx.x * n + i];
  }
  results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  __syncthreads();
  free(messages);
}

using Kernel = void(int, float*);

// Runs a kernel several times, and prints the microseconds of each run and the sum of its results.
void measure(const char* name, Kernel* kernel, int threads, int n, float* on_device) {
  const int kBlocks = 12, kRuns = 9;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::printf("%s, %d threads, %d floats:", name, threads, n);
  for (int run = -1; run < kRuns; ++run) {  // the first run is not counted
    float milliseconds = 0;
    cudaEventRecord(begin);
    kernel<<<kBlocks, threads>>>(n, on_device);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    if (run >= 0) std::printf(" %.2f", 1000 * milliseconds);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  const size_t results_bytes = kBlocks * threads * sizeof(float);
  float* results = static_cast<float*>(std::malloc(results_bytes));
  cudaMemcpy(results, on_device, results_bytes, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < kBlocks * threads; ++i) sum += results[i];
  std::printf(" results %.9g\n", sum);
  std::free(results);
}

int main(int argc, char** argv) {
  const size_t heap_bytes = size_t{256} << 20;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap_bytes);
  float* on_device = nullptr;
  cudaMalloc(&on_device, 12 * 1024 * sizeof(float));
  for (int n = 100; n <= 400; n *= 2) {
    measure("linear", linear, 1024, n, on_device);
    measure("quadratic", quadratic, 1024, n, on_device);
  }
  measure("with_log", with_log, 1024, 100, on_device);
  for (int threads = 32; threads <= 1024; threads *= 2) measure("all_to_all", all_to_all, threads, 1, on_device);
  cudaFree(on_device);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
