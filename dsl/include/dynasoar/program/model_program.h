/// @file
/// ModelProgram: a program with a table of implementations, among which --variant and --baseline choose; one is enough.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/program/options.h>
#include <dynasoar/program/program.h>

namespace dynasoar::program {

/// A row of the log from what a simulation counted with CountHistory, or from a row.
template <class Record>
Row row_of_record(const Record& record) {
  if constexpr (std::is_same_v<Record, Row>) {
    return record;
  } else {
    return Row(std::begin(record.of), std::end(record.of));
  }
}

/// @tparam SimulationT   the model's Simulation; `take_history()` returns what `record()` noted
/// @tparam ParametersT   the model's parameters, derived from RunParameters
/// @tparam Base          Program, or a class that is derived from it
template <class SimulationT, class ParametersT, class Base = Program>
class ModelProgram : public Base {
 public:
  using Make = std::function<std::unique_ptr<SimulationT>(const ParametersT&)>;
  using Record = typename decltype(std::declval<SimulationT&>().take_history())::value_type;

  /// @param name    value of --variant or --baseline
  /// @param label   what the first line of the output calls it
  struct Implementation {
    std::string name;
    std::string label;
    Make make;
  };

  std::vector<std::string> variants() const final { return names_of(variants_); }
  std::vector<std::string> baselines() const final { return names_of(baselines_); }

  std::string implementation(const RunOptions& options) const final { return chosen(options).label; }

  SimulationT& start(const RunOptions& options) override {
    static_cast<RunParameters&>(parameters_) = options;
    simulation_ = make(chosen(options).make);
    return *simulation_;
  }

  std::vector<Row> take_history() final {
    std::vector<Row> rows;
    for (const Record& record : simulation_->take_history()) rows.push_back(row_of_(record));
    return rows;
  }

 protected:
  /// A program with one implementation: SimulationT, made from the parameters.
  explicit ModelProgram(Description description) requires std::is_constructible_v<SimulationT, const ParametersT&>
      : ModelProgram(std::move(description), {{"objects", "objects", [](const ParametersT& parameters) {
                                                 return std::make_unique<SimulationT>(parameters);
                                               }}}) {}

  /// @param variants   the first is the default, unless the description has another
  /// @param row_of     the values of the description's columns
  ModelProgram(Description description, std::vector<Implementation> variants,
               std::vector<Implementation> baselines = {}, Row (*row_of)(const Record&) = row_of_record<Record>)
      : Base(std::move(description)),
        variants_(std::move(variants)),
        baselines_(std::move(baselines)),
        row_of_(row_of) {}

  /// The baselines that all models have.
  static std::vector<Implementation> baselines_of(Make soa, Make aos, Make reference,
                                                  std::string reference_label = "sequential reference") {
    return {{"soa", "structure-of-arrays baseline", std::move(soa)},
            {"aos", "array-of-structures baseline", std::move(aos)},
            {"reference", std::move(reference_label), std::move(reference)}};
  }

  virtual std::unique_ptr<SimulationT> make(const Make& make) { return make(parameters_); }

  ParametersT& parameters() { return parameters_; }
  const ParametersT& parameters() const { return parameters_; }
  SimulationT& simulation() { return *simulation_; }

 private:
  static std::vector<std::string> names_of(const std::vector<Implementation>& implementations) {
    std::vector<std::string> names;
    for (const Implementation& one : implementations) names.push_back(one.name);
    return names;
  }

  const Implementation& chosen(const RunOptions& options) const {
    for (const Implementation& baseline : baselines_) {
      if (baseline.name == options.baseline) return baseline;
    }
    for (const Implementation& variant : variants_) {
      if (variant.name == options.variant) return variant;
    }
    return variants_.front();
  }

  std::vector<Implementation> variants_;
  std::vector<Implementation> baselines_;
  Row (*row_of_)(const Record&);
  ParametersT parameters_;
  std::unique_ptr<SimulationT> simulation_;
};

}  // namespace dynasoar::program
