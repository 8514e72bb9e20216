#include <fcntl.h>
#include <unistd.h>

#include <QApplication>
#include <QOpenGLContext>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QSurfaceFormat>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "app/desktop.h"
#include "app/desktop_backends.h"
#include "app/interrupt.h"
#include "core/base/error.h"
#include "widgets/painter/painter.h"
#include "widgets/window/main_window.h"

namespace conelab {
namespace {

/// Qt aborts the program if it finds no display. This prints one line and ends it with exit status
/// 1 instead.
void report(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type != QtFatalMsg) return;
  const QString line = message.section('\n', 0, 0).left(300);
  std::fprintf(stderr, "conelab: error: the desktop cannot start: %s\n", qPrintable(line));
  std::_Exit(1);
}

void require_display() {
  if (desktop_available()) return;
  fail(
      "the desktop needs a display (DISPLAY and WAYLAND_DISPLAY are not set); every command works "
      "without one, see `conelab --help`");
}

void require_opengl() {
  const QString platform = QGuiApplication::platformName();
  if (platform == "offscreen" || platform == "minimal") {
    fail("the desktop cannot run on Qt's platform '{}'", platform.toStdString());
  }
  QOpenGLContext context;
  context.setFormat(QSurfaceFormat::defaultFormat());
  if (!context.create() || context.format().version() < qMakePair(3, 3)) {
    fail("the desktop needs OpenGL 3.3, which this display does not offer");
  }
}

void choose_format() {
  QSurfaceFormat format;
  format.setVersion(3, 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  QSurfaceFormat::setDefaultFormat(format);
}

/// Closes the window on Ctrl-C, SIGTERM and SIGHUP, as its button does, and ends the program
/// whatever else is open.
class CloseOnInterrupt {
 public:
  explicit CloseOnInterrupt(QWidget& window) {
    if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe: {}", std::strerror(errno));
    notifier_ = std::make_unique<QSocketNotifier>(ends_[0], QSocketNotifier::Read);
    QObject::connect(notifier_.get(), &QSocketNotifier::activated, &window, [this, &window] {
      notifier_->setEnabled(false);
      window.close();
      QCoreApplication::exit();
    });
    wake_on_interrupt(ends_[1]);
  }
  ~CloseOnInterrupt() {
    wake_on_interrupt(-1);
    for (const int end : ends_) ::close(end);
  }
  CloseOnInterrupt(const CloseOnInterrupt&) = delete;
  CloseOnInterrupt& operator=(const CloseOnInterrupt&) = delete;

 private:
  std::array<int, 2> ends_{-1, -1};
  std::unique_ptr<QSocketNotifier> notifier_;
};

}  // namespace

bool desktop_available() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return set("DISPLAY") || set("WAYLAND_DISPLAY") || set("QT_QPA_PLATFORM");
}

int run_desktop(const std::vector<std::string>& files) {
  require_display();
  qInstallMessageHandler(report);
  choose_format();
  static int count = 1;
  static char name[] = "conelab";
  static char* arguments[] = {name, nullptr};
  QApplication application(count, arguments);
  QApplication::setApplicationName("conelab");
  QApplication::setDesktopFileName("conelab");
  require_opengl();
  desktop::MainWindow window(desktop_backends(),
                             QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation));
  files.empty() ? void(window.restore_autosave()) : window.restore_theme();
  window.show();
  QStringList named;
  for (const std::string& file : files) named << QString::fromStdString(file);
  window.open(named);
  const CloseOnInterrupt closing(window);
  const int status = QApplication::exec();
  stop_if_interrupted();
  return status;
}

std::function<void(const figure::DisplayList&, const std::string&)> png_writer() {
  return [](const figure::DisplayList& list, const std::string& path) {
    figure::write_figure(list, path);
  };
}

}  // namespace conelab
