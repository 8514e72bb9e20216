// A result file of `bench`, opened for reading: shared by figures and by `compare`.
#pragma once

#include <string>
#include <vector>

#include "app/labelled_view.h"
#include "core/files/bench_file.h"

namespace conelab {

struct BenchResults {
  std::string file;
  LabelledFile content;
  const LabelledArray* runtime = nullptr;

  /// Reads in a sandbox; fails where `path` holds no /bench/runtime.
  explicit BenchResults(const std::string& path);
  BenchResults(const BenchResults&) = delete;
  BenchResults& operator=(const BenchResults&) = delete;

  [[nodiscard]] std::vector<std::string> labels(const std::string& axis) const;
  /// The position of a label; misuse for an unknown one.
  [[nodiscard]] std::size_t position(const std::string& axis, const std::string& label) const;
  /// A number of /bench/runtime.
  [[nodiscard]] double number(const std::string& variable, const Place& place) const;
  /// Every round of a case.
  [[nodiscard]] std::vector<double> rounds(const std::string& variable, Place place) const;
};

/// The axes of a case, in the order of the file.
[[nodiscard]] const std::vector<std::string>& case_axes();

}  // namespace conelab
