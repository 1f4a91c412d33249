#include "suite.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

namespace benchmarks::allocators {
namespace {

using Clock = std::chrono::steady_clock;

/// Messages from child to parent: a record, "done" (its case is over), or an error's text. One line of JSON each.
nlohmann::json to_json(const Record& record) {
  return {{"benchmark", record.benchmark}, {"variant", record.variant}, {"parameters", record.parameters},
          {"metric", record.metric},       {"unit", record.unit},       {"values", record.values}};
}

Record to_record(const nlohmann::json& json) {
  return {json.at("benchmark"), json.at("variant"), json.at("parameters"),
          json.at("metric"),    json.at("unit"),    json.at("values")};
}

void send(int pipe, const nlohmann::json& message) {
  const std::string line = message.dump() + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = write(pipe, line.data() + at, line.size() - at);
    if (written < 0) throw std::system_error(errno, std::generic_category(), "cannot write to the parent");
    at += static_cast<std::size_t>(written);
  }
}

/// A child: runs cases from `first` on, until all are done or one throws.
[[noreturn]] void run_child(const std::vector<Case>& cases, std::size_t first, Context context, int pipe) {
  context.add = [pipe](const Record& record) { send(pipe, to_json(record)); };
  int status = 0;
  try {
    if (benchmarks::device_available()) benchmarks::enlarge_toolkit_heap();
    for (std::size_t i = first; i < cases.size(); ++i) {
      cases[i].run(context);
      send(pipe, "done");
    }
  } catch (const std::exception& error) {
    send(pipe, {{"error", error.what()}});
    status = 1;
  }
  std::fflush(nullptr);
  _exit(status);  // the parent's objects are not ours to destroy
}

/// The child that runs cases, seen from the parent.
class Child {
 public:
  Child(const std::vector<Case>& cases, std::size_t first, const Context& context) {
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    std::fflush(nullptr);
    process_ = fork();
    if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (process_ == 0) {
      close(ends[0]);
      run_child(cases, first, context, ends[1]);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(pipe_);
  }

  enum class Answer { message, timeout, end };

  /// Waits for the next message until `deadline`.
  Answer next(Clock::time_point deadline, nlohmann::json& message) {
    for (;;) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        message = nlohmann::json::parse(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        return Answer::message;
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd ready{pipe_, POLLIN, 0};
      const int polled = left > 0 ? poll(&ready, 1, static_cast<int>(left)) : 0;
      if (polled < 0 && errno == EINTR) continue;
      if (polled <= 0) return Answer::timeout;
      char bytes[4096];
      const ssize_t got = read(pipe_, bytes, sizeof bytes);
      if (got <= 0) return Answer::end;
      buffer_.append(bytes, static_cast<std::size_t>(got));
    }
  }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
  std::string buffer_;
};

}  // namespace

int run_cases(const std::vector<Case>& cases, const Context& context, std::chrono::seconds time_limit) {
  int unfinished = 0;
  for (std::size_t at = 0; at < cases.size();) {
    Child child(cases, at, context);
    bool alive = true;
    while (alive && at < cases.size()) {
      const Clock::time_point begin = Clock::now();
      std::string problem;
      for (bool done = false; !done && problem.empty();) {
        nlohmann::json message;
        switch (child.next(begin + time_limit, message)) {
          case Child::Answer::timeout: problem = fmt::format("stopped after {} s", time_limit.count()); break;
          case Child::Answer::end: problem = "ended unexpectedly"; break;
          case Child::Answer::message:
            if (message.is_string()) {
              done = true;
            } else if (message.contains("error")) {
              problem = message["error"].get<std::string>();
            } else {
              context.add(to_record(message));
            }
        }
      }
      if (!problem.empty()) {
        alive = false;
        ++unfinished;
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        context.add({cases[at].experiment, cases[at].allocator, {}, "not finished", problem, {seconds}});
      }
      ++at;
    }
  }
  return unfinished;
}

}  // namespace benchmarks::allocators
