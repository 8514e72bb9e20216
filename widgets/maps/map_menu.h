// The menu of a map: its values to copy, the picture, and the choices that concern this operator.
#pragma once

#include <QMenu>
#include <QWidget>

#include "widgets/maps/entropy_matcher.h"
#include "widgets/maps/maps_model.h"

class QLabel;
class QPushButton;

namespace conelab::desktop {

class MapMenu : public QMenu {
  Q_OBJECT

 public:
  /// The menu of a panel, at a cell or outside the matrix. It deletes itself when it is closed.
  MapMenu(MapsModel& maps, EntropyMatcher& matcher, std::size_t panel,
          const std::optional<Focus>& cell, QWidget* parent);

 signals:
  /// The commands that compute the matrices of these calls are wanted, with a note that says which
  /// number of the results is the cell.
  void commands_wanted(const std::vector<conelab::Call>& calls, const QString& note);
  void picture_wanted();
  /// A cell was chosen among the largest of its row.
  void cell_chosen(const conelab::desktop::Focus& cell);

 private:
  void add_values(const std::shared_ptr<MapPanel>& panel, const Focus& cell);
  void add_command(std::size_t index, const Focus& cell);
  void add_choices(std::size_t index);

  MapsModel& maps_;
  EntropyMatcher& matcher_;
};

/// Adds the largest keys of a row of the panel to a menu, under their title. `choose` gets the
/// cell.
void add_largest_keys(QMenu& menu, const MapPanel& panel, std::int64_t query,
                      const std::function<void(const Focus&)>& choose);

/// Returns where the file that `conelab attend` writes contains a cell:
/// "/attention/weights/weight[0, 5, 3, 8]". For merged words it says from which numbers the cell is
/// computed.
[[nodiscard]] QString number_of_cell(const Session& session, const MapTokens& tokens,
                                     const Focus& cell);

// A line above maps with shared limits that says whether all of them use their colours. For maps
// that look empty it offers to change that: own limits, or the sharpness at which their attention
// is as concentrated as that of dot. It has the same height whatever it says, so that the maps keep
// their size from head to head.

class MapNotice : public QWidget {
  Q_OBJECT

 public:
  MapNotice(MapsModel& maps, EntropyMatcher& matcher);
  /// Shows the line where several maps share limits, if `wanted` is true.
  void set_wanted(bool wanted);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  /// Returns the panels that look empty; none while maps are computed.
  [[nodiscard]] std::vector<std::size_t> flat_panels() const;
  [[nodiscard]] QString text_of(const std::vector<std::size_t>& flat) const;

  MapsModel& maps_;
  EntropyMatcher& matcher_;
  QLabel* text_;
  QWidget* offers_;  ///< Holds the buttons. Without them, the text has the whole line.
  QPushButton *own_, *match_;
  bool wanted_ = false;
};

}  // namespace conelab::desktop
