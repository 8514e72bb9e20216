// Files of every kind, as the built program writes them.
#pragma once

#include <gtest/gtest.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <map>

#include "tests/widgets/driving.h"
#include "widgets/session/session_json.h"

namespace conelab::desktop {

/// Holds files that the program wrote. Each file is written when a test first asks for it.
class Written {
 public:
  static const Written& files() {
    static const Written all;
    return all;
  }
  [[nodiscard]] QString operator[](const char* name) const {
    const QString path = folder_.filePath(name);
    if (!QFile::exists(path)) write(name, path);
    return path;
  }

 private:
  static void write(const QString& name, const QString& path) {
    if (name == "session.json") {
      Session session;
      session.maps.scale = "rank";
      return save_session({session, {}}, path);
    }
    const QString trace = QString::fromStdString(shipped_trace()) + ":/german/layer3";
    const auto attend = [&](const QStringList& options) {
      return QStringList{"attend", trace} + options;
    };
    const auto bench = [](const char* operators) {
      return QStringList{"bench", "--operators", operators,  "--lengths", "16,32", "--heads",
                         "1",     "--passes",    "backward", "--rounds",  "6",     "--warm-only"};
    };
    const std::map<QString, QStringList> commands = {
        {"dot.h5", attend({"--similarity", "dot", "--keep", "output,weights"})},
        {"penumbral.h5", attend({"--similarity", "penumbral", "--keep", "weights"})},
        {"logits.h5", attend({"--similarity", "dot", "--keep", "logits"})},
        {"output.h5", attend({"--similarity", "dot", "--keep", "output"})},
        {"all.h5", attend({"--similarity", "penumbral", "-p", "gamma=4", "--keep",
                           "weights,logits,gradients"})},
        {"tree.h5", {"tree", trace, "--similarity", "umbral"}},
        {"old.h5", bench("dot,laplacian")},
        {"new.h5", bench("laplacian,dot")}};
    run(commands.at(name) + QStringList{"-o", path});
  }
  static void run(const QStringList& words) {
    QProcess program;
    program.start(CONELAB_BINARY_DIR "/bin/conelab", words);
    EXPECT_TRUE(program.waitForFinished(60000));
    EXPECT_EQ(program.exitCode(), 0)
        << words.join(' ').toStdString() << ": " << program.readAllStandardError().toStdString();
  }

  QTemporaryDir folder_;
};

}  // namespace conelab::desktop
