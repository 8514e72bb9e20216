// Sessions on their way into files: in the background, one at a time, the newest state of a file
// last.
//
// A thread of its own, because a save must neither wait for work that computes nor be cancelled
// with it.
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
  /// Writes a state whole or not at all, and throws Error where it cannot.
  using Write = std::function<void(const SavedSession&, const QString& path)>;

  explicit SessionWriter(Write write = save_session);
  /// Writes what still waits.
  ~SessionWriter() override;

  /// Returns at once. A state that still waits for the same file is left out: the newer one says
  /// it all.
  void save(SavedSession state, const QString& path);
  /// Returns once nothing waits and nothing is being written, and all has been told.
  void finish();

 signals:
  /// Told on the thread that owns this object, in the order of the writes.
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
  /// Empty where it is written.
  [[nodiscard]] QString write_one(const Waiting& waiting) const;
  void tell();

  Write write_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;   ///< In the order of the first wish for each file.
  std::vector<Outcome> outcomes_;  ///< Not yet told.
  bool writing_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace conelab::desktop
