#include "core/study/study_index.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

constexpr int index_format = 1;

}  // namespace

std::size_t StudyIndex::count(const std::string& status, const std::vector<bool>& own) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    count += jobs[i].status == status && (own.empty() || own[i]);
  }
  return count;
}

Json index_to_json(const StudyIndex& index) {
  Json json{{"format", index_format}, {"title", index.title},     {"seed", index.seed},
            {"quick", index.quick},   {"program", index.program}, {"machine", index.machine},
            {"report", index.report}, {"jobs", Json::array()}};
  for (const JobRecord& record : index.jobs) json["jobs"].push_back(record_to_json(record));
  return json;
}

StudyIndex read_index(const std::string& folder) {
  return read_json(folder + "/index.json", [&](const Json& json) {
    if (json.at("format") != index_format) {
      fail("{}/index.json: unknown format (expected {}, found {})", folder, index_format,
           json.at("format").dump());
    }
    StudyIndex index{json.at("title"),
                     json.at("seed"),
                     json.at("quick"),
                     json.at("program"),
                     json.at("machine"),
                     json.at("report"),
                     {}};
    if (index.report.contains("order")) (void)index.report["order"].get<std::vector<std::string>>();
    for (const Json& job : json.at("jobs")) index.jobs.push_back(record_from_json(job));
    return index;
  });
}

void write_index(const std::string& folder, const StudyIndex& index) {
  write_json(folder + "/index.json", index_to_json(index));
}

namespace {

struct Part {
  std::string folder, study;  ///< The folder and the text of its study.
  StudyIndex index;
};

Part read_part(const std::string& folder) {
  const ByteFile study(folder + "/study.toml");
  return {folder, study.read(0, study.size()), read_index(folder)};
}

bool same_jobs(const StudyIndex& a, const StudyIndex& b) {
  return std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(),
                    [](const JobRecord& x, const JobRecord& y) { return x.name == y.name; });
}

void check_same_study(const Part& first, const Part& other) {
  if (first.study == other.study && first.index.quick == other.index.quick &&
      same_jobs(first.index, other.index)) {
    return;
  }
  misuse("{} and {} hold different studies", first.folder, other.folder);
}

bool is_folder(const std::string& a, const std::string& b) {
  std::error_code none;
  return fs::equivalent(a, b, none);
}

void copy_results(const std::string& from, const std::string& to, const JobRecord& record) {
  if (is_folder(from, to) || find_result(to, record.key)) return;
  for (const std::string& file : record.files) {
    AtomicFile copy(to + "/" + file);
    std::error_code error;
    fs::copy_file(from + "/" + file, copy.temporary(), fs::copy_options::overwrite_existing, error);
    if (error) fail("{}/{}: {}", from, file, error.message());
    copy.commit();
  }
  write_record(to, record);
}

/// Returns the parts that hold a result of the job, in their order. One that is damaged does not
/// count, and is named among the conflicts.
std::vector<const Part*> parts_with(const std::vector<Part>& parts, std::size_t job,
                                    MergeResult& result) {
  std::vector<const Part*> found;
  for (const Part& part : parts) {
    const JobRecord& record = part.index.jobs[job];
    if (!record.done()) continue;
    if (find_result(part.folder, record.key)) {
      found.push_back(&part);
    } else {
      result.conflicts.push_back(
          fmt::format("{}: in {}, damaged or missing; left out", record.name, part.folder));
    }
  }
  return found;
}

/// Names the other parts that hold the job's result, alike or not.
void compare(const std::vector<const Part*>& found, std::size_t job, const std::string& output,
             MergeResult& result) {
  const JobRecord& kept = found.front()->index.jobs[job];
  for (std::size_t i = 1; i < found.size(); ++i) {
    const JobRecord& other = found[i]->index.jobs[job];
    const bool same = kept.key == other.key && kept.digest == other.digest;
    if (same && is_folder(found.front()->folder, output)) continue;  // It was merged before.
    (same ? result.duplicates : result.conflicts)
        .push_back(fmt::format("{}: in {} and in {}{}", kept.name, found.front()->folder,
                               found[i]->folder, same ? "" : ", which differ; the first is kept"));
  }
}

/// Returns the entry of a job that no part has finished: a failed one before the others.
const JobRecord& unfinished(const std::vector<Part>& parts, std::size_t job) {
  for (const Part& part : parts) {
    if (part.index.jobs[job].status == "failed") return part.index.jobs[job];
  }
  return parts.front().index.jobs[job];
}

}  // namespace

MergeResult merge_studies(const std::vector<std::string>& folders, const std::string& output,
                          const std::function<bool()>& cancelled) {
  std::vector<Part> parts;
  std::error_code none;
  if (fs::exists(output + "/index.json", none)) parts.push_back(read_part(output));
  for (const std::string& folder : folders) {
    if (!is_folder(folder, output)) parts.push_back(read_part(folder));
  }
  if (parts.empty()) misuse("give at least one folder of a study");
  for (const Part& part : parts) check_same_study(parts.front(), part);
  const FolderLock lock = lock_study(output);
  MergeResult result{parts.front().index, {}, {}};
  for (std::size_t i = 0; i < result.index.jobs.size(); ++i) {
    stop_if(cancelled);
    const std::vector<const Part*> found = parts_with(parts, i, result);
    result.index.jobs[i] = found.empty() ? unfinished(parts, i) : found.front()->index.jobs[i];
    if (found.empty()) {
      if (result.index.jobs[i].done()) result.index.jobs[i].status = "pending";
      continue;
    }
    copy_results(found.front()->folder, output, result.index.jobs[i]);
    compare(found, i, output, result);
  }
  write_text_atomically(output + "/study.toml", parts.front().study);
  write_index(output, result.index);
  return result;
}

}  // namespace conelab
