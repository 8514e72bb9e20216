// The small maps of all heads of a layer under every operator: the model of the heads view.
//
// One job per operator computes its heads: for large maps first a sample of each head, then the
// complete pass. Of each head, a pyramid of at most 256 cells a side is kept, and none of its
// tensors. The jobs run while the view is visible and are cancelled when it is hidden.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

/// The results of a job. Any thread may read and write.
class HeadResults {
 public:
  explicit HeadResults(std::size_t heads) : pyramids_(heads) {}
  void put(std::size_t head, std::shared_ptr<const MapPyramid> pyramid);
  [[nodiscard]] std::shared_ptr<const MapPyramid> get(std::size_t head) const;
  /// Returns how many results have been stored.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const MapPyramid>> pyramids_;
  std::atomic<std::uint64_t> revision_{0};
};

/// One operator, with a small map of each head.
struct HeadRow {
  std::string title, error;
  bool difference = false;
  std::shared_ptr<HeadResults> results;
  std::uint64_t revision = 0;  ///< Revision of `results` when last read.
  std::vector<std::shared_ptr<const MapPyramid>> pyramids;  ///< [head], null until computed.
  std::vector<MapSummary> summaries;                        ///< [head]
  JobHandle job;
};

class HeadsModel : public QObject {
  Q_OBJECT

 public:
  explicit HeadsModel(MapsModel& maps, QObject* parent = nullptr);

  [[nodiscard]] MapsModel& maps() { return maps_; }
  /// Starts or stops the jobs when the view becomes visible or hidden.
  void look(bool looked_at);
  [[nodiscard]] const std::vector<std::shared_ptr<HeadRow>>& rows() const { return rows_; }
  [[nodiscard]] std::size_t heads() const;
  [[nodiscard]] bool busy() const;
  /// Returns whether every head of every operator is exact.
  [[nodiscard]] bool complete() const;

  [[nodiscard]] ColourChoice colour_choice(const HeadRow& row) const;
  /// Returns the limits over all heads and operators if the session shares limits, otherwise those
  /// of the head.
  [[nodiscard]] figure::Limits limits(const HeadRow& row, std::size_t head) const;
  /// Returns which of the colours for zero, masked and NaN occur.
  [[nodiscard]] figure::Specials specials() const;
  /// Returns for instance "penumbral, head 3: mean entropy 2.31 nats, largest weight 0.92".
  [[nodiscard]] std::string about(std::size_t row, std::size_t head) const;

  void cancel();
  void resume();
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 signals:
  void changed();

 private:
  void rebuild();
  void start(const std::shared_ptr<HeadRow>& row, const Call& call, const Call* reference);
  void poll();

  MapsModel& maps_;
  std::vector<std::shared_ptr<HeadRow>> rows_;
  std::shared_ptr<const Trace> trace_;  ///< The trace of the rows.
  std::int64_t batch_ = 0;
  std::string device_;
  MapChoice choice_;
  bool looked_at_ = false, cancelled_ = false;
  QTimer poll_;
};

}  // namespace conelab::desktop
