#include <dynasoar/platform/thread_team.h>

#if !DYNASOAR_CUDA_BACKEND

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include <dynasoar/platform/error.h>
#include <dynasoar/platform/forks.h>
#include <dynasoar/platform/host_threads.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

using Word = std::atomic<std::uint32_t>;  // 4 bytes, the size for which Linux can wait

/// Blocks signals in the calling thread, and in threads that it creates meanwhile, so that the application's threads
/// get them. Does not block signals that a thread causes itself, because their handlers report faults, and those of a
/// profiler.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
      sigdelset(&blocked, signal);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Leaves the units of the processor core to its other hardware thread for a moment.
void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Waits until a word has another value. An acquire: sees all writes before the change.
void wait_while(const Word& word, std::uint32_t value, bool looks) {
  if (looks) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(kSpinningMicroseconds);
    do {
      for (int i = 0; i < 16; ++i) {
        if (word.load(std::memory_order_acquire) != value) return;
        relax();
      }
      sched_yield();  // to a thread that has work, if there is one
    } while (std::chrono::steady_clock::now() < end);
  }
  word.wait(value, std::memory_order_acquire);
}

}  // namespace

struct ThreadTeam::Members {
  alignas(64) Word round{0};  ///< number of the last run
  alignas(64) Word busy{0};   ///< threads that have not finished their part of the run
  std::atomic<bool> in_use{false};
  void (*work)(void*, int) = nullptr;  ///< null: the threads end
  void* context = nullptr;
  bool looks = false;  ///< whether threads spin before they sleep: there is a processor for each thread
  std::uint64_t forks = forks_so_far();
  std::vector<std::thread> others;

  void begin(void (*function)(void*, int), void* argument) {
    work = function;
    context = argument;
    busy.store(static_cast<std::uint32_t>(others.size()), std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
  }

  void wait_for_others() const {
    for (std::uint32_t left; (left = busy.load(std::memory_order_acquire)) != 0;) {
      check_not_forked_in_use();  // if the caller's part of the work has forked, the other threads are missing here
      wait_while(busy, left, looks);
    }
  }

  bool is_of_parent() const { return forks != forks_so_far(); }

  /// @throws Error in a child process if its parent forked during a loop, which remains unfinished in the child
  void check_not_forked_in_use() const {
    if (!is_of_parent() || !in_use.load(std::memory_order_relaxed)) return;
    throw Error("dynasoar: fork() was called while a loop ran, so its child cannot use the handle; fork between loops");
  }

  void serve(int thread) {
    for (std::uint32_t seen = 0;; ++seen) {
      wait_while(round, seen, looks);
      if (work == nullptr) return;
      work(context, thread);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
    }
  }
};

ThreadTeam::ThreadTeam(int threads) : threads_(threads) {}

ThreadTeam::~ThreadTeam() {
  if (!members_) return;
  if (members_->is_of_parent()) {
    static_cast<void>(members_.release());  // this process does not have these threads
    return;
  }
  members_->begin(nullptr, nullptr);
  for (std::thread& other : members_->others) other.join();
}

void ThreadTeam::make_members() {
  if (members_) members_->check_not_forked_in_use();
  static_cast<void>(members_.release());
  members_ = std::make_unique<Members>();
  members_->looks = threads_ <= usable_processors();
  members_->others.reserve(static_cast<std::size_t>(threads_));
  const SignalsBlocked blocked;
  try {
    for (int i = 1; i < threads_; ++i) members_->others.emplace_back([m = members_.get(), i] { m->serve(i); });
  } catch (const std::system_error&) {  // the existing threads do all the work
  }
}

void ThreadTeam::run(void (*work)(void* context, int thread), void* context) {
  if (!members_ || members_->is_of_parent()) make_members();
  Members& members = *members_;
  if (members.in_use.exchange(true, std::memory_order_acquire)) {
    throw Error(
        "dynasoar: two threads of the program run loops of one AllocatorHandle at the same time; let them take turns");
  }
  members.begin(work, context);
  work(context, 0);
  members.wait_for_others();
  members.in_use.store(false, std::memory_order_release);
}

}  // namespace dynasoar::detail

#endif
