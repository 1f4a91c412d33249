/// @file
/// Binding: makes the state of the only live heap of each allocator type accessible to device code without a parameter.
///
/// A field access has only an object handle, so the heap's address must be global: in `__constant__` memory on the GPU,
/// in a variable on the host. Without `-rdc`, every translation unit has its own `__constant__` memory. Therefore
/// everything that uses it has internal linkage here, and each unit updates its copy before it launches a kernel.
#pragma once

#include <cstdint>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Whether A has a second state, which is bound as the state of `A::More`.
template <class A>
constexpr bool binds_more() {
  if constexpr (requires { A::binds_more(); }) {
    return A::binds_more();
  } else {
    return false;
  }
}

/// The state bound for allocator type A; one per program.
template <class A>
struct Binding {
  using State = typename A::State;
  inline static State state;
  inline static std::uint64_t generation = 0;                  ///< counts changes of `state`
  inline static std::vector<void (*)(const Executor&)> units;  ///< each updates the copy of one translation unit
};

#if DYNASOAR_CUDA_BACKEND

namespace {

template <class A>
__constant__ typename A::State unit_state;

template <class A>
std::uint64_t unit_generation = 0;

template <class A>
void bring_alone_up_to_date(const Executor& executor) {
  if (unit_generation<A> == Binding<A>::generation) return;
  if (unit_generation<A> == 0) Binding<A>::units.push_back(&bring_alone_up_to_date<A>);
  const auto copy = [](cudaStream_t stream) {
    check_cuda(cudaMemcpyToSymbolAsync(unit_state<A>, &Binding<A>::state, sizeof(typename A::State), 0,
                                       cudaMemcpyHostToDevice, stream),
               "cudaMemcpyToSymbolAsync");
  };
  if (executor.is_recording()) {
    // Copy immediately, not with each replay. No running kernel uses the old state, because handles wait for their
    // loops when they are destroyed.
    struct Stream {
      cudaStream_t stream = nullptr;
      ~Stream() { static_cast<void>(cudaStreamDestroy(stream)); }
    } aside;
    check_cuda(cudaStreamCreateWithFlags(&aside.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    copy(aside.stream);
    check_cuda(cudaStreamSynchronize(aside.stream), "cudaStreamSynchronize");
  } else {
    copy(executor.stream());
  }
  unit_generation<A> = Binding<A>::generation;
}

/// Copies the bound state to this unit's constant memory if it has changed. The copy is in stream order or, if the
/// stream is being recorded, immediate.
template <class A>
void bring_up_to_date(const Executor& executor) {
  bring_alone_up_to_date<A>(executor);
  if constexpr (binds_more<A>()) bring_alone_up_to_date<typename A::More>(executor);
}

}  // namespace

/// Updates the copies of all units that have launched a kernel.
template <class A>
void bring_units_up_to_date(const Executor& executor) {
  for (const auto unit : Binding<A>::units) unit(executor);
  if constexpr (binds_more<A>()) bring_units_up_to_date<typename A::More>(executor);
}

/// The bound state. On the host side of a CUDA program its pointers point to device memory.
template <class A>
__host__ __device__ inline const typename A::State& bound_state() {
#if defined(__CUDA_ARCH__)
  return unit_state<A>;
#else
  return Binding<A>::state;
#endif
}

#else

template <class A>
void bring_up_to_date(const Executor&) {}

template <class A>
void bring_units_up_to_date(const Executor&) {}

template <class A>
inline const typename A::State& bound_state() {
  return Binding<A>::state;
}

#endif

}  // namespace dynasoar::detail
