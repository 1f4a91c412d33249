/// @file
/// Columns and rasters of a lattice that several ranks have are, on rank 0, those that one rank has; and so are the
/// files that are made of them. Started by mpiexec with 1, 2, 3, 4 and 7 ranks.

#include <dynasoar/distributed.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/columns.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/raster.h>

#include "folder.h"
#include "lattice_model.h"
#include "world.h"

namespace distributed_test {

using dynasoar::Columns;

struct Results {
  Columns walkers, beasts, all_beasts, soil;
  dynasoar::Raster<std::uint32_t> steps, ages;
};

Results alone(const Model& model) {
  return computed_alone(model, [](auto& handle, auto& lattice) {
    return Results{handle.template columns<Walker>(),
                   handle.template columns<Beast>(),
                   handle.template all_columns<Beast>(),
                   handle.template columns<Soil>(),
                   lattice.template raster_of<&Walker::steps_>(1000),
                   lattice.template raster_of<&Beast::age_, Wolf>()};
  });
}

/// The same of all ranks.
Results together(Divided& run) {
  auto& handle = run.handle();
  return {handle.gather(handle.columns<Walker>()),        handle.gather(handle.columns<Beast>()),
          handle.gather(handle.all_columns<Beast>()),     handle.gather(handle.columns<Soil>()),
          run.lattice().raster_of<&Walker::steps_>(1000), run.lattice().raster_of<&Beast::age_, Wolf>()};
}

void check_equal(const Columns& table, const Columns& expected) {
  CAPTURE(expected.name);
  CHECK(table.name == expected.name);
  REQUIRE(table.names() == expected.names());
  if (world().rank() > 0) {
    CHECK(table.rows == 0);
    return;
  }
  CHECK(table.rows == expected.rows);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    CAPTURE(table.columns[i].name);
    CHECK(table.columns[i].data == expected.columns[i].data);
    CHECK(table.columns[i].labels == expected.columns[i].labels);
  }
}

template <class V>
void check_equal(const dynasoar::Raster<V>& raster, const dynasoar::Raster<V>& expected) {
  const bool is_first = world().rank() == 0;
  CHECK(raster.width == (is_first ? expected.width : 0));
  CHECK(raster.height == (is_first ? expected.height : 0));
  CHECK(raster.values == (is_first ? expected.values : std::vector<V>{}));
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("columns and rasters on rank 0 are those of one rank") {
  std::vector<Model> models{{{100, 60}, {.halo = 6}},
                            {{100, 60}, {.periodic = {false, false, false}, .halo = 6, .divides_for_one_rank = true}},
                            {{7, 49}, {.halo = 6, .divides_for_one_rank = true}},
                            {{9, 5, 43}, {.halo = 6, .divides_for_one_rank = true}}};
  for (const std::vector<std::size_t>& list : {std::vector<std::size_t>{6, 9}, {0, 17}, {8, 0, 7}})
    models.push_back({{70, 60}, {.halo = 6, .layers = slabs(60, list), .divides_for_one_rank = true}});
  for (const Model& model : models) {
    CAPTURE(model.sizes.size());
    CAPTURE(model.sizes[0]);
    const Results expected = alone(model);
    REQUIRE(expected.walkers.rows > 10);
    REQUIRE(expected.all_beasts.rows > 10);
    Divided run(model);
    run.run();
    const Results results = together(run);
    check_equal(results.walkers, expected.walkers);
    check_equal(results.beasts, expected.beasts);
    check_equal(results.all_beasts, expected.all_beasts);
    check_equal(results.soil, expected.soil);
    check_equal(results.steps, expected.steps);
    check_equal(results.ages, expected.ages);
  }
}

TEST_CASE("files that rank 0 writes are those of one rank") {
  const Folder folder;
  const Model model{{100, 60}, {.halo = 6, .divides_for_one_rank = true}};
  const Results expected = alone(model);
  Divided run(model);
  run.run();
  const Results results = together(run);
  if (world().rank() > 0) return;
  const auto write = [&](const std::string& name, const Results& written) {
    dynasoar::write_csv(folder.file(name + ".csv"), written.all_beasts);
    dynasoar::write_vtp(folder.file(name + ".vtp"), written.walkers);
    dynasoar::write_csv(folder.file(name + ".raster"), written.steps);
  };
  write("one", expected);
  write("several", results);
  for (const char* const kind : {".csv", ".vtp", ".raster"}) {
    CAPTURE(kind);
    CHECK(contents(folder.file("several") + kind).size() > 1000);
    CHECK(contents(folder.file("several") + kind) == contents(folder.file("one") + kind));
  }
}

TEST_CASE("each rank may write a part, and rank 0 an index") {
  const Folder folder;
  Divided run({{100, 60}, {.halo = 6, .divides_for_one_rank = true}});
  const Columns own = run.handle().columns<Walker>();
  const std::string name = "walkers." + std::to_string(world().rank()) + ".vtp";
  dynasoar::write_vtp(folder.file(name), own);
  CHECK(own.rows == run.handle().local().count<Walker>());
  if (world().rank() > 0) return;
  std::vector<std::string> parts;
  for (int rank = 0; rank < world().size(); ++rank) parts.push_back("walkers." + std::to_string(rank) + ".vtp");
  dynasoar::write_pvtp(folder.file("walkers & others.pvtp"), parts, own);
  const std::string index = contents(folder.file("walkers & others.pvtp"));
  CHECK(index.find("<VTKFile type=\"PPolyData\"") != std::string::npos);
  for (const char* const line : {"<PDataArray type=\"Int64\" Name=\"id\" NumberOfComponents=\"1\"/>",
                                 "<PDataArray type=\"UInt8\" Name=\"wish_\" NumberOfComponents=\"1\"/>",
                                 "<PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>"})
    CHECK(index.find(line) != std::string::npos);
  for (const std::string& part : parts) CHECK(index.find("<Piece Source=\"" + part + "\"/>") != std::string::npos);
}

TEST_CASE("tables that do not belong together are refused on all ranks") {
  Divided run({{100, 60}, {.halo = 6, .divides_for_one_rank = true}});
  auto& handle = run.handle();
  Columns table = handle.columns<Walker>();
  const int last = world().size() - 1;
  if (world().rank() == last) table.columns.back().name = "other_";
  if (last > 0)
    CHECK(error_of([&] { static_cast<void>(handle.gather(table)); }).find("the columns") != std::string::npos);
  table.columns.back().name = "wish_";
  table.columns.back().data.resize(3);
  const std::string error = error_of([&] { static_cast<void>(handle.gather(table)); });
  CHECK(error.find("the column 'wish_'") != std::string::npos);
  CHECK(error.find("but the table has") != std::string::npos);
}

}  // namespace distributed_test
