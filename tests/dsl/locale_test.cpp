// What is written to files, and compared with them, does not depend on the program's locale.
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/columns.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/statistics.h>
#include <dynasoar/write_hdf5.h>

#include "../platform/foreign_locale.h"
#include "../platform/thrown.h"
#include "make_in_order.h"
#include "test_folder.h"

namespace locale_test {

using namespace dynasoar::test;

class Cell;
using AllocatorT = dynasoar::SoaAllocator<Cell>;
using Handle = dynasoar::AllocatorHandle<AllocatorT>;
class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (age_, std::int32_t), (energy_, float), (weight_, double))
  __device__ explicit Cell(std::size_t number)
      : age_(static_cast<std::int32_t>(number)),
        energy_(static_cast<float>(number) / 8),
        weight_(static_cast<double>(number) * 1000.5) {}
};

/// What a heap that is full says: how many objects it refused, several threads may settle.
std::string refusals() {
  Handle handle({.heap_bytes = 1 << 17, .threads = 1});
  const std::string text = message_of<dynasoar::Error>([&] {
    handle.parallel_new<Cell>(11000);
    handle.synchronize();
  });
  return text.substr(text.rfind(" ("));
}

/// All that the library writes, by what it is.
std::map<std::string, std::string> all_texts(Handle& handle, const TestFolder& folder, const std::string& checkpoint) {
  std::map<std::string, std::string> texts;
  std::uint64_t step = 1234567;
  handle.save(checkpoint, dynasoar::value("step", step));
  const std::string saved = contents_of(checkpoint);
  texts["classes"] = saved.substr(saved.find("pages of "), 100);
  const dynasoar::Statistics statistics = handle.statistics();
  texts["statistics as JSON"] = to_json(statistics);
  std::ostringstream table;
  table << statistics;
  texts["statistics as a table"] = table.str();
  dynasoar::FieldAccesses accesses;
  accesses.fields.push_back({"loop", "Cell", "age_", 1234567, 7654321, 1111111});
  texts["accesses as JSON"] = to_json(accesses);
  std::ostringstream access_table;
  access_table << accesses;
  texts["accesses as a table"] = access_table.str();
  dynasoar::layout_svg<AllocatorT>(folder / "a.svg");
  texts["layout"] = contents_of(folder / "a.svg");
  dynasoar::heap_svg(handle, folder / "a.svg");
  texts["heap"] = contents_of(folder / "a.svg");
  const dynasoar::Columns cells = handle.columns<Cell>();
  dynasoar::write_csv(folder / "a.csv", cells);
  texts["CSV"] = contents_of(folder / "a.csv");
  dynasoar::write_vtp(folder / "a.vtp", cells, {.x = "energy_", .y = "weight_", .z = "", .time = 1234.5});
  texts["VTK"] = contents_of(folder / "a.vtp");
  if (dynasoar::detail::kHasHdf5) {  // which has times in it
    dynasoar::write_hdf5(folder / "a.h5", cells, 1234567);
    texts["HDF5"] = std::to_string(contents_of(folder / "a.h5").size());
  }
  texts["error"] = message_of<dynasoar::Error>([&] { handle.compact<Cell>({.above = 1.5}); });
  return texts;
}

TEST_CASE("files, tables and messages are the same whatever the locale is, and checkpoints load in all of them") {
  const TestFolder folder;
  const std::string refused = refusals();
  CHECK(refused.find(".0% used") != std::string::npos);
  {
    Handle handle({.heap_bytes = 1 << 17, .threads = 1});
    handle.parallel_for(1, MakeInOrder<Cell>{3000});  // so that the heap is the same each time
    const std::map<std::string, std::string> expected = all_texts(handle, folder, folder / "c.checkpoint");
    CHECK(expected.at("error").find("1.5") != std::string::npos);
    const ForeignLocale locale;
    for (const auto& written : all_texts(handle, folder, folder / "foreign.checkpoint")) {
      CAPTURE(written.first);
      CHECK(written.second == expected.at(written.first));
    }
  }
  const auto load = [](const std::string& path) {
    Handle handle({.heap_bytes = 1 << 17, .threads = 1});
    std::uint64_t step = 0;
    handle.load(path, dynasoar::value("step", step));
    CHECK(step == 1234567);
    CHECK(handle.count<Cell>() == 3000);
    step = 0;
    dynasoar::load_values(path, dynasoar::value("step", step));
    CHECK(step == 1234567);
  };
  {
    const ForeignLocale locale;
    CHECK(refusals() == refused);
    load(folder / "c.checkpoint");
    load(folder / "foreign.checkpoint");
  }
  load(folder / "foreign.checkpoint");
}

}  // namespace locale_test
