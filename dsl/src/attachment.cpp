#include <dynasoar/detail/attachment.h>

namespace dynasoar::detail {

void Attachments::add(Attachment& attachment) {
  all_.push_back(&attachment);
}

void Attachments::remove(Attachment& attachment) {
  past_moves_ += attachment.moves();
  std::erase(all_, &attachment);
}

void Attachments::loops_done() const {
  for (Attachment* attachment : all_) attachment->loops_done();
}

std::uint64_t Attachments::moves() const {
  std::uint64_t sum = past_moves_;
  for (const Attachment* attachment : all_) sum += attachment->moves();
  return sum;
}

}  // namespace dynasoar::detail
