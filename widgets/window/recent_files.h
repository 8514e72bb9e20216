// The files that were opened last, kept from one run to the next.
#pragma once

#include <QString>
#include <QStringList>

namespace conelab::desktop {

class RecentFiles {
 public:
  /// Kept in that file, one a line; empty: nothing is kept.
  explicit RecentFiles(const QString& kept_in) : kept_in_(kept_in) {}

  /// The newest first.
  [[nodiscard]] QStringList all() const;
  /// Fails with `PATH: why` where that cannot be kept.
  void add(const QString& file);

 private:
  QString kept_in_;
};

}  // namespace conelab::desktop
