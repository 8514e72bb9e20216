// A line above maps with shared limits that says whether all of them use their colours. For maps
// that look empty it offers to change that: own limits, or the sharpness at which their attention
// is as concentrated as that of dot. It has the same height whatever it says, so that the maps keep
// their size from head to head.
#pragma once

#include <QWidget>

#include "widgets/maps/entropy_matcher.h"
#include "widgets/maps/maps_model.h"

class QLabel;
class QPushButton;

namespace conelab::desktop {

class MapNotice : public QWidget {
  Q_OBJECT

 public:
  MapNotice(MapsModel& maps, EntropyMatcher& matcher, QWidget* parent = nullptr);
  /// Shows the line where several maps share limits, if `wanted` is true.
  void set_wanted(bool wanted);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  /// Returns the panels that look empty; none while maps are computed.
  [[nodiscard]] std::vector<std::size_t> flat_panels() const;
  /// Returns how many panels have a map.
  [[nodiscard]] std::size_t map_count() const;
  /// Returns whether a map is not complete: it is being computed, or that was cancelled.
  [[nodiscard]] bool is_incomplete() const;
  [[nodiscard]] QString text_of(const std::vector<std::size_t>& flat) const;

  MapsModel& maps_;
  EntropyMatcher& matcher_;
  QLabel* text_;
  QWidget* offers_;  ///< Holds the buttons. Without them, the text has the whole line.
  QPushButton *own_, *match_;
  bool wanted_ = false;
};

}  // namespace conelab::desktop
