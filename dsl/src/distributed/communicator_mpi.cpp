// All calls of MPI. Only C functions of MPI 3.0 are used.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <mpi.h>

#include <dynasoar/base/number_text.h>
#include "../interrupt.h"
#include "deadline.h"
#include "ranks.h"
#include "transport.h"

namespace dynasoar::detail {
namespace {

constexpr int kNoticeTag = 2;  // collective calls of Ranks use 0 and 1, exchanged messages 16 and more
constexpr int kHelloTag = 32000;
constexpr double kSecondsToEnd = 5;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  throw CommunicatorError(std::string("dynasoar: ") + call + ": " + text_of(code));
}

bool is_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

bool is_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  check(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  return size;
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return rank;
}

// State that exists once per process.
struct Process {
  bool is_started = false;
  bool initialized_mpi = false;
  bool was_left_by_exception = false;
  bool is_ending = false;
  double patience_seconds = 0;
  std::unique_ptr<Ranks> all;  // of MPI_COMM_WORLD, for the end; null if this rank is alone or other code finalizes
};

Process& process() {
  static auto* const only = new Process;  // functions that exit() calls use it
  return *only;
}

[[noreturn]] void abort_all() {
  process().is_ending = true;  // MPI_Abort may call exit()
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::duration<double>(kSecondsToEnd));
    std::_Exit(EXIT_FAILURE);
  }).detach();
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm communicator, std::size_t piece_bytes)
      : communicator_(communicator),
        piece_(piece_bytes),
        rank_(rank_in(communicator)),
        size_(detail::size_of(communicator)) {
    check(MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  // The communicator stays until MPI is finalized: MPI_Comm_free waits for all ranks.

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, int tag, const char* data, std::size_t bytes) override {
    for_each_piece(bytes, [&](std::size_t begin, int count) {
      MPI_Request& request = add({to, tag, static_cast<std::size_t>(count), false, Length::exact});
      check(MPI_Isend(data + begin, count, MPI_BYTE, to, tag, communicator_, &request), "MPI_Isend");
    });
  }

  void receive(int from, int tag, char* data, std::size_t bytes, Length length) override {
    for_each_piece(bytes, [&](std::size_t begin, int count) {
      MPI_Request& request = add({from, tag, static_cast<std::size_t>(count), true, length});
      check(MPI_Irecv(data + begin, count, MPI_BYTE, from, tag, communicator_, &request), "MPI_Irecv");
    });
  }

  bool progress() override {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      MPI_Status status;
      int is_complete = 0;
      const int code = MPI_Test(&requests_[i], &is_complete, &status);
      if (code != MPI_SUCCESS || is_complete != 0) {
        look_at(transfers_[i], status, code);
        continue;
      }
      requests_[kept] = requests_[i];
      transfers_[kept++] = transfers_[i];
    }
    const bool has_completed = kept < requests_.size();
    requests_.resize(kept);
    transfers_.resize(kept);
    return has_completed;
  }

  const std::vector<Transfer>& under_way() const override { return transfers_; }
  std::string take_error() override { return std::exchange(error_, {}); }

  void send_notice(int to, Notice notice) override {
    static constexpr int kNumbers[] = {0, 1, 2, 3, 4, 5};  // static, because no call waits until they have been sent
    if (is_finalized()) return;
    MPI_Request request;
    const int code =
        MPI_Isend(&kNumbers[static_cast<int>(notice)], 1, MPI_INT, to, kNoticeTag, communicator_, &request);
    if (code == MPI_SUCCESS) MPI_Request_free(&request);
  }

  ArrivedNotice take_notice() override {
    MPI_Status status;
    int is_there = 0, number = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kNoticeTag, communicator_, &is_there, &status), "MPI_Iprobe");
    if (is_there == 0) return {-1, Notice::none};
    check(MPI_Recv(&number, 1, MPI_INT, status.MPI_SOURCE, kNoticeTag, communicator_, &status), "MPI_Recv");
    return {status.MPI_SOURCE, static_cast<Notice>(number)};
  }

  [[noreturn]] void abort() override { abort_all(); }

 private:
  template <class F>
  void for_each_piece(std::size_t bytes, const F& visit) const {
    std::size_t begin = 0;
    do {
      const std::size_t count = std::min(piece_, bytes - begin);
      visit(begin, static_cast<int>(count));
      begin += count;
    } while (begin < bytes);
  }

  MPI_Request& add(const Transfer& transfer) {
    transfers_.push_back(transfer);
    return requests_.emplace_back(MPI_REQUEST_NULL);
  }

  void look_at(const Transfer& transfer, const MPI_Status& status, int code) {
    int count = 0;
    if (code == MPI_SUCCESS && transfer.is_received) MPI_Get_count(&status, MPI_BYTE, &count);
    const bool is_right = !transfer.is_received || transfer.length == Length::at_most ||
                          static_cast<std::size_t>(count) == transfer.bytes;
    if ((code == MPI_SUCCESS && is_right) || !error_.empty()) return;
    error_ = "dynasoar: rank ";
    append_number(error_, rank_);
    error_ += transfer.is_received ? " expects a message of " : " cannot send a message of ";
    append_number(error_, transfer.bytes);
    error_ += transfer.is_received ? " bytes from rank " : " bytes to rank ";
    append_number(error_, transfer.rank);
    if (code != MPI_SUCCESS) {
      error_ += ": " + text_of(code);
      return;
    }
    error_ += ", which has sent ";
    append_number(error_, count);
  }

  MPI_Comm communicator_;
  std::size_t piece_;
  int rank_, size_;
  std::vector<Transfer> transfers_;
  std::vector<MPI_Request> requests_;  // one for each transfer
  std::string error_;
};

// Finds the ranks that have also begun to make a Communicator of `parent`. Ranks report this after some waiting time.
class Hello {
 public:
  explicit Hello(MPI_Comm parent) : parent_(parent), has_come_(static_cast<std::size_t>(detail::size_of(parent))) {
    has_come_[static_cast<std::size_t>(rank_in(parent))] = true;
  }

  void say() {
    if (std::exchange(has_said_, true)) return;
    for (int rank = 0; rank < static_cast<int>(has_come_.size()); ++rank) {
      MPI_Request request;
      if (rank == rank_in(parent_)) continue;
      MPI_Isend(nullptr, 0, MPI_BYTE, rank, kHelloTag, parent_, &request);
      MPI_Request_free(&request);
    }
  }

  void listen() {
    MPI_Status status;
    int is_there = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, kHelloTag, parent_, &is_there, &status) == MPI_SUCCESS && is_there != 0) {
      MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kHelloTag, parent_, &status);
      has_come_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
    }
  }

  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < has_come_.size(); ++rank) {
      if (!has_come_[rank]) ranks.push_back(static_cast<int>(rank));
    }
    return ranks;
  }

 private:
  MPI_Comm parent_;
  std::vector<bool> has_come_;
  bool has_said_ = false;
};

[[noreturn]] void end_without(MPI_Comm parent, Hello& hello, double waited) {
  hello.say();
  for (int i = 0; i < 20; ++i) {
    hello.listen();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  print_end(
      rank_in(parent), size_of(parent),
      "has waited " + seconds_text(waited) + " in Communicator::Communicator for " + list_of_ranks(hello.missing()));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  abort_all();
}

// MPI_Comm_idup instead of MPI_Comm_dup, which would wait forever if a rank is missing.
MPI_Comm duplicate(MPI_Comm parent, const CommunicatorOptions& options) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request;
  check(MPI_Comm_idup(parent, &copy, &request), "MPI_Comm_idup");
  Hello hello(parent);
  Wait waiting(0.02);
  int is_done = 0;
  for (;;) {
    check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_done != 0) return copy;
    waiting.pause();
    // If the program has initialized MPI, it could receive our messages as its own.
    if (process().initialized_mpi && waiting.seconds() > 0.05 * options.patience_seconds) {
      hello.say();
      hello.listen();
    }
    if (waiting.seconds() > options.patience_seconds) end_without(parent, hello, waiting.seconds());
  }
}

// Called by exit(): after main() has returned, or before.
void at_exit() {
  Process& ours = process();
  if (is_finalized() || ours.is_ending) return;
  if (ours.was_left_by_exception) abort_all();
  for (Ranks* const open : Ranks::all_open()) {
    if (open != ours.all.get()) open->send_notices(Notice::exit);
  }
  if (!ours.initialized_mpi) return;
  if (ours.all != nullptr) ours.all->decide(Call::exit, {}, [](const std::vector<Bytes>&) { return Bytes(); });
  Deadline deadline("MPI_Finalize", ours.patience_seconds);
  MPI_Finalize();
}

// Initializes MPI if this has not been done. The first call ensures that the process ends properly.
void start(const CommunicatorOptions& options) {
  if (is_finalized()) {
    throw CommunicatorError(
        "dynasoar: a Communicator is made after MPI_Finalize, and MPI cannot be initialized again; make it before");
  }
  Process& ours = process();
  ours.patience_seconds = std::max(ours.patience_seconds, options.patience_seconds);
  const bool is_first = !std::exchange(ours.is_started, true);
  if (!is_initialized()) {
    Deadline deadline("MPI_Init", options.patience_seconds);
    const UnhandledInterrupts unhandled;
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    ours.initialized_mpi = true;
    // MPICH reports errors of completed requests to the handlers of these, not to that of the communicator.
    for (const MPI_Comm all : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  }
  if (is_first) std::atexit(at_exit);  // after MPI_Init: before functions that MPI has registered
  if (size_of(MPI_COMM_WORLD) == 1) {
    if (const std::string launcher = launcher_of_several(); !launcher.empty()) {
      throw CommunicatorError(
          "dynasoar: a launcher has started several processes (" + launcher +
          " in the environment), but MPI finds only this one, so each would run the whole model. The launcher belongs "
          "to another MPI than the program, which uses " +
          transport_description() +
          ": start it with the mpirun of that MPI, or build it with the MPI of the launcher. If each process is to run "
          "a model of its own, remove the variable: env -u NAME program");
    }
  } else if (is_first && ours.initialized_mpi) {
    ours.all = std::make_unique<Ranks>(
        std::make_unique<MpiTransport>(duplicate(MPI_COMM_WORLD, options), options.piece_bytes), options);
  }
}

}  // namespace

std::unique_ptr<Transport> connect(const void* communicator, std::size_t handle_bytes,
                                   const CommunicatorOptions& options) {
  MPI_Comm parent = MPI_COMM_WORLD;
  if (handle_bytes != 0) {
    if (communicator == nullptr || handle_bytes != sizeof parent) {
      throw CommunicatorError("dynasoar: a Communicator was given a pointer that is not the address of an MPI_Comm");
    }
    if (!is_initialized()) {
      throw CommunicatorError(
          "dynasoar: a Communicator was given an MPI communicator before MPI_Init; call MPI_Init first");
    }
    std::memcpy(&parent, communicator, sizeof parent);
  }
  start(options);
  if (parent == MPI_COMM_NULL) {
    throw CommunicatorError(
        "dynasoar: a Communicator was given MPI_COMM_NULL; this process is not a member of the communicator, so it "
        "must not make one");
  }
  int is_inter = 0;
  check(MPI_Comm_test_inter(parent, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0) {
    throw CommunicatorError(
        "dynasoar: a Communicator was given an intercommunicator; merge it first, with MPI_Intercomm_merge");
  }
  if (size_of(parent) == 1) return nullptr;
  return std::make_unique<MpiTransport>(duplicate(parent, options), options.piece_bytes);
}

void remember_exception() {
  process().was_left_by_exception = true;
}

std::string transport_description() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<std::size_t>(length));  // several lines, or parts with commas
  version.resize(std::min(version.size(), version.find_first_of(",\n")));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return "MPI (" + version + ")";
}

std::string host_name() {
  static std::string known;  // found when MPI starts, for threads that may not call MPI
  if (!known.empty()) return known;
  char text[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  if (!is_initialized() || is_finalized()) return "this host";
  MPI_Get_processor_name(text, &length);
  return known = std::string(text, static_cast<std::size_t>(length));
}

}  // namespace dynasoar::detail
