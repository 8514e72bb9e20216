#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QTemporaryDir>

#include "core/base/error.h"
#include "core/figure/svg.h"
#include "tests/widgets/driving.h"
#include "widgets/figures/figures_view.h"

namespace conelab::desktop {
namespace {

/// Stands for the program's own figures: one line of text that names what was asked for.
figure::DisplayList asked_for(const FigureChoice& choice) {
  if (choice.width == "nonsense") misuse("width: not a length");
  figure::DisplayList list;
  list.width = 200, list.height = 100;
  list.metadata.title = choice.name;
  list.text({10, 50}, choice.name + " of " + std::to_string(choice.inputs.size()));
  return list;
}

struct Shown {
  Document document;
  JobPool jobs{[](std::function<void()> call) {
    QMetaObject::invokeMethod(qApp, std::move(call), Qt::QueuedConnection);
  }};
  FiguresView view{document, jobs, asked_for};
  QTemporaryDir folder;
  void choose(const char* name) {
    view.findChild<QComboBox*>("figure-name")->setCurrentText(name);
    wait_for([this] { return view.preview().list() != nullptr; });
  }
};

TEST(Figures, ExportsTheBytesOfWhatIsPreviewed) {
  Shown shown;
  shown.choose("cones");
  ASSERT_NE(shown.view.preview().list(), nullptr);
  const QString path = shown.folder.filePath("f.svg");
  shown.view.export_to(path);
  FigureChoice choice;
  choice.name = "cones";
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll().toStdString(), figure::to_svg(asked_for(choice)));
}

TEST(Figures, WhatCannotBeDrawnIsToldAndUndone) {
  Shown shown;
  shown.choose("cones");
  auto* width = shown.view.findChild<QLineEdit*>("figure-width");
  width->setText("nonsense");
  emit width->editingFinished();
  ASSERT_TRUE(wait_for([&] { return shown.view.message() == "width: not a length"; }));
  EXPECT_EQ(shown.view.preview().list(), nullptr);
  shown.document.undo();
  EXPECT_TRUE(wait_for([&] { return shown.view.preview().list() != nullptr; }));
}

TEST(Figures, AFigureWithoutItsInputAsksForIt) {
  Shown shown;
  EXPECT_TRUE(shown.view.message().contains("needs an input"));
  shown.document.edit("open", [](Session& s) { s.trace.file = "x.h5"; });
  ASSERT_TRUE(wait_for([&] { return shown.view.preview().list() != nullptr; }));
  EXPECT_EQ(shown.view.wanted().inputs, std::vector<std::string>{"x.h5"});
}

}  // namespace
}  // namespace conelab::desktop
