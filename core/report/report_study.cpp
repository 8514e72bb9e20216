#include "core/report/report_study.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/find_named.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

/// Throws a failure if a job is done without a file, or if a file lies outside of the folder.
void check_files(const std::string& folder, const JobRecord& job) {
  if (job.done() && job.files.empty()) {
    fail("{}/index.json: the job {} is done, but names no file", folder, job.name);
  }
  for (const std::string& file : job.files) {
    const fs::path path = fs::path(file).lexically_normal();
    if (!path.is_absolute() && !path.empty() && *path.begin() != "..") continue;
    fail("{}/index.json: the job {} names a file outside of the folder: {}", folder, job.name,
         file);
  }
}

std::string name_of_folder(const std::string& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

}  // namespace

TextPairs texts_of(const nlohmann::ordered_json& object) {
  TextPairs texts;
  for (const auto& [name, value] : object.items()) {
    texts.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return texts;
}

std::string ReportStudy::path(const JobRecord& job, std::size_t i) const {
  return (fs::path(folder) / job.files.at(i)).string();
}

std::vector<ReportBlock> ReportStudy::blocks() const {
  std::vector<ReportBlock> found;
  for (const JobRecord& job : jobs()) {
    if (find_named(found, job.block) == nullptr) found.push_back({job.block, job.kind});
  }
  return found;
}

std::vector<std::string> ReportStudy::order() const {
  const auto found = index.report.find("order");
  return found == index.report.end() ? std::vector<std::string>()
                                     : found->get<std::vector<std::string>>();
}

std::vector<ReportStudy> read_report_studies(const std::vector<std::string>& folders) {
  std::vector<ReportStudy> studies;
  for (const std::string& folder : folders) {
    std::string label = name_of_folder(folder);
    const auto taken = [&](const ReportStudy& other) { return other.label == label; };
    for (int n = 2; std::any_of(studies.begin(), studies.end(), taken); ++n) {
      label = fmt::format("{}-{}", name_of_folder(folder), n);
    }
    studies.push_back({folder, label, read_index(folder)});
    for (const JobRecord& job : studies.back().jobs()) check_files(folder, job);
  }
  return studies;
}

}  // namespace conelab
