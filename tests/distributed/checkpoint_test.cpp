/// @file
/// Checkpoints of several ranks: a run goes on, to the bit, on another number of ranks and with other slabs, and bad
/// files are refused on all ranks, before anything changes. Started by mpiexec with 1, 2, 3, 4 and 7 ranks.

#include <dynasoar/distributed.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/dynasoar.h>
#ifdef HAS_MPI
#include <mpi.h>
#endif

#include "folder.h"
#include "lattice_model.h"
#include "world.h"

namespace distributed_test {

using dynasoar::CheckpointFault;

/// Some of the ranks. Collective.
class Group {
 public:
  Group([[maybe_unused]] int first, [[maybe_unused]] int count) {
#ifdef HAS_MPI
    const bool is_member = world().rank() >= first && world().rank() < first + count;
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED, world().rank(), &some);
    if (!is_member) return;
    communicator_.emplace(&some, dynasoar::CommunicatorOptions{.patience_seconds = 20});
    MPI_Comm_free(&some);
#else
    communicator_.emplace();
#endif
  }

  /// Calls `f(communicator)` on them. The others wait.
  template <class F>
  void run(const F& f) {
    if (communicator_) f(*communicator_);
    world().barrier();
  }

 private:
  std::optional<dynasoar::Communicator> communicator_;
};

const Model kPlane{{100, 60}, {.halo = 6, .divides_for_one_rank = true}};

std::vector<Model> models() {
  std::vector<Model> result;
  for (const bool last : {true, false}) {
    for (const bool divides : {true, false}) {
      result.push_back({{100, 60}, {.periodic = {last, last}, .halo = 6, .divides_for_one_rank = divides}});
      result.push_back({{7, 49}, {.periodic = {true, last}, .halo = 6, .divides_for_one_rank = divides}});
      result.push_back({{9, 5, 43}, {.periodic = {last, true, last}, .halo = 6, .divides_for_one_rank = divides}});
    }
  }
  return result;
}

TEST_CASE("a run goes on on another number of ranks") {
  const Folder folder;
  const std::string path = folder.file("run");
  const int all = world().size();
  for (const Model& model : models()) {
    CAPTURE(model.sizes.size());
    CAPTURE(model.sizes[0]);
    CAPTURE(model.options.periodic[model.sizes.size() - 1]);
    CAPTURE(model.options.divides_for_one_rank);
    const std::vector<std::uint64_t> places = expected(model);
    for (const auto& pair : {std::pair(1, all), {all, 1}, {all, all}, {(all + 1) / 2, all / 2 + 1}}) {
      const int before = pair.first, after = pair.second;  // clang 14 captures no structured bindings
      CAPTURE(before);
      CAPTURE(after);
      Group(0, before).run([&](dynasoar::Communicator& communicator) {
        Divided run(model, communicator);
        while (run.steps_done() < 5) run.step();
        run.save(path);
      });
      Group(all - after, after).run([&](dynasoar::Communicator& communicator) {
        Divided run(model, communicator);
        run.step();
        run.load(path);
        CHECK(run.steps_done() == 5);
        CHECK(run.run() == places);
      });
    }
  }
}

TEST_CASE("a run goes on with other slabs, and ranks without any") {
  const Folder folder;
  const std::string path = folder.file("run");
  const std::vector<std::uint64_t> places = expected(kPlane);
  const std::vector<std::vector<std::size_t>> lists{{6, 9}, {0, 17}, {8, 0, 7}, {0, 0, 0, 30, 0, 0}, {6, 9}};
  for (std::size_t i = 0; i + 1 < lists.size(); ++i) {
    CAPTURE(i);
    Model model = kPlane;
    model.options.layers = slabs(60, lists[i]);
    {
      Divided run(model);
      while (run.steps_done() < 7) run.step();
      run.save(path);
      CHECK(run.run() == places);  // saving changes nothing
    }
    model.options.layers = slabs(60, lists[i + 1]);
    Divided run(model);
    run.lattice().exchange();
    CHECK(run.lattice().valid() == 6);
    run.load(path);
    CHECK(run.lattice().valid() == 0);
    CHECK(run.run() == places);
  }
}

/// Counts how often it is told that objects are not those of before.
struct Witness final : dynasoar::detail::Attachment {
  int replaced = 0;
  void objects_replaced() override { ++replaced; }
};

TEST_CASE("what depends on objects is told that they were replaced") {
  const Folder folder;
  const std::string path = folder.file("run");
  Divided run(kPlane);
  run.step();
  run.save(path);
  Witness witness;
  auto& attachments = run.lattice().handle().local().loops().attachments();
  attachments.add(witness);
  run.load(path);
  attachments.remove(witness);
  CHECK(witness.replaced == 1);
}

TEST_CASE("one rank without ghosts writes and reads the file of an AllocatorHandle") {
  const Folder folder;
  const std::string path = folder.file("run");
  Model model = kPlane;
  model.options.divides_for_one_rank = false;
  model.steps = 5;
  const std::vector<std::uint64_t> places = expected(model);
  Group(0, 1).run([&](dynasoar::Communicator& communicator) {
    {
      Divided run(model, communicator);
      run.run();
      run.save(path);
    }
    CHECK(folder.names() == std::vector<std::string>{"run"});
    dynasoar::AllocatorHandle<AllocatorT> handle(small_heap());
    dynasoar::Lattice<Walker, Wolf, Bear, Soil> lattice(handle, model.sizes);
    std::uint32_t step = 0;
    handle.load(path, dynasoar::value("step", step));
    CHECK(step == 5);
    CHECK(described(handle, lattice) == places);
    handle.save(path, dynasoar::value("step", step));
  });
  Divided run(model);
  run.load(path);
  CHECK(run.places() == places);
}

TEST_CASE("a save leaves the files of this save only, and the files of others") {
  const Folder folder;
  const std::string path = folder.file("run");
  if (world().rank() == 0) {
    for (const char* const other : {"run.save1", "run.save1.rank0.txt", "run.save.rank0", "run2.save1.rank0"})
      std::ofstream(folder.file(other)) << "mine";
    for (const char* const left : {"run.save7.rank0", "run.save8.rank99.part"})
      std::ofstream(folder.file(left)) << "left behind";
  }
  world().barrier();
  Divided run(kPlane);
  for (const int number : {9, 10}) {
    run.save(path);
    std::vector<std::string> expected_names{"run", "run.save.rank0", "run.save1", "run.save1.rank0.txt",
                                            "run2.save1.rank0"};
    for (int rank = 0; rank < world().size(); ++rank)
      expected_names.push_back("run.save" + std::to_string(number) + ".rank" + std::to_string(rank));
    std::sort(expected_names.begin(), expected_names.end());
    CHECK(folder.names() == expected_names);
    world().barrier();
  }
  std::uint32_t step = 7;
  dynasoar::load_values(path, dynasoar::value("step", step));
  CHECK(step == 0);
}

/// A checkpoint after 3 steps, and a run that has done 5.
class Refusing {
 public:
  Refusing() : expected_(distributed_test::expected(kPlane)), path_(folder_.file("run")), run_(kPlane) {
    while (run_.steps_done() < 3) run_.step();
    run_.save(path_);
    while (run_.steps_done() < 5) run_.step();
    places_ = run_.places();
  }

  const std::string& path() const { return path_; }
  Divided& run() { return run_; }
  const std::vector<std::uint64_t>& expected() const { return expected_; }

  /// The file of a rank.
  std::string part(int rank) const { return path_ + ".save1.rank" + std::to_string(rank); }

  /// Rank 0 calls a function that damages a file. Then all ranks try to load, and are told so; nothing has changed.
  template <class F>
  void check(const std::string& file, CheckpointFault fault, const std::string& text, const F& damage) {
    CAPTURE(text);
    const std::string kept = folder_.file("kept");
    if (world().rank() == 0) {
      fs::copy_file(file, kept);
      damage();
    }
    world().barrier();
    check_is_refused(path_, run_, fault, text);
    CHECK(run_.steps_done() == 5);
    CHECK(run_.places() == places_);
    if (world().rank() == 0) fs::rename(kept, file);
    world().barrier();
  }

  /// All ranks are told, some of them that another rank was.
  static void check_is_refused(const std::string& path, Divided& run, CheckpointFault fault, const std::string& text) {
    bool is_told = false;
    try {
      run.load(path);
    } catch (const dynasoar::CheckpointError& error) {
      is_told = true;
      CHECK(error.fault() == fault);
      const std::string message = error.what();
      CHECK_MESSAGE(message.find(text) != std::string::npos, message);
    } catch (const dynasoar::Error& error) {
      is_told = true;
      const std::string message = error.what();
      CHECK_MESSAGE(message.find(" failed: ") != std::string::npos, message);
      CHECK_MESSAGE(message.find(text) != std::string::npos, message);
    }
    CHECK(is_told);
  }

 private:
  Folder folder_;
  std::vector<std::uint64_t> expected_;  // at the end of a run
  std::string path_;
  Divided run_;
  std::vector<std::uint64_t> places_;
};

/// Flips a bit.
void damage(const std::string& file, std::uint64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const int byte = stream.get();
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(byte ^ 4));
}

TEST_CASE("damaged and missing files are refused on all ranks, and nothing has changed") {
  Refusing test;
  const int last = world().size() - 1;
  for (const int rank : {0, last}) {
    const std::string part = test.part(rank);
    const std::uint64_t bytes = world().rank() == 0 ? fs::file_size(part) : 0;
    test.check(part, CheckpointFault::missing_part, "lacks the file '" + part + "'", [&] { fs::remove(part); });
    test.check(part, CheckpointFault::truncated, "is truncated", [&] { fs::resize_file(part, bytes / 2); });
    test.check(part, CheckpointFault::truncated, "is truncated", [&] { fs::resize_file(part, 0); });
    test.check(part, CheckpointFault::damaged, "is damaged", [&] { damage(part, bytes - 100); });
    test.check(part, CheckpointFault::damaged, "is damaged", [&] { damage(part, 20); });
    test.check(part, CheckpointFault::not_a_checkpoint, "is no checkpoint", [&] { damage(part, 0); });
  }
  const std::string path = test.path();
  const std::uint64_t bytes = world().rank() == 0 ? fs::file_size(path) : 0;
  test.check(path, CheckpointFault::truncated, "is truncated", [&] { fs::resize_file(path, bytes / 2); });
  test.check(path, CheckpointFault::damaged, "is damaged", [&] { damage(path, bytes - 1); });
  test.check(path, CheckpointFault::not_a_checkpoint, "is no checkpoint", [&] { damage(path, 1); });
  if (last > 0) {
    const std::string part = test.part(last);
    test.check(part, CheckpointFault::missing_part, "belongs to another save",
               [&] { fs::copy_file(test.part(0), part, fs::copy_options::overwrite_existing); });
  }
  test.run().load(path);
  CHECK(test.run().steps_done() == 3);
  CHECK(test.run().run() == test.expected());
}

TEST_CASE("a part of another save is refused") {
  const Folder folder;
  const std::string path = folder.file("run");
  Divided run(kPlane);
  run.save(path);
  if (world().rank() == 0) fs::copy_file(path, folder.file("old"));
  world().barrier();
  run.step();
  run.save(path);
  if (world().rank() == 0) {
    fs::rename(folder.file("old"), path);
    for (int rank = 0; rank < world().size(); ++rank) {
      const std::string name = ".rank" + std::to_string(rank);
      fs::rename(path + ".save2" + name, path + ".save1" + name);
    }
  }
  world().barrier();
  Refusing::check_is_refused(path, run, CheckpointFault::missing_part, "belongs to another save than");
  CHECK(run.steps_done() == 1);
}

TEST_CASE("another lattice is refused") {
  const Folder folder;
  const std::string path = folder.file("run");
  Divided(kPlane).save(path);
  Model model = kPlane;
  model.sizes = {101, 60};
  {
    Divided wide(model);
    Refusing::check_is_refused(path, wide, CheckpointFault::other_values,
                               "has objects of Walker on a lattice of 100 x 60 places with the periodic axes 0, 1, and "
                               "in this program it has 101 x 60 places with the periodic axes 0, 1");
  }
  model = kPlane;
  model.options.periodic = {true, false, true};
  Divided bounded(model);
  Refusing::check_is_refused(path, bounded, CheckpointFault::other_values,
                             "in this program it has 100 x 60 places with the periodic axes 0");
}

class Stone;
using OtherAllocator = dynasoar::SoaAllocator<Stone>;
class Stone final : public dynasoar::SoaBase<OtherAllocator> {
 public:
  DYNASOAR_FIELDS(Stone, (weight_, float));
  __device__ explicit Stone(std::size_t) : weight_(1) {}
};

TEST_CASE("other classes, and objects that are not on a lattice, are refused") {
  const Folder folder;
  const std::string path = folder.file("run");
  Divided(kPlane).save(path);
  const dynasoar::HandleOptions options{.heap_bytes = std::size_t{64} << 20};
  {
    dynasoar::DistributedHandle<OtherAllocator> other(world(), options);
    CHECK(error_of([&] { other.load(path); }).find("is of another program") != std::string::npos);
    // Only the last rank has any.
    if (world().rank() == world().size() - 1) other.local().parallel_new<Stone>(3);
    const std::string error = error_of([&] { other.save(folder.file("stones")); });
    if (world().size() == 1) {
      CHECK(error == "");  // the file of an AllocatorHandle
    } else {
      CHECK(error.find("there are 3 objects of distributed_test::Stone in the heap of this rank") != std::string::npos);
      CHECK((error.find("failed: ") != std::string::npos) == (world().rank() < world().size() - 1));
      CHECK_FALSE(fs::exists(folder.file("stones")));
      CHECK(error_of([&] { other.load(path); }) != "");
    }
  }
  if (world().rank() == 0) {
    dynasoar::AllocatorHandle<OtherAllocator> alone(options);
    alone.parallel_new<Stone>(5);
    alone.save(folder.file("alone"));
  }
  world().barrier();
  dynasoar::DistributedHandle<OtherAllocator> none(world(), options);
  const std::string text = error_of([&] { none.load(folder.file("alone")); });
  CHECK((text.find("has objects of Stone that are at no place of a lattice") != std::string::npos) ==
        (world().size() > 1));
}

TEST_CASE("values that differ, or are those of one rank, are refused") {
  if (world().size() == 1) return;
  const Folder folder;
  const std::string path = folder.file("run");
  Divided run(kPlane);
  const int number = world().rank() == 1 ? 7 : 5;
  CHECK(error_of([&] {
          run.handle().save(path, dynasoar::value("number", number));
        }).find("the values of the checkpoint") != std::string::npos);
  const dynasoar::DeviceArray<int> numbers(5);
  CHECK(error_of([&] {
          run.handle().save(path, dynasoar::array("numbers", numbers));
        }).find("'numbers' is an array in the device memory of a rank") != std::string::npos);
  CHECK(folder.names().empty());
  std::vector<int> vector{3, 4, 5};
  run.handle().save(path, dynasoar::array("vector", vector));
  vector.clear();
  run.handle().load(path, dynasoar::array("vector", vector));
  CHECK(vector == std::vector<int>{3, 4, 5});
  CHECK(error_of([&] { run.handle().load(path); }).find("a value 'vector: 3 * i4' that the program does not ask for") !=
        std::string::npos);
}

TEST_CASE("a folder that is not there is an error, and two saves at once are") {
  const Folder folder;
  Divided run(kPlane);
  CHECK(error_of([&] { run.save(folder.file("none/run")); }) != "");
  const std::string path = folder.file("run");
  run.save(path);
  {
    std::optional<dynasoar::detail::DurableFile> other;
    if (world().rank() == 0) other.emplace(path + ".saving");
    world().barrier();
    CHECK(error_of([&] { run.save(path); }).find("is being written by another save") != std::string::npos);
    world().barrier();
  }
  run.load(path);
  run.save(path);
}

}  // namespace distributed_test
