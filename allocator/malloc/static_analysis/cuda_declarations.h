/// @file
/// The declarations of CUDA with which the tool reads a program, whether or not CUDA is installed. No program includes
/// it.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
enum cudaError { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorNotReady = 600 };
typedef enum cudaError cudaError_t;
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
extern "C" cudaError_t cudaDeviceSynchronize();
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
extern "C" cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
extern "C" cudaError_t cudaFree(void*);
extern "C" cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
extern "C" cudaError_t cudaMemset(void*, int, size_t);
extern "C" cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
template <class T>
cudaError_t cudaMalloc(T**, size_t);
template <class T>
cudaError_t cudaMallocManaged(T**, size_t, unsigned = 1);
template <class T>
cudaError_t cudaMallocHost(T**, size_t, unsigned = 0);
extern "C" cudaError_t cudaFreeHost(void*);

extern "C" cudaError_t cudaGetLastError();
extern "C" cudaError_t cudaPeekAtLastError();
extern "C" const char* cudaGetErrorString(cudaError_t);
extern "C" const char* cudaGetErrorName(cudaError_t);
extern "C" cudaError_t cudaSetDevice(int);
extern "C" cudaError_t cudaGetDevice(int*);
extern "C" cudaError_t cudaGetDeviceCount(int*);
extern "C" cudaError_t cudaDeviceReset();
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
extern "C" cudaError_t cudaDeviceSetLimit(cudaLimit, size_t);
extern "C" cudaError_t cudaDeviceGetLimit(size_t*, cudaLimit);

extern "C" cudaError_t cudaStreamCreate(cudaStream_t*);
extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t);
extern "C" cudaError_t cudaStreamDestroy(cudaStream_t);
extern "C" cudaError_t cudaEventCreate(cudaEvent_t*);
extern "C" cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
extern "C" cudaError_t cudaEventSynchronize(cudaEvent_t);
extern "C" cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
extern "C" cudaError_t cudaEventDestroy(cudaEvent_t);

extern "C" __device__ void* malloc(size_t);
extern "C" __device__ void free(void*);
extern "C" __device__ int printf(const char*, ...);
__device__ void __syncthreads();
__device__ int __syncthreads_count(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int);
__device__ void __syncwarp(unsigned = 0xffffffffu);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ int __all_sync(unsigned, int);
__device__ int __any_sync(unsigned, int);
__device__ unsigned __ballot_sync(unsigned, int);
__device__ unsigned __activemask();
template <class T>
__device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T>
__device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T>
__device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T>
__device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T>
__device__ T __ldg(const T*);
template <class T, class U>
__device__ T atomicAdd(T*, U);
template <class T, class U>
__device__ T atomicSub(T*, U);
template <class T, class U>
__device__ T atomicMin(T*, U);
template <class T, class U>
__device__ T atomicMax(T*, U);
template <class T, class U>
__device__ T atomicExch(T*, U);
template <class T, class U, class V>
__device__ T atomicCAS(T*, U, V);
