#include <dynasoar/detail/kept_lists.h>

#include <dynasoar/detail/handle_errors.h>

namespace dynasoar::detail {

ClassSet ListKeeper::kept() const {
  ClassSet classes;
  for (std::size_t type = 0; type < times_.size(); ++type) {
    if (times_[type] > 0) classes.add(type);
  }
  return classes;
}

ClassSet ListKeeper::not_kept(const ClassSet& classes) const {
  ClassSet others;
  for (std::size_t type = 0; type < times_.size(); ++type) {
    if (classes.has(type) && times_[type] == 0) others.add(type);
  }
  return others;
}

void ListKeeper::add(const ClassSet& classes, int times) {
  for (std::size_t type = 0; type < times_.size(); ++type) times_[type] += classes.has(type) ? times : 0;
}

void ListKeeper::note(const ClassSet& classes, const std::vector<std::uint64_t>& listed_at) {
  const std::size_t shards = listed_at.size() / times_.size();
  listed_at_.resize(listed_at.size());
  for (std::size_t i = 0; i < listed_at.size(); ++i) {
    if (classes.has(i / shards)) listed_at_[i] = listed_at[i];
  }
}

void ListKeeper::check_unchanged(const std::vector<std::uint64_t>& listed_at) const {
  const std::size_t shards = listed_at.size() / times_.size();
  for (std::size_t i = 0; i < listed_at.size(); ++i) {
    if (times_[i / shards] > 0 && listed_at[i] != listed_at_[i]) throw_objects_have_changed();
  }
}

void ListKeeper::check_no_more_than(const ClassSet& classes) const {
  for (std::size_t type = 0; type < times_.size(); ++type) {
    if (times_[type] > 0 && !classes.has(type)) throw_lists_outlive_step();
  }
}

void ListKeeper::check_none() const {
  if (!kept().empty()) throw_lists_are_kept();
}

}  // namespace dynasoar::detail
