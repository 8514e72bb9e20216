// The steps of a guided example. Each is marked when it has been done, and the next one is shown.
// The answer follows the last one.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "widgets/session/document.h"

class QLabel;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace conelab::desktop {

// The guided examples: a question about the shipped trace, the session in which it is answered, and
// the steps that lead to the answer.

/// What a step looks at to see whether it has been done.
struct GuideView {
  const Document& document;
  bool flipped = false;  ///< Whether every map shows the reference.
};

/// One step of an example: what to do, and whether it has been done.
struct GuideStep {
  const char* text;
  std::function<bool(const GuideView&)> done;
};

struct Example {
  const char* title;
  const char* question;
  Session session;
  std::vector<GuideStep> steps;
  const char* answer;
};

/// Returns the examples with the shipped trace and the trained heads beside it.
[[nodiscard]] std::vector<Example> examples(const std::string& shipped_trace);

class Guide : public QWidget {
  Q_OBJECT

 public:
  explicit Guide(Document& document);

  /// Says whether every map shows the reference.
  void set_flipped(bool flipped);
  /// Shows the first step of an example, whose session is open.
  void start(const Example& example);
  /// Returns how many steps have been done.
  [[nodiscard]] std::size_t done() const { return done_; }
  [[nodiscard]] bool finished() const { return done_ == example_.steps.size(); }

 signals:
  void closed();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void check_steps();
  void show_steps();
  void show_current();

  Document& document_;
  bool flipped_ = false;
  Example example_;
  std::size_t done_ = 0;
  QScrollArea* scroll_;
  QLabel *question_, *answer_;
  QVBoxLayout* list_;
  std::vector<QLabel*> steps_;
};

// The first page: the guided examples with the shipped trace, recent files.

class Welcome : public QWidget {
  Q_OBJECT

 public:
  explicit Welcome(const std::string& shipped_trace);
  void show_recent(const QStringList& files);

 signals:
  void example_wanted(int index);
  void file_wanted(const QString& file);
  void open_wanted();

 private:
  QVBoxLayout* recent_;
};

}  // namespace conelab::desktop
