// Dialogs for files. Those that open begin in the folder of the file that was last opened or
// written in any of them, and in the working folder if there was none. Those that write begin in
// the folder of the file that was last written, and in the user's documents if there was none.
#pragma once

#include <QFileDialog>

namespace conelab::desktop {

/// Returns the folder of the user's documents, or the home folder.
[[nodiscard]] QString usual_folder();

/// Sets the folder in which the next dialog that opens begins to that of a file.
void begin_dialogs_beside(const QString& file);

/// Return the chosen files, or nothing if the user cancels.
[[nodiscard]] QStringList ask_for_files(QWidget* parent, const QString& title,
                                        const QString& filter);
[[nodiscard]] QString ask_for_file(QWidget* parent, const QString& title, const QString& filter);

/// Returns the file to write; empty if the user cancels. `name` is a name or a path that is
/// proposed. A name that is typed without an ending gets that of `name`.
[[nodiscard]] QString ask_where_to_write(QWidget* parent, const QString& title, const QString& name,
                                         const QString& filter, QFileDialog::Options options = {});

}  // namespace conelab::desktop
