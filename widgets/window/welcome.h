// The first page: the guided examples with the shipped trace, recent files.
#pragma once

#include <QStringList>
#include <QWidget>
#include <string>

class QVBoxLayout;

namespace conelab::desktop {

class Welcome : public QWidget {
  Q_OBJECT

 public:
  explicit Welcome(const std::string& shipped_trace, QWidget* parent = nullptr);
  void show_recent(const QStringList& files);

 signals:
  void example_wanted(int index);
  void file_wanted(const QString& file);
  void open_wanted();

 private:
  QVBoxLayout* recent_;
  QStringList files_;  ///< The files that `recent_` shows.
};

}  // namespace conelab::desktop
