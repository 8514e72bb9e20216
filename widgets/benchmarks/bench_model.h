// The benchmarks view without its window: the sweep's form, the sweep that runs, the result on
// display, its pictures and tables.
//
// Pictures are the display lists of the figures `scaling`, `ratio` and `roofline`, drawn from the
// same numbers by the same functions, so that what is exported is what is seen.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/compare.h"
#include "core/figure/bench_figures.h"
#include "widgets/benchmarks/bench_form.h"
#include "widgets/benchmarks/bench_run.h"
#include "widgets/session/document.h"
#include "widgets/trace/file_watch.h"

namespace conelab::desktop {

/// A measured case on a picture.
struct BenchSpot {
  figure::Point at;  ///< On the page.
  std::string text;  ///< Exact numbers, one line.
};

struct BenchPicture {
  figure::DisplayList list;
  std::vector<BenchSpot> spots;
};

class BenchModel : public QObject {
  Q_OBJECT

 public:
  BenchModel(Document& document, JobPool& jobs, BenchBackend backend, QObject* parent = nullptr);

  [[nodiscard]] Document& document() { return document_; }
  [[nodiscard]] const BenchChoice& choice() const { return document_.session().bench; }
  [[nodiscard]] const BenchBackend& backend() const { return backend_; }

  // ---- the sweep
  [[nodiscard]] const BenchCheck& check() const { return check_; }
  /// Devices besides the CPU; empty until `find_devices` has found them.
  [[nodiscard]] const std::vector<DeviceState>& devices() const { return devices_; }
  void find_devices();
  /// Where the sweep's result goes.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] bool running() const { return polling_.isActive(); }
  [[nodiscard]] bool can_run() const { return !running() && check_.sound(); }
  /// An unfinished run lies beside the output.
  [[nodiscard]] bool can_resume() const;
  /// Runs the sweep into the output, or beside it where something lies there already: no result is
  /// ever overwritten.
  void run();
  void resume();
  void cancel();
  [[nodiscard]] const BenchProgress& progress() const { return progress_; }
  /// "34 of 72 samples, 1 min 20 s left: penumbral forward …"
  [[nodiscard]] std::string progress_text() const;
  [[nodiscard]] std::string command() const;

  // ---- the result on display
  /// Null where there is none.
  [[nodiscard]] const std::shared_ptr<const BenchData>& data() const { return data_; }
  /// Whether it is the one of the sweep that runs.
  [[nodiscard]] bool live() const;
  /// What to say below it; `failed` where it is an error.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] bool failed() const { return failed_; }
  /// What the run of the result on display found amiss and went on: the first few, and how many
  /// more.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// A finished result; the form becomes that of its sweep.
  void open(const std::string& file);
  void compare_with(const std::string& file);
  /// The operators on display, in the order of their colours.
  [[nodiscard]] std::vector<std::string> visible() const;
  /// The current page at `width` points; an empty list where the page is a table, or there is
  /// nothing to draw.
  [[nodiscard]] BenchPicture picture(double width) const;
  /// The same as `conelab figure` would be asked for it.
  [[nodiscard]] FigureChoice figure(double width) const;
  /// The table of the current page; of a picture, the numbers behind it.
  [[nodiscard]] TextTable table() const;
  /// One line above the table of a comparison: how many are faster, slower, ...
  [[nodiscard]] std::string comparison_text() const;
  [[nodiscard]] const std::optional<BenchComparison>& comparison() const { return comparison_; }

 signals:
  /// The form, what is on display, or a message.
  void changed();
  /// The running sweep went on.
  void progressed();

 private:
  void follow();
  void show_file();
  void fill_form(const std::string& file);
  void compare();
  void start(const std::string& path, bool resume);
  void poll();
  void say(const std::string& message, bool failed);
  [[nodiscard]] std::map<std::string, std::string> keys() const;
  [[nodiscard]] BenchPicture curves(const BenchSelection& selection, double width) const;
  [[nodiscard]] BenchPicture roofline(const BenchSelection& selection, double width) const;

  Document& document_;
  JobPool& jobs_;
  BenchBackend backend_;
  BenchCheck check_;
  std::vector<DeviceState> devices_;
  BenchRun run_;
  BenchProgress progress_;
  std::vector<std::string> warnings_;  ///< Of the last run.
  QTimer polling_;
  std::shared_ptr<const BenchData> data_;
  std::string shown_;   ///< The file that `data_` is of, or that is being read.
  std::string opened_;  ///< A file whose sweep the form is to show once it is read; or empty.
  std::string message_;
  bool failed_ = false;
  std::pair<std::string, std::string> compared_;  ///< The files that `comparison_` is of.
  std::optional<BenchComparison> comparison_;
  JobHandle loading_, comparing_, finding_;
  FileWatch watch_;  ///< A file that is being written is read once it rests.
};

}  // namespace conelab::desktop
