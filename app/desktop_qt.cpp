#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <QApplication>
#include <QDesktopServices>
#include <QDir>
#include <QOpenGLContext>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QSurfaceFormat>
#include <QUrl>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "app/command_job.h"
#include "app/desktop.h"
#include "app/interrupt.h"
#include "app/manual.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/bench/operator_case.h"
#include "core/job/call_json.h"
#include "core/jobs/bench_job.h"
#include "core/jobs/figure_job.h"
#include "core/jobs/job_table.h"
#include "core/jobs/shared_fields.h"
#include "core/study/shipped_files.h"
#include "gpu/cuda_backend.h"
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

// ---- what the program hands to its window -------------------------------------------------------

FigureRequest request_of(const desktop::FigureChoice& choice,
                         const std::function<bool()>& cancelled = {}) {
  return {choice.name, choice.inputs,           choice.parameters, choice.width,
          {},          {.cancelled = cancelled}};
}

figure::DisplayList draw(const desktop::FigureChoice& choice,
                         const std::function<bool()>& cancelled) {
  return draw_figure(request_of(choice, cancelled));
}

std::string figure_command(const desktop::FigureChoice& choice) {
  JobSpec spec = figure_spec(request_of(choice));
  spec.values["output"] = choice.name + ".pdf";
  return shell_line(command_words(spec));
}

JobSpec attend_spec(const desktop::TraceChoice& trace, const Call& call) {
  JobSpec spec{&job_named("attend"), {}};
  spec.values["input"] = trace.group.empty() ? trace.file : trace.file + ":" + trace.group;
  spec.values["output"] = operator_name(call) + ".h5";
  spec.values["call"] = call;
  const auto& [query, key, value, reading, weights] = trace.arrays;
  add_reading(reading, spec);
  for (const auto& [field, array] : {std::pair("q", query), {"k", key}, {"v", value}}) {
    if (!array.empty()) spec.values[field] = array;
  }
  if (makes_heads(call)) spec.values["head"] = trace.head;  // It takes tokens of one head.
  return spec;
}

std::string attend_line(const desktop::TraceChoice& trace, const Call& call) {
  JobSpec spec = attend_spec(trace, call);
  spec.values["device"] = trace.device;
  spec.values["keep"] = std::vector<std::string>{"output", "lse", "weights"};
  return shell_line(command_words(spec));
}

std::string cell_line(const desktop::TraceChoice& trace, const Call& call,
                      const std::string& quantity) {
  JobSpec spec = attend_spec(trace, call);
  spec.values["dtype"] = std::string("f64");
  spec.values["device"] = std::string("cpu");
  spec.values["keep"] = std::vector<std::string>{"output", "lse", quantity};
  return shell_line(command_words(spec));
}

// ---- benchmarks ---------------------------------------------------------------------------------

void run_sweep(const Sweep& sweep, const BenchOptions& options) {
  run_bench(sweep, operator_workload(), with_context(sweep, options, command_context()));
}

/// Returns the folder of the user's documents, or the home folder.
std::string results_folder() {
  const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return (QDir(documents).exists() ? documents : QDir::homePath()).toStdString();
}

desktop::BenchBackend bench_backend() {
  return {operator_workload().operations, results_folder(), run_sweep,
          [] { return std::vector<DeviceState>{cuda_backend().state()}; }};
}

desktop::Manual manual() {
  desktop::Manual all;
  for (const ManualTopic& topic : manual_topics()) all.emplace_back(topic.name, topic.text);
  return all;
}

}  // namespace

desktop::Backends desktop_backends() {
  return {
      shipped_file("minilm_trace.h5"),
      draw,
      figure_command,
      attend_line,
      bench_backend(),
      [](const std::string& name) -> Backend* {
        return name == "cuda" ? &cuda_backend() : nullptr;
      },
      cell_line,
      {command_context(), {"/proc/self/exe", "job-worker"}, shipped_studies(), results_folder()},
      [](const QString& file) { return QDesktopServices::openUrl(QUrl::fromLocalFile(file)); },
      manual()};
}

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
  // If the display goes away, Qt or Xlib calls `exit`, which destroys what threads still use.
  static bool running = false;
  std::atexit([] {
    if (!running) return;
    std::fputs("conelab: error: the display has gone\n", stderr);
    std::_Exit(1);
  });
  struct Running {
    Running() { running = true; }
    ~Running() { running = false; }
  };
  const int status = (Running(), QApplication::exec());
  stop_if_interrupted();
  return status;
}

std::function<void(const figure::DisplayList&, const std::string&)> png_writer() {
  return [](const figure::DisplayList& list, const std::string& path) {
    figure::write_figure(list, path);
  };
}

}  // namespace conelab
