#include "widgets/window/recent_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "core/files/atomic_file.h"

namespace conelab::desktop {
namespace {

constexpr int most_recent = 12;

}  // namespace

QStringList RecentFiles::all() const {
  QFile file(kept_in_);
  if (kept_in_.isEmpty() || !file.open(QIODevice::ReadOnly)) return {};
  return QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts);
}

void RecentFiles::add(const QString& file) {
  QStringList files = all();
  if (kept_in_.isEmpty() || (!files.isEmpty() && files.front() == file)) return;
  files.removeAll(file);
  files.prepend(file);
  QDir().mkpath(QFileInfo(kept_in_).path());
  write_text_atomically(kept_in_.toStdString(), files.mid(0, most_recent).join('\n').toStdString());
}

}  // namespace conelab::desktop
