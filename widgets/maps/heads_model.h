// The maps of all heads of a layer under every operator, small: what the heads view shows, without
// a window.
//
// One job an operator goes through its heads: first a sample of each where maps are large, then the
// whole pass. Of each head a pyramid of at most 256 cells a side is kept and nothing of its
// tensors. Work begins when the view is looked at and ends, cancelled, when it no longer is.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

/// What a job has finished; any thread may read and write.
class HeadShelf {
 public:
  explicit HeadShelf(std::size_t heads) : pyramids_(heads) {}
  void put(std::size_t head, std::shared_ptr<const MapPyramid> pyramid);
  [[nodiscard]] std::shared_ptr<const MapPyramid> get(std::size_t head) const;
  /// Counts what was put.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const MapPyramid>> pyramids_;
  std::atomic<std::uint64_t> revision_{0};
};

/// One operator: a small map of each head.
struct HeadRow {
  std::string title, error;
  bool difference = false;
  std::shared_ptr<HeadShelf> shelf;
  std::uint64_t revision = 0;                               ///< Of the shelf, as last looked at.
  std::vector<std::shared_ptr<const MapPyramid>> pyramids;  ///< [head], null until it is there.
  std::vector<MapSummary> summaries;                        ///< [head]
  JobHandle job;
};

class HeadsModel : public QObject {
  Q_OBJECT

 public:
  explicit HeadsModel(MapsModel& maps, QObject* parent = nullptr);

  [[nodiscard]] MapsModel& maps() { return maps_; }
  /// The view is looked at, or no longer.
  void look(bool looked_at);
  [[nodiscard]] const std::vector<std::shared_ptr<HeadRow>>& rows() const { return rows_; }
  [[nodiscard]] std::size_t heads() const;
  [[nodiscard]] bool busy() const;
  /// Every head of every operator is exact.
  [[nodiscard]] bool complete() const;

  [[nodiscard]] ColourChoice colour_choice(const HeadRow& row) const;
  /// Of all heads and operators where the session shares limits, else of the head alone.
  [[nodiscard]] figure::Limits limits(const HeadRow& row, std::size_t head) const;
  /// Which of the colours for zero, masked and NaN some head uses.
  [[nodiscard]] figure::Specials specials() const;
  /// "penumbral, head 3: mean entropy 2.31 nats, largest weight 0.92"
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
  std::shared_ptr<const Trace> trace_;  ///< What the rows are of.
  std::int64_t batch_ = 0;
  std::string device_;
  MapChoice choice_;
  bool looked_at_ = false, cancelled_ = false;
  QTimer poll_;
};

}  // namespace conelab::desktop
