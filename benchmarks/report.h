/// @file
/// Report: collects measurements, prints them as a table for people and writes them as JSON for machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace benchmarks {

/// How much is measured.
struct Settings {
  int repetitions = 9;  ///< counted runs
  int warm_up = 2;      ///< runs before them
  bool small = false;   ///< sizes for a quick look on a CPU instead of those that are published
  std::string turing_machine = "apps/life/patterns/turing_machine.rle";  ///< file with the game of life's start
};

/// One metric of one variant at one setting of its parameters.
struct Record {
  std::string benchmark;
  std::string variant;
  std::map<std::string, std::int64_t> parameters;
  std::string metric;
  std::string unit;
  std::vector<double> values;  ///< one per repetition

  double median() const;
  double minimum() const;
  double maximum() const;
};

class Report {
 public:
  /// @param commit   what was measured
  explicit Report(std::string commit) : commit_(std::move(commit)) {}

  /// Adds a record and prints its line. In checked builds the benchmark's name gets "checked " in front.
  void add(Record record);

  /// Writes what all records have in common and then a line for each record, with four significant digits; see
  /// scripts/benchmark_results.py. @throws std::runtime_error if the file cannot be written
  void write_json(const std::string& path) const;

 private:
  std::string commit_;
  std::vector<Record> records_;
};

// The benchmarks; each lives in the file of its name, those of polymorphism and FLAME GPU's models in their folders,
// those of the applications in applications.cpp.
void run_field_loop(Report& report, const Settings& settings);
void run_sparse_loop(Report& report, const Settings& settings);
void run_neighbour_loop(Report& report, const Settings& settings);
void run_allocation(Report& report, const Settings& settings);
void run_mixed_allocation(Report& report, const Settings& settings);
void run_request_shapes(Report& report, const Settings& settings);
void run_waves(Report& report, const Settings& settings);
void run_scale(Report& report, const Settings& settings);
void run_compaction(Report& report, const Settings& settings);
void run_sort(Report& report, const Settings& settings);
void run_become(Report& report, const Settings& settings);
void run_geometry(Report& report, const Settings& settings);
void run_full_heap(Report& report, const Settings& settings);
void run_growth(Report& report, const Settings& settings);
void run_checkpoint(Report& report, const Settings& settings);
void run_dispatch(Report& report, const Settings& settings);
void run_polymorphism(Report& report, const Settings& settings);
void run_flame_gpu(Report& report, const Settings& settings);
void run_host_loop(Report& report, const Settings& settings);
void run_host_threads(Report& report, const Settings& settings);
void run_host_lattices(Report& report, const Settings& settings);
void run_empty_loop(Report& report, const Settings& settings);
void run_wa_tor(Report& report, const Settings& settings);
void run_wa_tor_compaction(Report& report, const Settings& settings);
void run_n_body(Report& report, const Settings& settings);
void run_collision(Report& report, const Settings& settings);
void run_game_of_life(Report& report, const Settings& settings);
void run_life_soups(Report& report, const Settings& settings);
void run_generation(Report& report, const Settings& settings);
void run_structure(Report& report, const Settings& settings);
void run_sugarscape(Report& report, const Settings& settings);
void run_traffic(Report& report, const Settings& settings);
void run_schelling(Report& report, const Settings& settings);
void run_flocking(Report& report, const Settings& settings);
void run_ants(Report& report, const Settings& settings);
void run_epidemic(Report& report, const Settings& settings);
void run_tumour(Report& report, const Settings& settings);
void run_forest_fire(Report& report, const Settings& settings);
void run_small_models(Report& report, const Settings& settings);
void run_picture(Report& report, const Settings& settings);

/// What the loops run on: the name of the GPU or processor. In device.cpp, which sees the backend.
std::string device_name();
bool device_available();
bool cuda_backend();
bool checked_build();

/// Bytes of free memory that the loops can use.
std::size_t free_memory_bytes();

/// Makes the heap of the CUDA Toolkit's `malloc` an eighth of the GPU's memory, for the process: once it is in use it
/// cannot become larger. Does nothing on the host, and when it is called again.
/// @throws Error if a kernel has used that heap before
void enlarge_toolkit_heap();

}  // namespace benchmarks
