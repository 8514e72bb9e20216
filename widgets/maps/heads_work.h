// The computation of the small maps of all heads of one layer under one operator, in jobs.
//
// A first job reads the layer and computes a picture of each head from a sample; small maps are
// complete then. A second job reads the layer again and completes the others, so that no more than
// the layers of the running jobs are in memory. Of each head, a pyramid of a few hundred cells a
// side and its scores are kept, and none of its tensors.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/tree/head_scores.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/maps/map_pyramid.h"

namespace conelab::desktop {

/// The small map of one head.
struct SmallMap {
  std::shared_ptr<const MapPyramid> pyramid;
  MapSummary summary;  ///< Its sample is thinned, and it has no entropies and column sums.
  /// The scores of the attention weights. Absent in a preview, and for stored maps that are not
  /// weights.
  std::optional<tree::HeadScores> scores;
  [[nodiscard]] bool complete() const { return pyramid->complete(); }
};

/// The results of the jobs of one layer. Any thread may read and write.
class HeadResults {
 public:
  /// States the number of heads and their size, unless that was done.
  void begin(std::size_t heads, std::int64_t queries, std::int64_t keys);
  void put(std::size_t head, std::shared_ptr<const SmallMap> map);
  /// Returns the small maps of all heads, null until computed; empty before `begin`.
  [[nodiscard]] std::vector<std::shared_ptr<const SmallMap>> maps() const;
  [[nodiscard]] std::int64_t queries() const { return queries_; }
  [[nodiscard]] std::int64_t keys() const { return keys_; }
  /// Returns a number that grows with each change.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const SmallMap>> maps_;
  std::atomic<std::int64_t> queries_{0}, keys_{0};
  std::atomic<std::uint64_t> revision_{0};
};

/// What the jobs of one layer need, independent of the window.
struct HeadsWork {
  std::string file, group;
  ArrayNames arrays;                  ///< The names of q, k and v in the file.
  std::shared_ptr<const Trace> open;  ///< The trace, if it is in memory; otherwise it is read.
  std::int64_t batch = 0;
  Call call;
  std::optional<Call> reference;
  Map2d quantity = Map2d::weights;
  bool excludes = false;  ///< Whether special tokens have no part in maps and scores.
  Backend* device = nullptr;
  std::int64_t largest_side = 256;  ///< The largest number of cells along a side of a stored map.
  std::shared_ptr<HeadResults> results;
};

/// Compute the heads that have no picture yet, and those that are not complete.
void preview_heads(const HeadsWork& work, const JobContext& context);
void complete_heads(const HeadsWork& work, const JobContext& context);

}  // namespace conelab::desktop
