#include "relacy_atomics.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dynasoar::test {

namespace {

rl::memory_order native(Order order) {
  switch (order) {
    case Order::relaxed: return rl::mo_relaxed;
    case Order::acquire: return rl::mo_acquire;
    case Order::release: return rl::mo_release;
    case Order::acq_rel: break;
  }
  return rl::mo_acq_rel;
}

bool releases(Order order) {
  return order == Order::release || order == Order::acq_rel;
}

using Word32 = RelacyAtomics::word<std::uint32_t>;
using Word64 = RelacyAtomics::word<std::uint64_t>;

/// A store or an addition that has not taken effect yet.
struct Change {
  Word32* word32;
  Word64* word64;
  std::uint64_t value;
  bool add;
  Place place;
};

struct Thread {
  std::array<Change, 8> changes;
  std::size_t size = 0;
  bool may_hold_back = false;
  bool searching = false;  ///< whether a search made the last access: searches rely on no type
};

std::array<Thread, 3> threads;

}  // namespace

/// What the threads hold back.
struct HeldBack {
  static Thread& mine() { return threads[static_cast<std::size_t>(rl::ctx().current_thread())]; }

  /// @return whether the change is held back
  template <class T>
  static bool hold(RelacyAtomics::word<T>& word, T value, bool add, Place place) {
    Thread& thread = mine();
    if (!thread.may_hold_back || thread.size == thread.changes.size() || rl::rand(4) != 0) return false;
    Change& change = thread.changes[thread.size++];
    change = {nullptr, nullptr, value, add, place};
    set_word(change, word);
    return true;
  }

  static void set_word(Change& change, Word32& word) { change.word32 = &word; }
  static void set_word(Change& change, Word64& word) { change.word64 = &word; }

  /// Makes the changes that an access must not overtake take effect, and perhaps the others too.
  static void before_access(const void* word, Order order, Place place) {
    Thread& thread = mine();
    thread.searching = std::string_view(place.function).starts_with("search_");
    if (thread.size == 0) return;
    bool now = releases(order) || rl::rand(4) == 0;
    for (std::size_t i = 0; i < thread.size; ++i) {
      const Change& change = thread.changes[i];
      now = now || change.word32 == word || change.word64 == word;
    }
    if (now) flush();
  }

  static void flush() {
    Thread& thread = mine();
    for (std::size_t i = 0; i < thread.size; ++i) {
      const Change& change = thread.changes[i];
      if (change.word32 != nullptr) make(*change.word32, change);
      if (change.word64 != nullptr) make(*change.word64, change);
    }
    thread.size = 0;
  }

  template <class T>
  static void make(RelacyAtomics::word<T>& word, const Change& change) {
    if (change.add) {
      word.cell_.fetch_add(static_cast<T>(change.value), rl::mo_relaxed, change.place);
    } else {
      word.cell_.store(static_cast<T>(change.value), rl::mo_relaxed, change.place);
    }
  }
};

template <class T>
T RelacyAtomics::word<T>::load(Order order, Place place) const {
  const bool relied_on = guard_ != nullptr && !HeldBack::mine().searching;
  HeldBack::before_access(this, order, place);
  const T value = cell_.load(native(order), place);
  if (relied_on && std::string_view(place.function) == "type_of") static_cast<void>((*guard_)(place).load());
  return value;
}

template <class T>
void RelacyAtomics::word<T>::store(T value, Order order, Place place) {
  HeldBack::before_access(this, order, place);
  if (guard_ != nullptr) (*guard_)(place).store(1);
  if (order == Order::relaxed && HeldBack::hold(*this, value, false, place)) return;
  cell_.store(value, native(order), place);
}

template <class T>
T RelacyAtomics::word<T>::exchange(T value, Order order, Place place) {
  HeldBack::before_access(this, order, place);
  return cell_.exchange(value, native(order), place);
}

template <class T>
T RelacyAtomics::word<T>::fetch_or(T value, Order order, Place place) {
  HeldBack::before_access(this, order, place);
  return cell_.fetch_or(value, native(order), place);
}

template <class T>
T RelacyAtomics::word<T>::fetch_and(T value, Order order, Place place) {
  HeldBack::before_access(this, order, place);
  return cell_.fetch_and(value, native(order), place);
}

template <class T>
T RelacyAtomics::word<T>::fetch_add(T value, Order order, Place place) {
  HeldBack::before_access(this, order, place);
  return cell_.fetch_add(value, native(order), place);
}

template <class T>
void RelacyAtomics::word<T>::add(T value, Order order, Place place) {
  HeldBack::before_access(this, order, place);
  if (order == Order::relaxed && HeldBack::hold(*this, value, true, place)) return;
  cell_.fetch_add(value, native(order), place);
}

template <class T>
bool RelacyAtomics::word<T>::compare_exchange(T& expected, T desired, Order order, Place place) {
  HeldBack::before_access(this, order, place);
  return cell_.compare_exchange_strong(expected, desired, native(order), place, rl::mo_relaxed, place);
}

template class RelacyAtomics::word<std::uint32_t>;
template class RelacyAtomics::word<std::uint64_t>;

void RelacyAtomics::fence(Order order, Place place) {
  if (order == Order::relaxed) return;  // no fence; Relacy would not accept it
  if (releases(order)) HeldBack::flush();
  rl::atomic_thread_fence(native(order), place);
}

void RelacyAtomics::pause(int, Place place) {
  HeldBack::flush();
  rl::yield(1, place);
}

void RelacyAtomics::thread_begins(bool may_hold_back) {
  HeldBack::mine() = {};
  HeldBack::mine().may_hold_back = may_hold_back;
}

void RelacyAtomics::thread_ends() {
  HeldBack::flush();
  HeldBack::mine() = {};
}

}  // namespace dynasoar::test
