#include "widgets/dialogs/file_dialogs.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace conelab::desktop {
namespace {

/// The folders of the file that was last opened or written, and of the one that was last written.
QString last_folder, last_written;

}  // namespace

QString usual_folder() {
  const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return QDir(documents).exists() ? documents : QDir::homePath();
}

void begin_dialogs_beside(const QString& file) {
  const QFileInfo info(file);
  if (info.dir().exists()) last_folder = info.absolutePath();
}

QStringList ask_for_files(QWidget* parent, const QString& title, const QString& filter) {
  const QStringList files = QFileDialog::getOpenFileNames(parent, title, last_folder, filter);
  if (!files.isEmpty()) begin_dialogs_beside(files.front());
  return files;
}

QString ask_for_file(QWidget* parent, const QString& title, const QString& filter) {
  const QString file = QFileDialog::getOpenFileName(parent, title, last_folder, filter);
  if (!file.isEmpty()) begin_dialogs_beside(file);
  return file;
}

// The function of Qt adds no ending, so that it would ask about overwriting another file.
QString ask_where_to_write(QWidget* parent, const QString& title, const QString& name,
                           const QString& filter, QFileDialog::Options options) {
  const bool there = !last_written.isEmpty() && QDir(last_written).exists();
  const QFileInfo proposed(QDir(there ? last_written : usual_folder()), name);
  QFileDialog dialog(parent, title, proposed.path(), filter);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setOptions(options);
  dialog.setDefaultSuffix(proposed.suffix());
  dialog.selectFile(proposed.fileName());
  if (dialog.exec() != QDialog::Accepted) return {};
  const QString file = dialog.selectedFiles().front();
  begin_dialogs_beside(file);
  last_written = QFileInfo(file).absolutePath();
  return file;
}

}  // namespace conelab::desktop
