#include "widgets/benchmarks/bench_model.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/error.h"
#include "core/bench/parts.h"
#include "core/bench/result.h"
#include "core/drawing/svg.h"
#include "core/files/sandbox.h"
#include "tests/widgets/benchmarks/bench_fixtures.h"

namespace conelab::desktop {
namespace {

struct Bench {
  QTemporaryDir folder{folder_template()};
  Document document;
  JobPool jobs{deliver};
  BenchModel model{document, jobs, fake_bench_backend(folder)};

  explicit Bench(const BenchChoice& choice = quick_sweep()) {
    document.edit("type", [&](Session& s) { s.bench = choice; });
  }
  bool finish() {
    return wait_for([&] { return !model.running() && model.data() && model.message() == shown(); });
  }
  bool run() {
    model.run();
    return finish();
  }
  [[nodiscard]] std::string shown() const { return model.choice().shown; }
  [[nodiscard]] std::string path(const char* name) const {
    return folder.filePath(name).toStdString();
  }
};

const std::vector<std::string> known = {"dot", "penumbral"};

TEST(BenchForm, ReadsASweep) {
  BenchChoice typed;
  typed.fields["lengths"] = "256..1024:x2";
  typed.fields["threads"] = "1,2";
  const BenchCheck check = check_bench(typed, known, {});
  ASSERT_TRUE(check.sound());
  EXPECT_EQ(check.sweep["seq_len"], (std::vector<std::string>{"256", "512", "1024"}));
  EXPECT_EQ(check.sweep.cases().size(), 12U);
  EXPECT_EQ(check.extent, "12 cases in 9 rounds; exponents need 3 octaves of n");
}

TEST(BenchForm, SaysWhatIsWrongByField) {
  BenchChoice typed;
  typed.fields["operators"] = "dot,penumbra";
  EXPECT_NE(check_bench(typed, known, {}).errors.at("operators").find("penumbral"),
            std::string::npos);
  typed.fields["operators"] = "";
  typed.fields["lengths"] = "256..1024";
  typed.fields["dims"] = "";
  typed.fields["rounds"] = "1,2";
  typed.fields["batch"] = "0";
  typed.fields["time_limit"] = "-1";
  const BenchCheck check = check_bench(typed, known, {});
  EXPECT_EQ(check.errors.at("operators"), "choose at least one");
  EXPECT_EQ(check.errors.at("lengths"),
            "'256..1024' needs a step, as in 256..4096:x2 or 256..4096:+256");
  EXPECT_EQ(check.errors.at("rounds"), "expected one number (found '1,2')");
  for (const char* field : {"dims", "batch", "time_limit"}) EXPECT_TRUE(check.errors.count(field));
  EXPECT_FALSE(check.errors.count("heads"));
}

TEST(BenchForm, NoControlsAreAChoice) {
  BenchChoice typed;
  typed.fields["controls"] = "0";
  const BenchCheck check = check_bench(typed, known, {});
  EXPECT_TRUE(check.sound());
  EXPECT_EQ(check.sweep.controls, 0);
  for (const char* wrong : {"", "-1", "x", "1,2", "10001"}) {
    typed.fields["controls"] = wrong;
    EXPECT_TRUE(check_bench(typed, known, {}).errors.count("controls")) << wrong;
  }
}

TEST(BenchForm, AMissingDeviceIsExplained) {
  BenchChoice typed;
  typed.fields["devices"] = "cuda";
  EXPECT_TRUE(check_bench(typed, known, {}).sound());
  EXPECT_EQ(check_bench(typed, known, {{"cuda", false, "no driver", "", 0}}).errors.at("devices"),
            "cuda: no driver");
  EXPECT_TRUE(check_bench(typed, known, {{"cuda", true, "a GPU", "", 0}}).sound());
}

TEST(BenchForm, LinesThatCannotBeReadLeaveIt) {
  BenchChoice typed;
  typed.fields["operators"] = "dot";
  typed.fields["lengths"] = "8,16";
  const std::vector<std::string> lines = {
      "operators=", "passes=forward,,backward", "dtypes=,", "lengths=8,x", "rounds=", "heads=-1",
      "nothing"};
  EXPECT_TRUE(form_of_sweep(typed, lines, known) == typed);
  const BenchChoice read = form_of_sweep(typed, {"operators=", "lengths=32", "passes=,"}, known);
  EXPECT_EQ(read.fields.at("lengths"), "32");
  EXPECT_EQ(read.fields.at("operators"), typed.fields.at("operators"));
}

/// A sweep none of whose items is the default of a sweep or of the form.
Sweep unusual_sweep() {
  Sweep sweep;
  for (const Axis& axis : axes()) {
    sweep[axis] = axis.numeric ? Labels{"3", "5"} : choices_of(axis);
  }
  sweep["operator"] = {"penumbral:gamma=1,2", "dot"};
  sweep.batch = 3, sweep.rounds = 7, sweep.controls = 0, sweep.seed = 0;
  sweep.time_limit = 0.5, sweep.cold = false;
  return sweep;
}

void expect_same_after_restoring(const Sweep& stored) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : stored.items()) lines.push_back(name + "=" + value);
  const BenchCheck check = check_bench(form_of_sweep(BenchChoice(), lines, known), known, {});
  EXPECT_TRUE(check.sound()) << check.extent;
  EXPECT_EQ(check.sweep.items(), stored.items());
}

TEST(BenchForm, OfAResultMeasuresTheSameSweep) {
  Sweep stored = unusual_sweep();
  const auto usual = check_bench(BenchChoice(), known, {}).sweep.items();
  for (const auto& item : stored.items()) {
    EXPECT_EQ(std::count(usual.begin(), usual.end(), item), 0) << item.first;
  }
  expect_same_after_restoring(stored);
  stored.seed = ~std::uint64_t{0}, stored.time_limit = 1e30;
  expect_same_after_restoring(stored);
}

TEST(BenchForm, OfAResultShowsWhatItCannotMeasure) {
  const BenchChoice typed = form_of_sweep(BenchChoice(), {"rounds=20000"}, known);
  EXPECT_TRUE(check_bench(typed, known, {}).errors.contains("rounds"));
}

TEST(BenchForm, ResultsGoWhereNothingLies) {
  const QTemporaryDir folder;
  const std::string path = result_path("", folder.path().toStdString());
  EXPECT_EQ(path, folder.filePath("bench.h5").toStdString());
  EXPECT_EQ(result_path("/tmp/x/../y", "/elsewhere"), "/tmp/y.h5");
  EXPECT_EQ(free_path(path), path);
  std::ofstream(path) << "taken";
  EXPECT_EQ(free_path(path), folder.filePath("bench-2.h5").toStdString());
  std::ofstream(free_path(path)) << "taken";
  const std::string second = folder.filePath("bench-2.h5").toStdString();
  EXPECT_EQ(free_path(second), folder.filePath("bench-3.h5").toStdString());
  // A number that belongs to the name stays in it.
  const std::string year = folder.filePath("run-24.h5").toStdString();
  std::ofstream(year) << "taken";
  EXPECT_EQ(free_path(year), folder.filePath("run-24-2.h5").toStdString());
}

TEST(BenchModel, RunsASweepAndShowsWhatTheFigureShows) {
  Bench bench;
  bench.model.run();
  EXPECT_TRUE(bench.model.running());
  ASSERT_TRUE(bench.finish()) << bench.model.message();
  EXPECT_EQ(bench.shown(), bench.path("bench.h5"));
  for (const char* page : {"scaling", "ratio", "roofline"}) {
    bench.document.edit("page", [&](Session& s) { s.bench.page = page; });
    const LabelledFile file = read_labelled_file_sandboxed(bench.shown());
    const BenchSelection selection = select_cases(measured_cases(file, bench.shown()),
                                                  measured_exponents(file, bench.shown()), {});
    figure::ScalingFigure scaling = scaling_figure(selection);
    scaling.ratio_only = page == std::string("ratio");
    figure::RooflineFigure roof = roofline_figure(selection);
    roof.width = scaling.width = 300;
    const BenchPicture picture = bench.model.picture(300);
    EXPECT_EQ(
        to_svg(picture.list),
        to_svg(page == std::string("roofline") ? draw_roofline(roof) : draw_scaling(scaling)));
    EXPECT_EQ(picture.spots.size(), page == std::string("roofline") ? 2U : 4U);
  }
}

/// The first time of a text, "…: 578.123 µs  [", in seconds.
double seconds_in(const std::string& text) {
  const std::vector<std::pair<std::string, double>> units = {
      {" ns ", 1e-9}, {" µs ", 1e-6}, {" ms ", 1e-3}, {" s ", 1}};
  const std::size_t begin = text.find(": ") + 2;
  for (const auto& [unit, size] : units) {
    const std::size_t end = text.find(unit);
    if (end != std::string::npos) return std::stod(text.substr(begin, end - begin)) * size;
  }
  return NAN;
}

TEST(BenchModel, ASpotTellsExactNumbers) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const MeasuredCase& first = bench.model.data()->cases.front();
  const std::string text = bench.model.picture(300).spots.front().text;
  EXPECT_NEAR(seconds_in(text), first.time, 1e-5 * first.time) << text;
  EXPECT_NE(text.find("steady forward cpu f32"), std::string::npos) << text;
  const TextTable table = bench.model.table();
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.header[2], "time");
  EXPECT_EQ(table.rows[0][2], time_text(first.time));
  EXPECT_EQ(time_text(578.123e-6), "578 µs");
  const TextTable exported = bench.model.table(true);
  EXPECT_EQ(exported.header[2], "time (s)");
  EXPECT_EQ(exported.rows[0][2], fmt::format("{:.6g}", first.time));
}

/// A sweep of two slow cases: 40 rounds can be finished, 4000 last until they are cancelled.
BenchChoice slow_sweep(const char* rounds = "40") {
  BenchChoice choice = quick_sweep();
  choice.fields["rounds"] = rounds;
  choice.fields["operators"] = "slow";
  return choice;
}

TEST(BenchModel, CurvesAppearWhileItRunsAndCancelKeepsThem) {
  Bench bench(slow_sweep("4000"));
  bench.model.run();
  ASSERT_TRUE(wait_for([&] { return !bench.model.picture(300).spots.empty(); }));
  EXPECT_TRUE(bench.model.live());
  EXPECT_NE(bench.model.progress_text().find(" samples, "), std::string::npos);
  bench.model.cancel();
  ASSERT_TRUE(wait_for([&] { return !bench.model.running(); }));
  EXPECT_NE(bench.model.message().find("Resume goes on"), std::string::npos);
  EXPECT_FALSE(bench.model.picture(300).spots.empty());
  EXPECT_TRUE(bench.model.can_resume());
}

/// The times of the samples that a stopped run has sealed.
std::set<double> sealed_times(const std::string& output) {
  std::set<double> times;
  for (const auto& entry : std::filesystem::directory_iterator(output + ".parts")) {
    if (!entry.path().filename().string().starts_with("case-")) continue;
    times.insert(read_part(entry.path().string()).value().sample.warm);
  }
  return times;
}

/// A run that was stopped in the middle.
struct StoppedBench : Bench {
  StoppedBench() : Bench(slow_sweep()) {
    model.run();
    EXPECT_TRUE(wait_for([&] { return model.progress().done > 12; }));
    model.cancel();
    EXPECT_TRUE(wait_for([&] { return !model.running(); }));
  }
};

TEST(BenchModel, ResumeGoesOnFromWhatIsKept) {
  StoppedBench bench;
  const std::set<double> kept = sealed_times(bench.model.output());
  EXPECT_GT(kept.size(), 12U);
  bench.document.edit("rounds", [](Session& s) { s.bench.fields["rounds"] = "41"; });
  bench.model.resume();
  ASSERT_TRUE(wait_for([&] { return !bench.model.running(); }));
  EXPECT_TRUE(bench.model.failed());
  EXPECT_NE(bench.model.message().find("rounds (expected 40, found 41)"), std::string::npos);
  bench.document.edit("rounds", [](Session& s) { s.bench.fields["rounds"] = "40"; });
  bench.model.resume();
  ASSERT_TRUE(wait_for([&] { return !bench.model.running(); }));
  ASSERT_TRUE(bench.finish()) << bench.model.message();
  std::size_t found = 0;  // The others are in the control.
  for (const MeasuredCase& c : bench.model.data()->cases) {
    for (const double time : c.samples) found += kept.count(time);
  }
  EXPECT_GE(found, kept.size() / 4);
  EXPECT_EQ(bench.model.data()->cases.front().samples.size(), 40U);
  EXPECT_FALSE(bench.model.can_resume());
}

// As `conelab bench --resume` warns of it.
TEST(BenchModel, TellsOfDamagedSamplesThatAreMeasuredAgain) {
  StoppedBench bench;
  EXPECT_TRUE(bench.model.warnings().empty());
  const QDir parts(QString::fromStdString(bench.model.output() + ".parts"));
  const QStringList sealed = parts.entryList({"case-*.txt"}, QDir::Files, QDir::Name);
  ASSERT_GT(sealed.size(), 5);
  for (const QString& name : sealed.mid(0, 5)) {
    QFile file(parts.filePath(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly) && file.write("damaged") > 0);
  }
  bench.model.resume();
  ASSERT_TRUE(bench.finish()) << bench.model.message();
  const std::vector<std::string> told = bench.model.warnings();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_NE(told[0].find(sealed[0].toStdString()), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("; it is measured again"), std::string::npos) << told[0];
  EXPECT_EQ(told[3], "(and 2 more like these)");
  bench.document.edit("show", [](Session& s) { s.bench.shown.clear(); });
  EXPECT_TRUE(bench.model.warnings().empty()) << "they are of another result";
}

// Neither what lies there nor what would be free can be told of such names.
TEST(BenchModel, AResultThatCannotBeWrittenIsToldAtOnce) {
  for (const std::size_t length : {300U, 250U}) {
    Bench bench;
    bench.document.edit(
        "output", [&](Session& s) { s.bench.fields["output"] = std::string(length, 'x') + ".h5"; });
    bench.model.run();
    EXPECT_FALSE(bench.model.running());
    EXPECT_TRUE(bench.model.failed());
    EXPECT_NE(bench.model.message().find("xxx"), std::string::npos) << bench.model.message();
  }
}

TEST(BenchModel, NoResultIsOverwritten) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::string sha = bench.shown();
  ASSERT_TRUE(bench.run());
  EXPECT_EQ(bench.shown(), bench.path("bench-2.h5"));
  EXPECT_TRUE(QFile::exists(QString::fromStdString(sha)));
}

TEST(BenchModel, ComparesWithAnOlderResult) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::string old = bench.shown();
  ASSERT_TRUE(bench.run());
  bench.model.compare_with(old);
  ASSERT_TRUE(wait_for([&] { return bench.model.comparison().has_value(); }));
  EXPECT_EQ(bench.model.table().rows.size(), 4U);
  EXPECT_NE(bench.model.comparison_text().find("4 same"), std::string::npos)
      << bench.model.comparison_text();
  bench.document.undo();
  EXPECT_EQ(bench.model.choice().compared, "");
}

TEST(BenchModel, WithoutAMeasuredCaseThereAreNoAxes) {
  Bench bench;
  BenchResult nothing;
  nothing.sweep = bench.model.check().sweep;
  for (const Case& c : nothing.sweep.cases()) {
    nothing.cases.push_back({c, CaseStatus::ok, "", {}, std::vector<Sample>(6)});
  }
  write_labelled(bench.path("none.h5"), bench_file(nothing));
  bench.model.open(bench.path("none.h5"));
  ASSERT_TRUE(wait_for([&] { return bench.model.data() != nullptr; })) << bench.model.message();
  for (const char* page : {"scaling", "ratio", "roofline"}) {
    bench.document.edit("page", [&](Session& s) { s.bench.page = page; });
    EXPECT_TRUE(bench.model.picture(300).list.items.empty()) << page;
  }
  // Nothing has been measured, so that there are no columns of it.
  EXPECT_EQ(bench.model.table(true).header, (std::vector<std::string>{"operator", "n", "status"}));
}

TEST(BenchModel, ExponentsHaveThreeDecimalsAndAreExportedWithMore) {
  BenchData data;
  data.lengths = {"256", "512"};
  MeasuredExponent exponent;
  exponent.value = 1.9614, exponent.low = 1.9, exponent.high = 2;
  exponent.local = {NAN, 1.98};
  data.exponents = {exponent};
  const auto numbers = [&](bool exported) {
    const std::vector<std::string> row = exponents_table(data, exported).rows.at(0);
    return std::vector<std::string>(row.end() - 4, row.end());
  };
  EXPECT_EQ(numbers(false), (std::vector<std::string>{"1.961", "1.900", "2.000", "1.980"}));
  EXPECT_EQ(numbers(true), (std::vector<std::string>{"1.9614", "1.9", "2", "1.98"}));
}

TEST(BenchModel, AStoppedSweepIsComparedOnceItIsFinished) {
  StoppedBench bench;
  bench.model.compare_with(bench.path("older.h5"));
  pump(100);
  EXPECT_FALSE(bench.model.failed()) << bench.model.message();
  EXPECT_NE(bench.model.comparison_text().find("is not finished"), std::string::npos)
      << bench.model.comparison_text();
}

TEST(BenchModel, AComparisonThatWasCancelledIsMadeLater) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  std::atomic<bool> held{true};
  const auto wait = [&](const PoolContext& context) {
    while (held && !context.cancelled()) QThread::msleep(1);
    return 0;
  };
  {
    std::vector<JobHandle> busy;
    for (int i = 0; i < 4; ++i) busy.push_back(bench.jobs.start<int>("busy", wait, [](int) {}, {}));
    bench.model.compare_with(bench.shown());
    bench.jobs.cancel_all();
    ASSERT_TRUE(wait_for([&] { return bench.model.message() == "cancelled"; }));
    held = false;
  }
  bench.document.edit("lock", [](Session& s) { s.locked = Focus{1, 2}; });
  EXPECT_TRUE(wait_for([&] { return bench.model.comparison().has_value(); }));
}

TEST(BenchModel, AResultWithoutCasesIsShownAndExported) {
  Bench bench;
  BenchResult nothing;
  nothing.sweep["operator"].clear();
  write_labelled(bench.path("none.h5"), bench_file(nothing));
  bench.model.open(bench.path("none.h5"));
  ASSERT_TRUE(wait_for([&] { return bench.model.data() != nullptr; })) << bench.model.message();
  EXPECT_TRUE(bench.model.picture(300).list.items.empty());
  EXPECT_TRUE(bench.model.figure(300).parameters.empty());
}

TEST(BenchModel, OperatorsCanBeLeftOutAndTheFigureIsAskedAlike) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  bench.document.edit("hide", [](Session& s) { s.bench.hidden = {"steady"}; });
  EXPECT_EQ(bench.model.picture(300).spots.size(), 2U);
  const FigureChoice figure = bench.model.figure(300);
  EXPECT_EQ(figure.name, "scaling");
  EXPECT_EQ(figure.parameters.at("operators"), "slow");
  EXPECT_EQ(figure.width, "300pt");
  bench.document.edit("hide", [](Session& s) { s.bench.hidden = {"steady", "slow"}; });
  EXPECT_TRUE(bench.model.picture(300).list.items.empty());
}

TEST(BenchModel, AFileThatIsRewrittenIsReadAgain) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::string first = bench.shown();
  bench.document.edit("rounds", [](Session& s) { s.bench.fields["rounds"] = "7"; });
  ASSERT_TRUE(bench.run());
  const QString second = QString::fromStdString(bench.shown());
  bench.model.open(first);
  ASSERT_TRUE(wait_for([&] { return bench.model.data() && bench.model.data()->name == first; }));
  ASSERT_EQ(bench.model.data()->cases.front().samples.size(), 6U);
  QFile::remove(QString::fromStdString(first));
  QFile::rename(second, QString::fromStdString(first));
  EXPECT_TRUE(wait_for([&] { return bench.model.data()->cases.front().samples.size() == 7; }));
}

TEST(BenchModel, AFileThatWasGoneOrWrongForAWhileIsReadAgain) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::string file = bench.shown(), kept = bench.path("kept.h5");
  std::filesystem::copy_file(file, kept);
  std::filesystem::remove(file);
  ASSERT_TRUE(wait_for([&] { return bench.model.failed(); }));
  std::filesystem::copy_file(kept, file);
  ASSERT_TRUE(wait_for([&] { return !bench.model.failed(); })) << "once it is there again";
  std::filesystem::remove(file);
  std::ofstream(file) << "not yet";
  ASSERT_TRUE(wait_for([&] { return bench.model.failed(); }));
  std::filesystem::rename(kept, file);
  EXPECT_TRUE(wait_for([&] { return !bench.model.failed(); })) << "once it is right";
}

TEST(BenchModel, AMissingOrWrongFileIsTold) {
  Bench bench;
  bench.model.open(bench.path("none.h5"));
  EXPECT_TRUE(bench.model.failed());
  EXPECT_NE(bench.model.message().find("no such file"), std::string::npos);
  std::ofstream(bench.path("wrong.h5")) << "no result";
  bench.model.open(bench.path("wrong.h5"));
  ASSERT_TRUE(
      wait_for([&] { return bench.model.message().find("wrong.h5") != std::string::npos; }));
  EXPECT_TRUE(bench.model.failed());
  EXPECT_EQ(bench.model.data(), nullptr);
}

TEST(BenchModel, AnOpeningThatFailedDoesNotFillTheFormLater) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::string file = bench.path("wrong.h5");
  std::ofstream(file) << "no result";
  bench.model.open(file);
  ASSERT_TRUE(wait_for([&] { return bench.model.failed(); }));
  std::filesystem::copy_file(bench.path("bench.h5"), file,
                             std::filesystem::copy_options::overwrite_existing);
  bench.document.edit("type", [&](Session& s) {
    s.bench.fields["rounds"] = "7";
    s.bench.shown = "";
  });
  bench.document.edit("show", [&](Session& s) { s.bench.shown = file; });
  ASSERT_TRUE(wait_for([&] { return bench.model.data() != nullptr; }));
  EXPECT_EQ(bench.model.choice().fields.at("rounds"), "7");
  bench.model.open(file);
  EXPECT_EQ(bench.model.choice().fields.at("rounds"), "6");
}

TEST(BenchModel, AFileThatFailedIsOpenedOnceItIsRight) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::string file = bench.path("late.h5");
  bench.model.open(file);
  EXPECT_TRUE(bench.model.failed());
  std::filesystem::copy_file(bench.path("bench.h5"), file);
  bench.model.open(file);
  EXPECT_TRUE(wait_for([&] { return bench.model.data() != nullptr; }));
}

TEST(BenchModel, DevicesAreFoundInAJob) {
  Bench bench;
  bench.document.edit("cuda", [](Session& s) { s.bench.fields["devices"] = "cuda"; });
  EXPECT_TRUE(bench.model.can_run());
  bench.model.find_devices();
  ASSERT_TRUE(wait_for([&] { return !bench.model.devices().empty(); }));
  EXPECT_FALSE(bench.model.can_run());
  EXPECT_EQ(bench.model.check().errors.at("devices"), "cuda: no device");
}

/// Bounds are generous, so that a busy machine passes; the numbers are printed.
TEST(BenchModel, APictureOfManyCurvesTakesAMoment) {
  BenchResult result;
  result.sweep["operator"] = fixtures::fake_workload().operations;
  result.sweep["pass"] = {"forward", "backward"};
  std::vector<std::string>& lengths = result.sweep["seq_len"];
  lengths.clear();
  for (std::int64_t n = 64; n <= 65536; n *= 2) lengths.push_back(std::to_string(n));
  for (const Case& c : result.sweep.cases()) {
    CaseResult one{c, CaseStatus::ok, "", {1e6, 1e3, 1e-7}, {}};
    for (int round = 0; round < result.sweep.rounds; ++round) {
      Sample sample;
      sample.warm = 1e-9 * static_cast<double>(c.number("seq_len") * (100 + round));
      sample.peak_flops = 1e11;
      one.samples.push_back(sample);
    }
    result.cases.push_back(std::move(one));
  }
  QElapsedTimer clock;
  clock.start();
  const auto data = bench_data(bench_file(result), "many");
  const auto read = clock.restart();
  figure::ScalingFigure scaling = scaling_figure(select_cases(data->cases, data->exponents, {}));
  const std::size_t items = draw_scaling(scaling).items.size();
  const auto drawn = clock.restart();
  const std::size_t rows = numbers_table(*data).rows.size();
  printf("%zu cases: read in %lld ms, drawn in %lld ms, table in %lld ms\n", rows,
         static_cast<long long>(read), static_cast<long long>(drawn),
         static_cast<long long>(clock.elapsed()));
  EXPECT_EQ(rows, result.cases.size());
  EXPECT_GT(items, 100U);
  EXPECT_LT(drawn, 1000 * slowness);
}

TEST(BenchModel, CancelBeforeItBeginsEndsTheRun) {
  Bench bench;
  bench.model.run();
  bench.model.cancel();
  EXPECT_TRUE(wait_for([&] { return !bench.model.running(); }));
}

}  // namespace
}  // namespace conelab::desktop
