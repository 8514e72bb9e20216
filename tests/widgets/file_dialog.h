// Answers the dialog in which a person names a file.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QTest>
#include <QTimer>

namespace conelab::desktop {

/// Types the name into the dialog that is about to be opened, which blocks until it is answered.
inline void name_the_file(const QString& name) {
  QTimer::singleShot(200, [name] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    auto* field = dialog->findChild<QLineEdit*>("fileNameEdit");
    field->setText(name);
    QTest::keyClick(field, Qt::Key_Return);
  });
}

}  // namespace conelab::desktop
