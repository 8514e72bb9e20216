// The numbers of a study's block, each with the keys that it belongs to.
//
// A job has the values of its swept keys, and its measures: the numbers that its file states as
// attributes, and those that the study's index states of it (core/report/report_study.h); where
// both state one, that of the file counts. A benchmark has a record for each of its cases, whose
// keys are the benchmark's axes and whose measures are time and time_cold [s], flops, throughput
// [FLOP/s], peak_share, peak_bytes, extra_bytes and error, and one for each of its lines, which
// lacks the key of the length and has the measure `exponent`. A further record, without these keys,
// has the measures of the job.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/report/report_study.h"
#include "core/statistics/interval.h"
#include "core/study/job.h"

namespace conelab {

struct Record {
  std::size_t study = 0, job = 0;  ///< Indices into the report's studies and the study's jobs.
  TextPairs keys;
  std::vector<std::pair<std::string, Interval>> measures;  ///< Bounds are NaN for lone numbers.
  bool of_bench = false;
};

/// Reads the records of a block's finished jobs; `study` is its index among `studies`. Remarks if a
/// file has changed since it was written. Throws a failure if a file cannot be read.
[[nodiscard]] std::vector<Record> records_of_block(const std::vector<ReportStudy>& studies,
                                                   std::size_t study, const std::string& block,
                                                   const JobContext& context);

}  // namespace conelab
