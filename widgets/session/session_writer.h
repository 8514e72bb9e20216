// Writes sessions to files in the background, one at a time. The newest state of a file is written
// last.
//
// It has its own thread, because saving must neither wait for computations nor be cancelled with
// them.
#pragma once

#include <QObject>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "widgets/session/session_json.h"

namespace conelab::desktop {

class SessionWriter : public QObject {
  Q_OBJECT

 public:
  /// Writes a state completely or not at all. Throws Error if it cannot.
  using Write = std::function<void(const SavedSession&, const QString& path)>;

  explicit SessionWriter(Write write = save_session);
  /// Writes everything that is still waiting.
  ~SessionWriter() override;

  /// Queues a state and returns at once. An older state that waits for the same file is dropped.
  void save(SavedSession state, const QString& path);
  /// Returns when nothing waits or is being written and everything has been reported.
  void finish();

 signals:
  /// Both are emitted on the thread of this object, in the order of the writes.
  void saved(const QString& path);
  void failed(const QString& path, const QString& message);

 private:
  struct Waiting {
    SavedSession state;
    QString path;
  };
  struct Outcome {
    QString path, error;
  };
  void loop();
  /// Returns an empty string on success, otherwise the error.
  [[nodiscard]] QString write_one(const Waiting& waiting) const;
  void report();

  Write write_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;   ///< In the order of the first request for each file.
  std::vector<Outcome> outcomes_;  ///< Results that have not been reported.
  bool writing_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace conelab::desktop
