// The choice of what the maps are compared with: a layer of this or another file, and one head of
// it, the mean or the maximum of its heads, or its rollout.
#pragma once

#include <QComboBox>
#include <QWidget>

#include "widgets/trace/second_trace.h"

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
  CompareTools(Workspace& workspace, SecondTrace& second, QWidget* parent = nullptr);

 private:
  void refill();
  void add_layers(const std::string& file, const std::vector<std::string>& groups);
  void choose_layer(int entry);
  void choose_head(int entry);
  void open_file();

  Workspace& workspace_;
  SecondTrace& second_;
  QComboBox *layer_, *head_;
};

}  // namespace conelab::desktop
