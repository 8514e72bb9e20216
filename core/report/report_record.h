// report.json: what a report was made from, and the digests of its files, as `conelab report
// --check` reads it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace conelab {

inline constexpr int report_format = 1;
inline constexpr const char* report_record_name = "report.json";

struct ReportRecord {
  struct Study {
    std::string folder;                          ///< As seen from the report's folder.
    std::string label;                           ///< ReportStudy::label
    std::map<std::string, std::string> digests;  ///< Of the finished jobs, by name.
  };
  std::string program;
  std::vector<Study> studies;
  std::map<std::string, std::string> numbers;  ///< Their texts by name: "0.931 ± 0.004".
  std::map<std::string, std::string> files;    ///< The SHA-256 of the other files, by path.
};

/// Reads OUTPUT/report.json. Throws a failure `OUTPUT/report.json: why` if it is missing or is not
/// the record of a report.
[[nodiscard]] ReportRecord read_report_record(const std::string& output);

}  // namespace conelab
