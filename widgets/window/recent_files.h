// The files that were opened last; they are stored between runs.
#pragma once

#include <QString>
#include <QStringList>

namespace conelab::desktop {

class RecentFiles {
 public:
  /// Stores the list in this file, one name per line; if empty, nothing is stored.
  explicit RecentFiles(const QString& kept_in) : kept_in_(kept_in) {}

  /// Returns the files, the newest first.
  [[nodiscard]] QStringList all() const;
  /// Adds a file. Throws a failure `PATH: why` if the list cannot be stored.
  void add(const QString& file);

 private:
  QString kept_in_;
};

}  // namespace conelab::desktop
