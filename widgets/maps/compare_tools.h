// The choice of what the maps are compared with: a layer of this or another file, and one head of
// it, the mean or the maximum of its heads, or its rollout.
#pragma once

#include <QComboBox>
#include <QWidget>
#include <vector>

#include "widgets/maps/maps_model.h"
#include "widgets/trace/second_trace.h"

class QLabel;
class QLineEdit;

namespace conelab::desktop {

/// Fills a box with the heads of a layer, followed by what joins heads: "head 0", …, "mean",
/// "maximum", "rollout". Without heads, it is empty.
void fill_heads(QComboBox& box, std::int64_t heads);
/// Selects the entry of a head or of a join.
void show_head(QComboBox& box, std::int64_t head, const std::string& join);
/// Sets the head or the join of an entry; a join leaves the head as it is.
void take_head(const QComboBox& box, int entry, std::int64_t& head, std::string& join);

class CompareTools : public QWidget {
  Q_OBJECT

 public:
  CompareTools(Workspace& workspace, SecondTrace& second);

 private:
  void refill();
  void add_layer(const QString& text, const std::string& file, const std::string& group);
  void add_layers(const std::string& file, const std::vector<std::string>& groups);
  void choose_layer(int entry);
  void choose_head(int entry);
  void open_file();

  Workspace& workspace_;
  SecondTrace& second_;
  QComboBox *layer_, *head_;
};

// The search for tokens of the maps: a field for part of a token, whose matches are gone through by
// Enter and Shift+Enter.

/// Returns the pairs that mark the tokens whose text contains `part`, ignoring case. In a sequence
/// that attends to itself this is the pair of each token with itself. Otherwise the pairs of the
/// keys with the query of `locked` come first, then those of the queries with its key.
[[nodiscard]] std::vector<Focus> token_matches(const MapTokens& tokens, const QString& part,
                                               const std::optional<Focus>& locked);

class TokenSearch : public QWidget {
  Q_OBJECT

 public:
  explicit TokenSearch(MapsModel& maps);
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
