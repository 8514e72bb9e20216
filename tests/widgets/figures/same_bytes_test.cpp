// For every figure there is: what the view writes is, byte for byte, what the command writes.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QProcess>
#include <QTemporaryDir>

#include "app/desktop_backends.h"
#include "core/figure/templates.h"
#include "tests/widgets/driving.h"
#include "widgets/explorer/cone_scene.h"
#include "widgets/figures/figures_view.h"

namespace conelab::desktop {
namespace {

bool run_program(const QStringList& arguments) {
  QProcess program;
  program.start(QStringLiteral(CONELAB_BINARY_DIR "/bin/conelab"), arguments);
  if (!program.waitForFinished(120000) || program.exitCode() != 0) {
    ADD_FAILURE() << arguments.join(' ').toStdString() << ": "
                  << program.readAllStandardError().toStdString();
    return false;
  }
  return true;
}

QByteArray bytes_of(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The view over the program's own figures, and inputs for those that read one.
struct Shown {
  QTemporaryDir folder;
  Document document;
  JobPool jobs{[](std::function<void()> call) {
    QMetaObject::invokeMethod(qApp, std::move(call), Qt::QueuedConnection);
  }};
  FiguresView view{document, jobs, desktop_backends().draw_figure};

  /// Empty where the figure needs no input.
  QString input_of(const figure::TemplateInfo& info) {
    const std::string needs = info.input;
    if (needs.empty()) return "";
    const QString trace = QString::fromStdString(shipped_trace()) + ":/german/layer3";
    if (needs.find("trace") != std::string::npos) return trace;
    const bool bench = needs.find("bench") != std::string::npos;
    const QString file = folder.filePath(bench ? "bench.h5" : "tree.h5");
    if (QFile::exists(file)) return file;
    const QStringList make =
        bench ? QStringList{"bench",      "-o",        file,      "--operators", "dot,penumbral",
                            "--lengths",  "32,64,128", "--dims",  "8",           "--heads",
                            "1",          "--passes",  "forward", "--rounds",    "3",
                            "--warm-only"}
              : QStringList{"tree", trace, "-o", file, "--similarity", "penumbral"};
    return run_program(make) ? file : "";
  }

  /// Exports the session's figure by the view and by the command, in each format.
  void expect_same_bytes() {
    ASSERT_TRUE(
        wait_for([this] { return !view.drawing() && view.preview().list() != nullptr; }, 60000))
        << view.message().toStdString();
    const FigureChoice choice = view.wanted();
    for (const char* ending : {"svg", "pdf", "png"}) {
      const QString seen = folder.filePath(QStringLiteral("view.") + ending);
      const QString typed = folder.filePath(QStringLiteral("command.") + ending);
      view.export_to(seen);
      QStringList words = {"figure", QString::fromStdString(choice.name), "-o", typed};
      for (const std::string& input : choice.inputs) {
        words << "--input" << QString::fromStdString(input);
      }
      for (const auto& [key, value] : choice.parameters) {
        words << "-p" << QString::fromStdString(key + "=" + value);
      }
      if (!choice.width.empty()) words << "--width" << QString::fromStdString(choice.width);
      ASSERT_TRUE(run_program(words));
      EXPECT_FALSE(bytes_of(seen).isEmpty());
      EXPECT_EQ(bytes_of(seen), bytes_of(typed)) << choice.name << "." << ending;
    }
  }
};

TEST(FigureBytes, OfEveryTemplateAreThoseOfTheCommand) {
  Shown shown;
  for (const figure::TemplateInfo& info : figure::figure_templates()) {
    SCOPED_TRACE(info.name);
    const QString input = shown.input_of(info);
    shown.document.edit("choose", [&](Session& s) {
      s.figure = {};
      s.figure.name = info.name;
      if (!input.isEmpty()) s.figure.inputs = {input.toStdString()};
      s.figure.width = "120mm";
      s.figure.parameters["caption"] = "A caption, with <b>marks</b> & ünïcode";
    });
    shown.expect_same_bytes();
  }
}

TEST(FigureBytes, OfTheExplorersSceneAreThoseOfTheCommand) {
  Shown shown;
  for (const char* family : {"penumbral", "umbral", "penumbral-finite", "umbral-finite", "ganea"}) {
    SCOPED_TRACE(family);
    ConeChoice cones;
    cones.family = family;
    cones.model = "ball";
    cones.u = {-0.3125, 0.25 + 1e-13};
    const PlanePoint v = into_domain(cones, {0.45, 0.2});
    cones.v = {v.x, v.y};
    shown.document.edit("figure", [&](Session& s) { s.figure = cone_figure(cones); });
    shown.expect_same_bytes();
  }
}

/// Every model and toggle that the explorer has: the figure is drawn, and by the command too.
TEST(FigureBytes, EveryStateOfTheExplorerHasAFigureAndACommand) {
  Shown shown;
  for (const char* model : {"halfspace", "klein", "band", "hyperboloid", "space"}) {
    SCOPED_TRACE(model);
    ConeChoice cones;
    cones.family = "umbral";
    cones.model = model;
    cones.parameters = {{"radius", 0.3}, {"K", 0.2}};
    cones.beside = {"ganea"};
    cones.ancestors = cones.level_lines = false;
    shown.document.edit("figure", [&](Session& s) { s.figure = cone_figure(cones); });
    shown.expect_same_bytes();
    QStringList words;
    for (const std::string& word : cone_command(cones)) words << QString::fromStdString(word);
    ASSERT_EQ(words.takeFirst(), "conelab");
    EXPECT_TRUE(run_program(words));
  }
}

TEST(FigureBytes, WhatTheFigureOfAnExplorersSceneLacksIsTold) {
  ConeChoice plain;
  plain.heat = plain.geodesic = false;
  EXPECT_EQ(figure_leaves_out(plain), "");
  EXPECT_EQ(command_leaves_out(plain), "");
  ConeChoice space = plain;
  space.model = "space";
  EXPECT_NE(figure_leaves_out(space).find("slice"), std::string::npos);
  EXPECT_NE(command_leaves_out(space).find("plane"), std::string::npos);
  ConeChoice beside = plain;
  beside.beside = {"ganea"};
  EXPECT_NE(figure_leaves_out(beside).find("penumbral alone"), std::string::npos);
  EXPECT_NE(command_leaves_out(beside).find("penumbral alone"), std::string::npos);
}

TEST(FigureBytes, EveryOptionHasAFieldThatExplainsIt) {
  Shown shown;
  for (const figure::TemplateInfo& info : figure::figure_templates()) {
    shown.view.findChild<QComboBox*>("figure-name")->setCurrentText(info.name);
    for (const figure::TemplateKey& key : info.keys) {
      auto* field = shown.view.findChild<QLineEdit*>(QStringLiteral("figure-%1").arg(key.key));
      ASSERT_NE(field, nullptr) << info.name << " " << key.key;
      EXPECT_FALSE(field->toolTip().isEmpty());
    }
  }
}

TEST(FigureBytes, AWrongValueIsExplained) {
  Shown shown;
  shown.view.findChild<QComboBox*>("figure-name")->setCurrentText("cones");
  ASSERT_TRUE(wait_for([&] { return shown.view.preview().list() != nullptr; }));
  auto* levels = shown.view.findChild<QLineEdit*>("figure-levels");
  levels->setText("many");
  emit levels->editingFinished();
  ASSERT_TRUE(wait_for([&] { return shown.view.message().contains("levels"); }));
  EXPECT_EQ(shown.view.preview().list(), nullptr);
}

}  // namespace
}  // namespace conelab::desktop
