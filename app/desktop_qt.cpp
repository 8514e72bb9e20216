#include <unistd.h>

#include <QApplication>
#include <QOpenGLContext>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QSurfaceFormat>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "app/desktop.h"
#include "app/desktop_backends.h"
#include "core/base/error.h"
#include "widgets/window/main_window.h"

namespace conelab {
namespace {

/// Qt ends the program by an abort where it finds no display; one line and exit status 1 instead.
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

int signal_pipe[2] = {-1, -1};

extern "C" void on_desktop_signal(int) {
  const char byte = 0;
  (void)!write(signal_pipe[1], &byte, 1);
}

/// Ctrl-C and SIGTERM close the window as its button does. The handler only writes a byte; the
/// event loop does the rest.
class SignalPipe {
 public:
  explicit SignalPipe(QWidget& window) {
    if (pipe(signal_pipe) != 0) return;
    notifier_ = std::make_unique<QSocketNotifier>(signal_pipe[0], QSocketNotifier::Read);
    QObject::connect(notifier_.get(), &QSocketNotifier::activated, &window, &QWidget::close);
    struct sigaction action = {};
    action.sa_handler = on_desktop_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // The second one ends the program.
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }

 private:
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
  if (files.empty()) window.restore_autosave();
  window.show();
  for (const std::string& file : files) window.open(QString::fromStdString(file));
  const SignalPipe closing(window);
  return QApplication::exec();
}

}  // namespace conelab
