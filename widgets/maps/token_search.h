// The search for tokens of the maps: a field for part of a token, whose matches are gone through by
// Enter and Shift+Enter.
#pragma once

#include <QWidget>
#include <vector>

#include "widgets/maps/maps_model.h"

class QLabel;
class QLineEdit;

namespace conelab::desktop {

/// Returns the pairs that mark the tokens whose text contains `part`, ignoring case. In a sequence
/// that attends to itself this is the pair of each token with itself. Otherwise the pairs of the
/// keys with the query of `locked` come first, then those of the queries with its key.
[[nodiscard]] std::vector<Focus> token_matches(const MapTokens& tokens, const QString& part,
                                               const std::optional<Focus>& locked);

class TokenSearch : public QWidget {
  Q_OBJECT

 public:
  explicit TokenSearch(MapsModel& maps, QWidget* parent = nullptr);
  /// Gives the field the keyboard focus.
  void begin();

 signals:
  /// A match has been locked; views show it.
  void found(const conelab::desktop::Focus& pair);
  /// The user has finished.
  void left();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void go(int steps);
  void show_count();

  MapsModel& maps_;
  QLineEdit* field_;
  QLabel* count_;
  int at_ = -1;  ///< The match that was selected last; −1: none.
};

}  // namespace conelab::desktop
