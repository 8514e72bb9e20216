// All heads as small maps with scores: the model of the heads view.
//
// Each row holds the heads of one layer under one operator. The session decides what the rows are:
// the layers beside the open one, every layer of the file, or the operators on the open layer. The
// heads can also be listed by a score. Each row has two jobs (HeadsWork): pictures of all rows
// are computed first, then the rest. The jobs run while the view is visible and are cancelled when
// it is hidden; rows that are still wanted are kept when others change.
#pragma once

#include <QObject>
#include <QTimer>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/tree/head_scores.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/maps/map_pyramid.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

// The computation of the small maps of all heads of one layer under one operator, in jobs.
//
// A first job reads the layer and computes a picture of each head from a sample; small maps are
// complete then. A second job reads the layer again and completes the others, so that no more than
// the layers of the running jobs are in memory. Of each head, a pyramid of a few hundred cells a
// side and its scores are kept, and none of its tensors.

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
void preview_heads(const HeadsWork& work, const PoolContext& context);
void complete_heads(const HeadsWork& work, const PoolContext& context);

/// The heads of one layer under one operator.
struct HeadRow {
  std::string key;           ///< Equal keys mean equal maps.
  std::string title, error;  ///< "layer3" or "penumbral − dot".
  HeadsWork work;
  std::uint64_t revision = 0;                         ///< Revision of the results when last read.
  std::vector<std::shared_ptr<const SmallMap>> maps;  ///< [head], null until computed.
  JobHandle preview, job;

  [[nodiscard]] bool difference() const { return work.reference.has_value(); }
  /// Returns whether values have signs: of differences, or of weights below zero.
  [[nodiscard]] bool has_signs() const;
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool busy() const { return preview.active() || job.active(); }
  /// Returns the score of a head; NaN if it is not known or does not exist.
  [[nodiscard]] double score(std::size_t head, const tree::HeadScoreInfo& info) const;
};

/// The place of a head among the rows.
struct HeadAt {
  std::size_t row = 0, head = 0;
  bool operator==(const HeadAt&) const = default;
};

class HeadsModel : public QObject {
  Q_OBJECT

 public:
  explicit HeadsModel(MapsModel& maps);

  [[nodiscard]] MapsModel& maps() { return maps_; }
  /// Starts or stops the jobs when the view becomes visible or hidden.
  void set_visible(bool visible);
  [[nodiscard]] const std::vector<std::shared_ptr<HeadRow>>& rows() const { return rows_; }
  [[nodiscard]] bool busy() const;
  /// Returns whether every head of every row is complete.
  [[nodiscard]] bool complete() const;
  /// Returns how many heads are complete, and how many there are as far as is known.
  [[nodiscard]] std::pair<std::size_t, std::size_t> progress() const;

  /// Returns whether the heads are listed by their score instead of in rows.
  [[nodiscard]] bool listed() const { return choice_.heads_order != figure::head_orders[0]; }
  /// Returns all heads in the order of the session. Heads without the score are last.
  [[nodiscard]] std::vector<HeadAt> heads() const;
  /// Returns the score that the session chooses.
  [[nodiscard]] const tree::HeadScoreInfo& score_info() const;
  /// Returns the smallest and the largest value of that score.
  [[nodiscard]] figure::Limits score_limits() const;
  /// Returns the name of a head among all: "layer3, head 5"; briefly "layer3 · 5".
  [[nodiscard]] std::string name(const HeadAt& at, bool brief) const;
  /// Returns whether a pair of tokens of a row is one of the open trace.
  [[nodiscard]] bool shares_pairs(const HeadRow& row) const;

  [[nodiscard]] ColourChoice colour_choice(const HeadRow& row) const;
  /// Returns the limits over all heads if the session shares limits, otherwise those of the head.
  [[nodiscard]] figure::Limits limits(const HeadRow& row, std::size_t head) const;
  /// Returns which of the colours for zero, masked and NaN occur.
  [[nodiscard]] figure::Specials specials() const;
  /// Returns for instance "layer3, head 5: entropy 2.31, …, values from 0 to 0.92".
  [[nodiscard]] std::string about(const HeadAt& at) const;
  /// Returns a pair of tokens and its value in the small map of a head: "query 3 “dog”, key 8
  /// “cat”: 0.0123". The value is left out where cells of the map stand for several pairs, the
  /// tokens if they may be those of another text. Empty if the map has no such pair.
  [[nodiscard]] std::string value_text(const HeadAt& at, const Focus& pair) const;
  /// Returns the name of the open head: "layer3, head 5".
  [[nodiscard]] std::string open_name() const;

  /// Makes a head the one of all views. `layout` is the layout that shows it; empty: the present.
  void open(const HeadAt& at, const std::string& layout);
  /// Shows the open head as a large map beside this one, which it is compared with.
  void compare(const HeadAt& at);

  void cancel();
  void resume();
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 signals:
  void changed();

 private:
  void rebuild();
  [[nodiscard]] std::vector<std::shared_ptr<HeadRow>> wanted_rows() const;
  [[nodiscard]] std::shared_ptr<HeadRow> make_row(const std::string& group, const Call& call,
                                                  bool of_layer) const;
  void start_all();
  void start(const std::shared_ptr<HeadRow>& row, JobHandle HeadRow::*job, const char* title,
             void (*work)(const HeadsWork&, const PoolContext&));
  void poll();
  void find_shared_limits();

  MapsModel& maps_;
  std::vector<std::shared_ptr<HeadRow>> rows_;
  MapChoice choice_;
  /// Shared limits of maps without signs, and of maps with them.
  figure::Limits shared_limits_[2];
  bool visible_ = false, cancelled_ = false;
  QTimer poll_;
};

}  // namespace conelab::desktop
