// The job `tree`: ancestor order, dendrogram and segmentation of the tokens of every head.
#pragma once

#include <string>
#include <vector>

#include "core/study/attend_job.h"
#include "core/tree/tree_file.h"

namespace conelab {

struct TreeJob {
  /// Its input, output, call, key_lengths and threads count; the call must be a similarity.
  AttendJob attend;
  std::string tokens = "key";  ///< Whose tokens become the tree: "key" or "query".
};

struct TreeResult {
  std::vector<tree::HeadTree> trees;  ///< [batch × head]
  tree::TreeLabels labels;
  std::string spec;  ///< The job as JSON, with every default of the call written out.
};

/// Reads the input, computes the trees in float64 and writes them whole or not at all. Throws as
/// `run_attend` does, and misuse for a structured operator.
[[nodiscard]] TreeResult run_tree(const TreeJob& job, const JobContext& context);

}  // namespace conelab
