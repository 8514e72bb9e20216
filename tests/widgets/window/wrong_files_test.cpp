// Whatever is dropped on the window: it says what is wrong, and the session stays as it is.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QImage>
#include <QMimeData>
#include <QTemporaryDir>
#include <QUrl>

#include "tests/widgets/driving.h"
#include "widgets/session/session_json.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

QByteArray trace_bytes() {
  QFile file(QString::fromStdString(shipped_trace()));
  EXPECT_TRUE(file.open(QIODevice::ReadOnly));
  return file.readAll();
}

void write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(bytes);
}

void drop(QWidget& window, const QUrl& url) {
  QMimeData data;
  data.setUrls({url});
  QDragEnterEvent enter(QPoint(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &drop);
}

/// Each wrong file: its name, and how it is made.
struct WrongFile {
  const char* name;
  std::function<void(const QString& path)> make;
};

const std::vector<WrongFile>& wrong_files() {
  static const std::vector<WrongFile> all = {
      {"truncated.h5", [](const QString& p) { write(p, trace_bytes().left(20000)); }},
      {"head-only.h5", [](const QString& p) { write(p, trace_bytes().left(64)); }},
      {"damaged.h5",
       [](const QString& p) {
         QByteArray bytes = trace_bytes();
         for (qsizetype i = 96; i < bytes.size(); i += 97) bytes[i] = static_cast<char>(i);
         write(p, bytes);
       }},
      {"picture.h5",
       [](const QString& p) {
         QImage image(40, 30, QImage::Format_RGB32);
         image.fill(Qt::red);
         ASSERT_TRUE(image.save(p, "PNG"));
       }},
      {"text.txt", [](const QString& p) { write(p, "these are words, no numbers\n"); }},
      {"text.h5", [](const QString& p) { write(p, "these are words, no numbers\n"); }},
      {"broken.json", [](const QString& p) { write(p, "{\"conelab_session\": 1, \"sess"); }},
      {"other.json", [](const QString& p) { write(p, "{\"a\": [1, 2]}"); }},
      {"broken.npy", [](const QString& p) { write(p, "\x93NUMPY\x01\x00v"); }},
      {"broken.npz", [](const QString& p) { write(p, "PK\x03\x04 and nothing else"); }},
      {"broken.safetensors", [](const QString& p) { write(p, QByteArray(40, '\x7f')); }},
      {"empty.h5", [](const QString& p) { write(p, ""); }},
      {"folder.h5", [](const QString& p) { ASSERT_EQ(::mkdir(p.toUtf8().constData(), 0700), 0); }},
      {"missing.h5", [](const QString&) {}},
      {"pipe.h5", [](const QString& p) { ASSERT_EQ(::mkfifo(p.toUtf8().constData(), 0600), 0); }},
      {"dangling.h5",
       [](const QString& p) { ASSERT_EQ(::symlink("nowhere", p.toUtf8().constData()), 0); }},
  };
  return all;
}

/// The superuser reads everything: for a while this program is nobody.
class NoSuperuser {
 public:
  NoSuperuser() { EXPECT_EQ(was_ == 0 ? ::seteuid(65534) : 0, 0); }
  ~NoSuperuser() { EXPECT_EQ(was_ == 0 ? ::seteuid(0) : 0, 0); }
  NoSuperuser(const NoSuperuser&) = delete;
  NoSuperuser& operator=(const NoSuperuser&) = delete;

 private:
  uid_t was_ = ::geteuid();
};

/// A window over the shipped trace.
struct OpenedWrongly {
  QTemporaryDir folder;
  MainWindow window{Backends{}, folder.filePath("state")};
  QByteArray before;
  std::shared_ptr<const Trace> trace;

  OpenedWrongly() {
    show_active(window);
    window.workspace().open(QString::fromStdString(shipped_trace()), "/german/layer3");
    EXPECT_TRUE(wait_for([this] { return window.workspace().head() != nullptr; }));
    window.document().edit("edits", [](Session& s) {
      s.trace.head = 3;
      s.locked = Focus{4, 5};
      s.maps.scale = "log";
    });
    trace = window.workspace().trace();
    before = session();
  }
  [[nodiscard]] QByteArray session() { return session_to_json({window.document().session(), {}}); }
  void expect_told_and_nothing_changed(const QString& name) {
    EXPECT_TRUE(wait_for([&] { return !window.error_shown().isEmpty(); }));
    EXPECT_TRUE(window.error_shown().contains(name)) << window.error_shown().toStdString();
    EXPECT_FALSE(window.error_shown().contains('\n'));
    EXPECT_TRUE(wait_for([&] { return window.workspace().jobs().running().empty(); }));
    EXPECT_EQ(session(), before);
    EXPECT_EQ(window.workspace().trace(), trace);
  }
};

TEST(WrongFiles, AreToldInTheWindowAndLeaveTheSession) {
  REQUIRE_DISPLAY();
  OpenedWrongly opened;
  const QString steps = QString::fromStdString(opened.window.document().history().undo_label());
  for (const WrongFile& wrong : wrong_files()) {
    SCOPED_TRACE(wrong.name);
    const QString path = opened.folder.filePath(wrong.name);
    wrong.make(path);
    drop(opened.window, QUrl::fromLocalFile(path));
    opened.expect_told_and_nothing_changed(wrong.name);
  }
  EXPECT_EQ(QString::fromStdString(opened.window.document().history().undo_label()), steps);
}

TEST(WrongFiles, ThatMayNotBeReadAreTold) {
  REQUIRE_DISPLAY();
  OpenedWrongly opened;
  const QString path = opened.folder.filePath("secret.h5");
  write(path, trace_bytes());
  ASSERT_EQ(::chmod(path.toUtf8().constData(), 0), 0);
  ASSERT_EQ(::chmod(opened.folder.path().toUtf8().constData(), 0755), 0);
  const NoSuperuser person;
  drop(opened.window, QUrl::fromLocalFile(path));
  opened.expect_told_and_nothing_changed("secret.h5");
}

TEST(WrongFiles, OfOtherMachinesAreTold) {
  REQUIRE_DISPLAY();
  OpenedWrongly opened;
  drop(opened.window, QUrl("https://example.org/trace.h5"));
  opened.expect_told_and_nothing_changed("trace.h5");
}

TEST(WrongFiles, AreForgottenOnceARightOneOpens) {
  REQUIRE_DISPLAY();
  OpenedWrongly opened;
  drop(opened.window, QUrl::fromLocalFile(opened.folder.filePath("missing.h5")));
  ASSERT_TRUE(wait_for([&] { return !opened.window.error_shown().isEmpty(); }));
  drop(opened.window, QUrl::fromLocalFile(QString::fromStdString(shipped_trace())));
  EXPECT_TRUE(wait_for([&] { return opened.window.workspace().trace() != opened.trace; }));
  EXPECT_EQ(opened.window.error_shown(), "");
}

}  // namespace
}  // namespace conelab::desktop
