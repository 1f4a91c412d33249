// The ranks of a program, for dynasoar/program.

#include <dynasoar/program/program.h>

#include <dynasoar/detail/communicator.h>
#include <dynasoar/program/options.h>
#include "transport.h"

namespace dynasoar::program {
namespace {

class CommunicatorRanks final : public Ranks {
 public:
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  int local_rank() const override { return communicator_.local_rank(); }
  int local_size() const override { return communicator_.local_size(); }
  Communicator& communicator() override { return communicator_; }

  void check_same(const std::string& what, const std::string& text) override {
    try {
      communicator_.check_same(what, text);
    } catch (const CommunicatorError& error) {
      throw UsageError(error.what());
    }
  }

  void sum(std::vector<std::uint64_t>& values) override { communicator_.sum(values); }

  std::vector<std::vector<char>> gather(const void* data, std::size_t bytes) override {
    return communicator_.gather(data, bytes, 0);
  }

  std::string broadcast(const std::string& text) override {
    std::uint64_t bytes = text.size();
    communicator_.broadcast(&bytes, sizeof bytes, 0);
    std::string result = text;
    result.resize(bytes);
    communicator_.broadcast(result.data(), result.size(), 0);
    return result;
  }

 private:
  Communicator communicator_;
};

}  // namespace

// A process that was started alone does not initialize MPI, which takes longer than a short run.
std::unique_ptr<Ranks> all_ranks() {
  if (detail::launcher_of_several().empty()) return nullptr;
  auto ranks = std::make_unique<CommunicatorRanks>();
  if (ranks->size() == 1) return nullptr;
  return ranks;
}

}  // namespace dynasoar::program
