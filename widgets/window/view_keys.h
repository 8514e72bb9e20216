// The keys of the views, which work wherever the keyboard focus is: they move the pair of tokens,
// choose layers and heads, show the reference and fit the views. They are actions, so that the
// palette and the list of shortcuts name them.
//
// Fields for text keep all their keys. Lists, choices, sliders and tables keep arrows and pages,
// unless the pointer is over the maps.
#pragma once

#include <QAction>
#include <QObject>
#include <functional>

class QWidget;

namespace conelab::desktop {

class ExplorerView;
class MapsView;
class Workspace;

class ViewKeys : public QObject {
  Q_OBJECT

 public:
  ViewKeys(Workspace& workspace, MapsView& maps, ExplorerView& explorer, QObject* parent);

  struct Key {
    QString text;
    QKeySequence keys;
    std::function<void()> run;
  };
  [[nodiscard]] QList<Key> keys();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void move_pair_by(int queries, int columns);
  void step_head(int step);
  void choose_next_reference();
  void fit();
  [[nodiscard]] bool is_under_pointer(const QWidget& view) const;
  [[nodiscard]] bool keeps(const QObject* focus, int key) const;

  Workspace& workspace_;
  MapsView& maps_;
  ExplorerView& explorer_;
};

}  // namespace conelab::desktop
