#include <gtest/gtest.h>

#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTimer>
#include <atomic>
#include <cmath>

#include "core/base/error.h"
#include "core/drawing/svg.h"
#include "core/source/figure_table.h"
#include "tests/widgets/driving.h"
#include "widgets/figures/figures_view.h"
#include "widgets/painter/painter.h"

namespace conelab::desktop {
namespace {

/// Stands for the program's own figures: one line of text that names what was asked for.
figure::DisplayList asked_for(const FigureChoice& choice, const std::function<bool()>& = {}) {
  if (choice.width == "nonsense") misuse("width: not a length");
  figure::DisplayList list;
  list.width = 200, list.height = 100;
  list.metadata.title = choice.name;
  list.metadata.version = "1";
  list.text({10, 50}, choice.name + " of " + std::to_string(choice.inputs.size()));
  return list;
}

struct ShownFigures {
  Document document;
  JobPool jobs{deliver};
  FiguresView view;
  QTemporaryDir folder;
  explicit ShownFigures(FiguresView::Draw draw = asked_for)
      : view(document, jobs, std::move(draw)) {}
  void name(const char* figure) {
    view.findChild<QComboBox*>("figure-name")->setCurrentText(figure);
  }
  /// Chooses a figure that can be drawn, and waits for its picture.
  void choose(const char* figure) {
    name(figure);
    wait_for([this] { return view.preview().list() != nullptr; });
  }
};

TEST(Figures, ExportsTheBytesOfWhatIsPreviewed) {
  ShownFigures shown;
  shown.choose("cones");
  ASSERT_NE(shown.view.preview().list(), nullptr);
  const QString path = shown.folder.filePath("f.svg");
  shown.view.export_to(path);
  ASSERT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
  FigureChoice choice;
  choice.name = "cones";
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll().toStdString(), figure::to_svg(asked_for(choice)));
}

TEST(Figures, WhatCannotBeDrawnIsToldAndUndone) {
  ShownFigures shown;
  shown.choose("cones");
  auto* width = shown.view.findChild<QComboBox*>("figure-width");
  width->setCurrentText("nonsense");
  emit width->lineEdit()->editingFinished();
  ASSERT_TRUE(wait_for([&] { return shown.view.message() == "width: not a length"; }));
  EXPECT_EQ(shown.view.preview().list(), nullptr);
  shown.document.undo();
  EXPECT_TRUE(wait_for([&] { return shown.view.preview().list() != nullptr; }));
}

TEST(Figures, CharactersWithoutAGlyphAreNamedBesideTheFigure) {
  ShownFigures shown([](const FigureChoice& choice, const std::function<bool()>&) {
    figure::DisplayList list;
    list.width = 200, list.height = 100;
    list.text({10, 50}, choice.name == "models" ? "中" : "plain");
    return list;
  });
  shown.choose("cones");
  EXPECT_EQ(shown.view.message(), "");
  shown.choose("models");
  EXPECT_TRUE(wait_for([&] { return shown.view.message().contains("U+4E2D): drawn as \\u4E2D"); }))
      << shown.view.message().toStdString();
  shown.choose("lub");
  EXPECT_TRUE(wait_for([&] { return shown.view.message().isEmpty(); }));
}

TEST(Figures, AFigureWithoutItsInputAsksForIt) {
  ShownFigures shown;
  EXPECT_TRUE(shown.view.message().contains("needs an input"));
  shown.document.edit("open", [](Session& s) { s.trace.file = "x.h5"; });
  ASSERT_TRUE(wait_for([&] { return shown.view.preview().list() != nullptr; }));
  EXPECT_EQ(shown.view.wanted().inputs, std::vector<std::string>{"x.h5"});
}

TEST(Figures, FieldsShowWhatIsDrawnOfTheOpenTrace) {
  ShownFigures shown;
  shown.document.edit("trace", [](Session& s) {
    s.trace.file = "/a/trace.h5", s.trace.group = "/german/layer3", s.trace.head = 5;
  });
  shown.name("heatmap");
  EXPECT_EQ(shown.view.findChild<QLineEdit*>("figure-head")->text(), "5");
  EXPECT_EQ(shown.view.findChild<QLineEdit*>("figure-input")->placeholderText(),
            "/a/trace.h5:/german/layer3");
  for (const figure::FigureInfo& info : figure::figure_table()) {
    shown.name(info.name);
    EXPECT_NO_THROW(figure::check_keys(info, shown.view.wanted().parameters)) << info.name;
  }
}

TEST(Figures, MapsOfATrainedTraceHaveTheScaleOfItsMapsAndSaySo) {
  ShownFigures shown;
  Call own = plain_call("penumbral");
  shown.document.edit("trace", [&](Session& s) {
    s.trace.file = "/a/trained.h5";
    bring_own_call(s, &own);
  });
  shown.choose("heatmap");
  EXPECT_EQ(shown.view.wanted().parameters.at("scale"), "row");
  EXPECT_TRUE(wait_for([&] { return shown.view.message().contains("scale “row”"); }));
  shown.document.edit("type", [](Session& s) { s.figure.parameters["scale"] = "log"; });
  EXPECT_EQ(shown.view.wanted().parameters.at("scale"), "log");
  shown.name("intervals");
  EXPECT_FALSE(shown.view.wanted().parameters.contains("scale")) << "its scale is another one";
}

TEST(Figures, TheFileIsChosenWrittenAndOffered) {
  ShownFigures shown;
  shown.choose("cones");
  auto* output = shown.view.findChild<QLineEdit*>("figure-output");
  ASSERT_NE(output, nullptr);
  EXPECT_TRUE(shown.view.output().endsWith("/cones.pdf"));
  output->setText(shown.folder.filePath("my figure"));
  emit output->editingFinished();
  EXPECT_EQ(shown.view.output(), shown.folder.filePath("my figure.pdf"));
  EXPECT_NE(shown.view.findChild<QAbstractButton*>("figure-browse-output"), nullptr);
  shown.view.findChild<QAbstractButton*>("figure-export")->click();
  ASSERT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
  EXPECT_TRUE(QFile::exists(shown.folder.filePath("my figure.pdf")));
  const QString said = shown.view.message();
  EXPECT_TRUE(said.contains("my figure.pdf is written")) << said.toStdString();
  EXPECT_TRUE(said.contains("href='file://")) << said.toStdString();
  EXPECT_TRUE(said.contains("my%20figure.pdf'>Open</a>")) << said.toStdString();
  EXPECT_TRUE(said.contains("Show the folder")) << said.toStdString();
  EXPECT_FALSE(said.contains("replaces")) << said.toStdString();
  shown.view.findChild<QAbstractButton*>("figure-export")->click();
  EXPECT_TRUE(wait_for([&] { return shown.view.message().contains("replaces the one before"); }));
  shown.document.undo();
  EXPECT_TRUE(shown.view.output().endsWith("/cones.pdf"));
}

TEST(Figures, AFileThatCannotBeWrittenIsTold) {
  ShownFigures shown;
  shown.choose("cones");
  shown.view.export_to(shown.folder.filePath("no/such/folder.svg"));
  ASSERT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
  EXPECT_TRUE(shown.view.message().contains("folder.svg")) << shown.view.message().toStdString();
}

TEST(Figures, ReplaceFiguresOfThisProgramOnly) {
  ShownFigures shown;
  shown.choose("cones");
  const auto told = [&](const QString& path) {
    shown.view.export_to(path);
    EXPECT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
    return shown.view.message();
  };
  for (const char* name : {"f.svg", "f.pdf", "f.png"}) {
    const QString path = shown.folder.filePath(name);
    for (int time = 0; time < 2; ++time) {
      EXPECT_TRUE(told(path).contains("is written")) << name << shown.view.message().toStdString();
    }
    QFile other(path);
    ASSERT_TRUE(other.open(QIODevice::WriteOnly));
    other.write("Dear reader");
    other.close();
    EXPECT_TRUE(told(path).contains("is not a figure of this program, and would be lost"))
        << name << shown.view.message().toStdString();
    EXPECT_EQ(other.size(), 11);
  }
}

TEST(Figures, WhileOneIsWrittenNoOtherIs) {
  ShownFigures shown;
  shown.choose("cones");
  const QString first = shown.folder.filePath("a.svg"), second = shown.folder.filePath("b.svg");
  shown.view.export_to(first);
  shown.view.export_to(second);
  shown.view.findChild<QAbstractButton*>("figure-copy-svg")->click();
  ASSERT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
  EXPECT_TRUE(QFile::exists(first));
  EXPECT_FALSE(QFile::exists(second));
  EXPECT_TRUE(shown.view.message().contains("a.svg is written"));
}

TEST(Figures, AFigureThatWasCancelledIsNotTheOneBefore) {
  std::atomic<bool> held{false};
  const auto draw = [&](const FigureChoice& choice, const std::function<bool()>& cancelled) {
    while (held && !cancelled()) QThread::msleep(1);
    if (cancelled()) throw Error(ErrorKind::interrupted, "cancelled");
    return asked_for(choice);
  };
  ShownFigures shown(draw);
  shown.choose("cones");
  held = true;
  shown.document.edit("width", [](Session& s) { s.figure.width = "90mm"; });
  shown.jobs.cancel_all();
  EXPECT_TRUE(shown.view.drawing()) << "the figure before could be written in its place";
  ASSERT_TRUE(wait_for([&] { return !shown.view.drawing(); }));
  EXPECT_EQ(shown.view.message(), "cancelled");
  EXPECT_EQ(shown.view.preview().list(), nullptr);
  held = false;
  shown.document.edit("lock", [](Session& s) { s.locked = Focus{1, 2}; });
  EXPECT_TRUE(wait_for([&] { return shown.view.preview().list() != nullptr; }));
}

TEST(Figures, TheClipboardGetsTheImageAndTheSvg) {
  ShownFigures shown;
  shown.choose("cones");
  shown.view.findChild<QAbstractButton*>("figure-copy-svg")->click();
  ASSERT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
  FigureChoice choice;
  choice.name = "cones";
  const std::string svg = figure::to_svg(asked_for(choice));
  EXPECT_EQ(QGuiApplication::clipboard()->mimeData()->data("image/svg+xml").toStdString(), svg);
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(), svg);
  shown.view.findChild<QAbstractButton*>("figure-copy-image")->click();
  ASSERT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
  const QImage image = QGuiApplication::clipboard()->image();
  EXPECT_EQ(image.width(), 833);  // 200 pt at 300 dots per inch.
  EXPECT_EQ(image.height(), 417);
}

TEST(Figures, KeysWithFewValuesAreLists) {
  ShownFigures shown;
  shown.view.findChild<QComboBox*>("figure-name")->setCurrentText("heatmap");
  auto* scale = shown.view.findChild<QComboBox*>("figure-scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->currentText(), "linear");
  scale->setCurrentText("log");
  emit scale->activated(scale->currentIndex());
  EXPECT_EQ(shown.document.session().figure.parameters.at("scale"), "log");
  shown.document.undo();
  EXPECT_EQ(scale->currentText(), "linear");
  shown.document.edit("strange", [](Session& s) { s.figure.parameters["scale"] = "cubic"; });
  EXPECT_EQ(scale->currentText(), "cubic");  // What is wrong is seen, and can be changed.
  scale->setCurrentText("linear");
  emit scale->activated(scale->currentIndex());
  EXPECT_EQ(shown.document.session().figure.parameters.count("scale"), 0U);
}

TEST(Figures, EveryControlHasAnAccessibleNameOrText) {
  ShownFigures shown;
  for (const char* name : {"heatmap", "cones", "scaling"}) {
    shown.view.findChild<QComboBox*>("figure-name")->setCurrentText(name);
    for (const QWidget* widget : shown.view.findChildren<QWidget*>()) {
      const auto* button = qobject_cast<const QAbstractButton*>(widget);
      const bool field = qobject_cast<const QComboBox*>(widget) ||
                         (qobject_cast<const QLineEdit*>(widget) &&
                          !qobject_cast<const QComboBox*>(widget->parentWidget()));
      if (!button && !field) continue;
      const bool named =
          !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
      EXPECT_TRUE(named) << widget->objectName().toStdString();
    }
  }
}

TEST(Figures, ThePreviewIsTheFigureAtItsSize) {
  REQUIRE_DISPLAY();
  ShownFigures shown;
  shown.view.resize(1000, 600);
  show_active(shown.view);
  shown.choose("cones");
  FigurePreview& preview = shown.view.preview();
  ASSERT_TRUE(wait_for([&] { return preview.sharp(); }));
  const double fitted = preview.scale();
  auto* zoom = shown.view.findChild<QComboBox*>("figure-zoom");
  zoom->setCurrentText("real size");
  ASSERT_TRUE(wait_for([&] { return preview.sharp() && preview.scale() != fitted; }));
  EXPECT_DOUBLE_EQ(preview.scale(), preview.real_scale());
  EXPECT_EQ(preview.picture().width(), std::lround(200 * preview.real_scale()));
  // The same pixels as the image that is written at that many dots per inch.
  const auto png = figure::to_png(*preview.list(), preview.real_scale() * 72);
  const QImage written = QImage::fromData(png.data(), static_cast<int>(png.size()));
  ASSERT_EQ(written.size(), preview.picture().size());
  const QImage wanted = written.convertToFormat(QImage::Format_RGB32);
  int largest = 0;
  for (int y = 0; y < wanted.height(); ++y) {
    for (int x = 0; x < wanted.width(); ++x) {
      const QColor a = wanted.pixelColor(x, y), b = preview.picture().pixelColor(x, y);
      largest = std::max(largest, std::abs(a.red() - b.red()));
    }
  }
  EXPECT_LE(largest, 8);
  const QLabel* size = shown.view.findChild<QLabel*>("figure-size");
  EXPECT_TRUE(size->text().contains("70.6 × 35.3 mm")) << size->text().toStdString();
}

TEST(Figures, NobodyIsAskedAboutAFileThatIsKeptAnyway) {
  ShownFigures shown;
  shown.choose("cones");
  const QString path = shown.folder.filePath("theirs.pdf");
  QFile other(path);
  ASSERT_TRUE(other.open(QIODevice::WriteOnly));
  other.write("Dear reader");
  other.close();
  shown.document.edit("file", [&](Session& s) { s.figure_output = path.toStdString(); });
  bool asked = false;
  QTimer::singleShot(300, [&] {
    QWidget* question = QApplication::activeModalWidget();
    asked = question != nullptr;
    if (asked) question->close();
  });
  shown.view.findChild<QAbstractButton*>("figure-export")->click();
  pump(400);
  EXPECT_FALSE(asked);
  EXPECT_TRUE(shown.view.message().contains("theirs.pdf: is not a figure of this program"))
      << shown.view.message().toStdString();
}

/// Presses Export and answers the question that is asked. Returns the question; empty if there was
/// none.
QString question_on_export(ShownFigures& shown, QMessageBox::StandardButton answer) {
  QString asked;
  QTimer::singleShot(200, [&] {
    auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (box == nullptr) return;
    asked = box->text();
    box->button(answer)->click();
  });
  EXPECT_TRUE(wait_for([&] { return !shown.view.drawing(); }));
  auto* button = shown.view.findChild<QAbstractButton*>("figure-export");
  click(*button, QRectF(button->rect()).center());
  pump(300);
  EXPECT_TRUE(wait_for([&] { return !shown.view.exporting(); }));
  return asked;
}

TEST(Figures, AnotherFigureReplacesAFileOnlyIfTheUserAgrees) {
  REQUIRE_DISPLAY();
  ShownFigures shown;
  shown.view.show();
  const std::string path = shown.folder.filePath("f.svg").toStdString();
  const auto ask = [&](const std::function<void(FigureChoice&)>& change,
                       QMessageBox::StandardButton answer = QMessageBox::Yes) {
    shown.document.edit("change", [&](Session& s) {
      s.figure_output = path;
      change(s.figure);
    });
    return question_on_export(shown, answer);
  };
  using Choice = FigureChoice;
  const QString first = ask([](Choice& c) { c.name = "heatmap", c.inputs = {"a.h5"}; });
  EXPECT_EQ(first, "") << "there was no file";
  EXPECT_EQ(ask([](Choice& c) { c.width = "178mm"; }), "");
  EXPECT_EQ(ask([](Choice& c) { c.parameters["colours"] = "dark"; }), "");
  EXPECT_TRUE(shown.view.message().contains("replaces the one before"));
  const auto other_head = [](Choice& c) { c.parameters["head"] = "3"; };
  const QString question = ask(other_head, QMessageBox::No);
  EXPECT_TRUE(question.contains("f.svg holds another figure, heatmap")) << question.toStdString();
  EXPECT_NE(ask(other_head), "") << "nothing was written before";
  EXPECT_EQ(ask(other_head), "") << "now it is this one";
  EXPECT_NE(ask([](Choice& c) { c.parameters["quantity"] = "logits"; }), "");
  EXPECT_NE(ask([](Choice& c) { c.parameters["gamma"] = "4"; }), "");
  EXPECT_NE(ask([](Choice& c) { c.inputs = {"b.h5"}; }), "");
  EXPECT_NE(ask([](Choice& c) { c = {}, c.name = "cones"; }), "");
  EXPECT_NE(ask([](Choice& c) { c.parameters["u"] = "0,0.5"; }), "");
}

}  // namespace
}  // namespace conelab::desktop
