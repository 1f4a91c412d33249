/// @file
/// Implements DistributedHandle::save and load: all ranks together save or load one checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <dynasoar/checkpoint/compression.h>
#include <dynasoar/checkpoint/items.h>
#include <dynasoar/checkpoint/save_and_load.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/checkpoint_parts.h>
#include <dynasoar/detail/communicator.h>

namespace dynasoar::detail {

/// Whether a rank is alone and has no ghosts, so that its objects are saved as those of any handle.
template <class Loops>
bool is_alone(const Communicator& communicator, Loops& loops) {
  bool is_divided = communicator.size() > 1;
  for (const std::size_t type : loops.placed().on_lattices())
    is_divided = is_divided || loops.placed().state(type).shape.is_divided();
  return !is_divided;
}

/// @throws Error if there are objects in the heap
template <class Loops>
void check_heap_is_empty(const ClassTable& classes, Loops& loops) {
  for (std::size_t type = 0; type < classes.classes.size(); ++type) {
    if (classes[type].is_placed) continue;
    ClassSet one;
    one.add(type);
    if (const std::uint64_t objects = loops.count(one); objects > 0) throw_is_in_heap(classes[type], objects);
  }
}

template <class A, template <class> class Handle>
void save_distributed(Handle<A>& handle, const std::string& path, const SaveOptions& options,
                      const std::vector<const SavedItem*>& items) {
  Communicator& communicator = handle.communicator();
  auto& loops = handle.local().loops();
  const ClassTable& classes = class_table_v<A>;
  if (is_alone(communicator, loops)) {
    handle.on_all([&] {
      loops.save(path, options, items);
      remove_parts(path);
    });
    return;
  }
  std::string values;
  std::vector<std::uint64_t> own;
  handle.on_all([&] {
    loops.executor().check_may_wait();
    loops.synchronize();
    check_heap_is_empty(classes, loops);
    values = text_of_values(items);
    own = own_layers(classes, loops.placed());
  });
  communicator.check_same("the path of the checkpoint", path);
  communicator.check_same("the values of the checkpoint", values);
  communicator.check_same("the lattices", text_of_lattices(classes, loops.placed()));
  const std::vector<std::vector<char>> layers = communicator.gather(own.data(), own.size() * sizeof(std::uint64_t), 0);
  std::optional<SavedParts> parts;
  SaveNote note{};
  handle.on_all([&] {
    if (communicator.rank() != 0) return;
    parts.emplace(path, communicator.size());
    note = parts->note();
  });
  communicator.broadcast(&note, sizeof note, 0);
  const PartNote mine{note.id, static_cast<std::uint64_t>(communicator.rank())};
  const std::string part = part_path(path, note.number, mine.rank);
  try {
    handle.on_all([&] {
      const SavedItem which = value(kPartName, mine);
      const SavedItem* const all[] = {&which};
      loops.save(part, options, all);
    });
    handle.on_all([&] {
      if (parts) parts->check_are_there();
    });
  } catch (...) {
    std::remove(part.c_str());
    throw;
  }
  handle.on_all([&] {
    if (!parts) return;
    std::vector<const SavedItem*> all(items);
    const std::vector<SavedItem> more = parts->items(classes, loops.placed(), layers);
    for (const SavedItem& item : more) all.push_back(&item);
    {
      const auto without = loops.placed().without_objects();
      loops.save(path, options, all);
    }
    parts->remove_others();
    parts.reset();  // removes the lock before any rank returns
  });
}

template <class A, template <class> class Handle>
void load_distributed(Handle<A>& handle, const std::string& path, const LoadOptions& options,
                      const std::vector<const CheckpointItem*>& items) {
  auto& loops = handle.local().loops();
  std::optional<LoadedParts> parts;
  handle.on_all([&] {
    loops.executor().check_may_wait();
    loops.check_keeps_no_lists();
    loops.synchronize();
    if (is_alone(handle.communicator(), loops) && !LoadedParts::are_at(loops.storage(), path, options, kCompression)) {
      loops.load(path, options, items);
      return;
    }
    check_heap_is_empty(class_table_v<A>, loops);
    loops.placed().refresh();
    static_cast<void>(text_of_values(std::vector<const SavedItem*>(items.begin(), items.end())));
    parts.emplace(loops.storage(), loops.placed(), path, options, items, kCompression);
  });
  if (!parts) return;
  handle.communicator().check_same("the checkpoint", parts->text());
  handle.on_all([&] { parts->read(); });
  handle.expire_ghosts();
  handle.on_all([&] {
    loops.executor().wait();
    parts->put_in_place(loops.placed());
    loops.attachments().objects_replaced();
  });
}

}  // namespace dynasoar::detail
