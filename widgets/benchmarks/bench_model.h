// The model of the benchmarks view: the form of a sweep, the running sweep, and the result on
// display with its pictures and tables.
//
// Pictures are the display lists of the figures `scaling`, `ratio` and `roofline`, drawn from the
// same numbers by the same functions, so that exported figures equal those on the screen.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/compare.h"
#include "core/bench/runner.h"
#include "core/figure/bench_figures.h"
#include "widgets/benchmarks/bench_form.h"
#include "widgets/benchmarks/bench_result.h"
#include "widgets/runs/long_run.h"
#include "widgets/session/document.h"
#include "widgets/trace/workspace.h"

namespace conelab::desktop {

/// The program supplies this to the benchmarks view: it runs sweeps, whose workers are processes of
/// its own, and knows the devices.
struct BenchBackend {
  std::vector<std::string> operators;  ///< Names that a sweep may contain.
  std::string folder;                  ///< The folder of results, unless the user chooses another.
  /// Calls run_bench with the operators and workers of the program; called from a job.
  std::function<void(const Sweep&, const BenchOptions&)> run;
  /// Returns the state of every device except the CPU. It may take long and is called from a job.
  std::function<std::vector<DeviceState>()> devices;
};

/// Holds what is known of a sweep that runs.
struct BenchState {
  BenchProgress progress;
  std::shared_ptr<const BenchData> data;  ///< The measurements; null before the first sample.
  std::vector<std::string> warnings;      ///< Problems that did not stop the sweep.
};

/// A measured case in a picture.
struct BenchSpot {
  figure::Point at;  ///< Its position on the page.
  std::string text;  ///< Its exact numbers in one line.
};

struct BenchPicture {
  figure::DisplayList list;
  std::vector<BenchSpot> spots;
};

class BenchModel : public QObject {
  Q_OBJECT

 public:
  BenchModel(Document& document, JobPool& jobs, BenchBackend backend);

  [[nodiscard]] Document& document() { return document_; }
  [[nodiscard]] const BenchChoice& choice() const { return document_.session().bench; }
  [[nodiscard]] const BenchBackend& backend() const { return backend_; }

  // ---- the sweep
  [[nodiscard]] const BenchCheck& check() const { return check_; }
  /// Returns the devices besides the CPU; empty until `find_devices` has found them.
  [[nodiscard]] const std::vector<DeviceState>& devices() const { return devices_; }
  void find_devices();
  /// Returns the file of the sweep's result.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] bool running() const { return run_.running(); }
  [[nodiscard]] bool can_run() const { return !running() && check_.sound(); }
  /// Returns whether there is an unfinished run next to the output.
  [[nodiscard]] bool can_resume() const;
  /// Runs the sweep into the output, or into a new file if the output exists: a result is never
  /// overwritten.
  void run();
  void resume();
  void cancel();
  [[nodiscard]] const BenchProgress& progress() const { return run_.state().progress; }
  /// Returns for instance "34 of 72 samples, 1 min 20 s left: penumbral forward …".
  [[nodiscard]] std::string progress_text() const;
  [[nodiscard]] std::string command() const { return bench_command(choice(), output()); }
  /// Sets the text of a field. `done` is false while it is being typed.
  void type(const std::string& field, const std::string& text, bool done = true);

  // ---- the result on display
  /// Returns the result; null if there is none.
  [[nodiscard]] const std::shared_ptr<const BenchData>& data() const { return data_; }
  /// Returns whether it is the result of the running sweep.
  [[nodiscard]] bool live() const;
  /// Returns whether what is shown is a sweep that was stopped before its end.
  [[nodiscard]] bool unfinished() const;
  /// Returns the message below the result, which is an error if `failed`.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] bool failed() const { return failed_; }
  /// Returns the warnings of the run on display: the first few, and how many more there are.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Opens a finished result. The form is set to its sweep.
  void open(const std::string& file);
  void compare_with(const std::string& file);
  /// Returns the operators on display, in the order of their colours.
  [[nodiscard]] std::vector<std::string> visible() const;
  /// Returns the current page, `width` points wide. The list is empty if the page is a table or
  /// there is nothing to draw.
  [[nodiscard]] BenchPicture picture(double width) const;
  /// Returns the request for the same figure in the form of `conelab figure`.
  [[nodiscard]] FigureChoice figure(double width) const;
  /// Returns the table of the current page, or for a picture the numbers behind it.
  /// `exported`: with plain numbers in SI units.
  [[nodiscard]] TextTable table(bool exported = false) const;
  /// Returns the line above a comparison: how many cases are faster, slower and so on.
  [[nodiscard]] std::string comparison_text() const;
  [[nodiscard]] const std::optional<BenchComparison>& comparison() const { return comparison_; }

 signals:
  /// The form, the display or a message has changed.
  void changed();
  /// The running sweep has advanced.
  void progressed();

 private:
  [[nodiscard]] std::string name_of(const std::string& file) const {
    return document_.name_of(file).toStdString();
  }
  void follow();
  void show_file();
  void fill_form(const std::string& file);
  void compare();
  void start(const std::string& path, bool resume);
  void look();
  void say(const std::string& message, bool failed);
  [[nodiscard]] std::map<std::string, std::string> keys() const;
  [[nodiscard]] BenchPicture curves(const BenchSelection& selection, double width) const;
  [[nodiscard]] BenchPicture roofline(const BenchSelection& selection, double width) const;

  Document& document_;
  JobPool& jobs_;
  BenchBackend backend_;
  BenchCheck check_;
  std::vector<DeviceState> devices_;
  LongRun<BenchState> run_;
  std::string run_output_;          ///< The result of the last run.
  std::size_t shown_warnings_ = 0;  ///< How many of its warnings have been shown.
  std::shared_ptr<const BenchData> data_;
  std::string shown_;   ///< The file of `data_`, or the one that is being read.
  std::string opened_;  ///< A file whose sweep the form will show once it is read; or empty.
  std::string message_;
  bool failed_ = false;
  std::pair<std::string, std::string> compared_;  ///< The files of `comparison_`.
  std::optional<BenchComparison> comparison_;
  JobHandle loading_, comparing_, finding_;
  FileWatch watch_;  ///< Reports a change after the file has not changed for a moment.
};

}  // namespace conelab::desktop
