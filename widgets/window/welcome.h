// The first page: the shipped trace, three guided examples, recent files.
#pragma once

#include <QStringList>
#include <QWidget>
#include <string>

#include "widgets/session/session.h"

class QVBoxLayout;

namespace conelab::desktop {

/// A guided example: its description, and the session that shows it.
struct Example {
  const char* title;
  const char* about;
  Session session;
};
/// Returns three examples with the shipped trace.
[[nodiscard]] std::vector<Example> examples(const std::string& shipped_trace);

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
