// The menu of a map: its values to copy, the picture, and the choices that concern this operator.
#pragma once

#include <QMenu>

#include "widgets/maps/entropy_matcher.h"
#include "widgets/maps/maps_model.h"

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

 private:
  void add_values(const std::shared_ptr<MapPanel>& panel, const Focus& cell);
  void add_command(std::size_t index, const Focus& cell);
  void add_choices(std::size_t index);

  MapsModel& maps_;
  EntropyMatcher& matcher_;
};

/// Returns where the file that `conelab attend` writes contains a cell:
/// "/attention/weights/weight[0, 5, 3, 8]". For merged words it says from which numbers the cell is
/// computed.
[[nodiscard]] QString number_of_cell(const Session& session, const MapTokens& tokens,
                                     const Focus& cell);

}  // namespace conelab::desktop
