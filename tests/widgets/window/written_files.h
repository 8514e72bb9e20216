// Files of every kind, as the built program writes them.
#pragma once

#include <gtest/gtest.h>

#include <QProcess>
#include <QTemporaryDir>

#include "tests/widgets/driving.h"
#include "widgets/session/session_json.h"

namespace conelab::desktop {

/// What the program wrote, once for all tests.
class Written {
 public:
  static const Written& files() {
    static const Written all;
    return all;
  }
  [[nodiscard]] QString operator[](const char* name) const { return folder_.filePath(name); }

 private:
  Written() {
    const QString trace = QString::fromStdString(shipped_trace()) + ":/german/layer3";
    attend("dot.h5", trace, {"--similarity", "dot", "--keep", "output,weights"});
    attend("penumbral.h5", trace, {"--similarity", "penumbral", "--keep", "weights"});
    attend("logits.h5", trace, {"--similarity", "dot", "--keep", "logits"});
    attend("output.h5", trace, {"--similarity", "dot", "--keep", "output"});
    attend("all.h5", trace,
           {"--similarity", "penumbral", "-p", "gamma=4", "--keep", "weights,logits,gradients"});
    run({"tree", trace, "-o", (*this)["tree.h5"], "--similarity", "umbral"});
    bench("old.h5", "dot,laplacian");
    bench("new.h5", "laplacian,dot");
    Session session;
    session.maps.scale = "rank";
    save_session({session, {}}, (*this)["session.json"]);
  }
  void attend(const char* name, const QString& trace, const QStringList& options) const {
    run(QStringList{"attend", trace, "-o", (*this)[name]} + options);
  }
  void bench(const char* name, const char* operators) const {
    run({"bench", "-o", (*this)[name], "--operators", operators, "--lengths", "16,32", "--heads",
         "1", "--passes", "backward", "--rounds", "6", "--warm-only"});
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
