#include "core/bench/compare.h"

#include <algorithm>
#include <cmath>

#include "core/bench/result.h"
#include "core/bench/summary.h"
#include "core/figure/bench_figures.h"
#include "tests/core/bench/fixtures.h"
#include "tests/core/statistics/noise.h"

namespace conelab {
namespace {

using fixtures::failure_of;
using fixtures::fake_sweep;

/// A result with times speed * 1 ns n^2 and 1 % noise; `peak` in FLOP/s.
BenchResult fake_result(const Sweep& sweep, double speed, double peak, std::uint64_t seed) {
  BenchResult r;
  r.sweep = sweep;
  Random random(seed);
  for (const Case& c : sweep.cases()) {
    CaseResult result{c, CaseStatus::ok, "", {1e6, 1e3, 1e-7}, {}};
    const double factor = c["operator"] == "umbral" ? 1.5 : 1;
    for (int i = 0; i < sweep.rounds; ++i) {
      Sample s;
      s.warm = speed * factor * 1e-9 * std::pow(static_cast<double>(c.number("seq_len")), 2) *
               std::exp(0.01 * random.normal());
      s.peak_flops = peak;
      s.extra_bytes = 2e6;
      result.samples.push_back(s);
    }
    r.cases.push_back(std::move(result));
  }
  r.controls = {r.cases.front()};
  const std::vector<double> quiet(static_cast<std::size_t>(sweep.rounds), 0.5);
  r.load = r.clock = r.temperature = quiet;
  return r;
}

class CompareBench : public fixtures::BenchTest {
 protected:
  [[nodiscard]] std::string save(const char* name, const BenchResult& result) const {
    write_labelled(path(name), bench_file(result));
    return path(name);
  }
};

TEST_F(CompareBench, GivesAVerdictForEveryCommonCase) {
  const std::string a =
      save("a.h5", fake_result(fake_sweep({"dot"}, {64, 128, 256}, 9), 1, 1e11, 1));
  const std::string b =
      save("b.h5", fake_result(fake_sweep({"dot", "umbral"}, {128, 256, 512}, 9), 1.2, 1e11, 2));
  const BenchComparison c = compare_bench(a, b);
  ASSERT_EQ(c.cases.size(), 2u);
  for (const CaseComparison& one : c.cases) {
    EXPECT_EQ(one.result.verdict, Verdict::slower);
    EXPECT_NEAR(one.result.ratio.value, 1.2, 0.02);
    EXPECT_EQ(one.note, "");
  }
  EXPECT_EQ(c.only_first.size(), 1u);
  EXPECT_EQ(c.only_second.size(), 4u);
  EXPECT_TRUE(c.differences.empty());
  const BenchComparison back = compare_bench(b, a);
  EXPECT_EQ(back.cases.at(0).result.verdict, Verdict::faster);
  EXPECT_EQ(compare_bench(a, a).cases.at(0).result.verdict, Verdict::same);
}

TEST_F(CompareBench, SaysWhereTheMachineItselfWasSlower) {
  const Sweep sweep = fake_sweep({"dot"}, {64}, 9);
  const std::string a = save("a.h5", fake_result(sweep, 1, 1e11, 1));
  const std::string b = save("b.h5", fake_result(sweep, 1.2, 0.8e11, 2));
  const CaseComparison c = compare_bench(a, b).cases.at(0);
  EXPECT_EQ(c.note, "the machine itself ran at 0.80 times its earlier speed");
  EXPECT_EQ(c.result.verdict, Verdict::undecided);
  BenchResult unknown = fake_result(sweep, 1.2, NAN, 3);
  const CaseComparison blind = compare_bench(a, save("c.h5", unknown)).cases.at(0);
  EXPECT_EQ(blind.result.verdict, Verdict::undecided);
  EXPECT_EQ(blind.note, "the peak of the machine is unknown");
}

TEST_F(CompareBench, CasesWithoutATimeAreUndecidedWithTheReason) {
  const Sweep sweep = fake_sweep({"dot"}, {64}, 9);
  BenchResult failed = fake_result(sweep, 1, 1e11, 1);
  failed.cases[0].status = CaseStatus::crashed;
  failed.cases[0].reason = "worker ended by signal 9";
  const std::string a = save("a.h5", failed);
  const std::string b = save("b.h5", fake_result(sweep, 1, 1e11, 2));
  const CaseComparison c = compare_bench(a, b).cases.at(0);
  EXPECT_EQ(c.result.verdict, Verdict::undecided);
  EXPECT_EQ(c.note, "no time in the first: worker ended by signal 9");
}

TEST_F(CompareBench, RefusesOtherBatchesAndOtherFiles) {
  Sweep sweep = fake_sweep({"dot"}, {64}, 9);
  const std::string a = save("a.h5", fake_result(sweep, 1, 1e11, 1));
  sweep.batch = 2;
  const std::string b = save("b.h5", fake_result(sweep, 1, 1e11, 1));
  EXPECT_EQ(failure_of([&] { (void)compare_bench(a, b); }),
            "1: " + b + ": its batch is another (expected 1, found 2)");
  LabelledFile other;
  other.groups.emplace_back("tree",
                            LabelledArray{{}, {{"x", {}, std::vector<double>{1}, "", {}}}, "", {}});
  const std::string c = path("c.h5");
  write_labelled(c, other);
  EXPECT_EQ(failure_of([&] { (void)compare_bench(a, c); }),
            "1: " + c + ": there is no group /bench/runtime (expected a result of `bench`)");
  other.groups.emplace_back("bench/runtime",
                            LabelledArray{{{"operator", std::vector<std::string>{"dot"}, ""}},
                                          {{"time", {"operator"}, std::vector<double>{1}, "", {}}},
                                          "",
                                          {}});
  write_labelled(c, other);
  EXPECT_EQ(failure_of([&] { (void)compare_bench(a, c); }),
            "1: " + c + ": /bench/runtime has no axis pass");
}

TEST_F(CompareBench, OperatorsOfOneRunAreComparedRoundByRound) {
  Sweep sweep = fake_sweep({"dot", "umbral"}, {64, 128}, 9);
  BenchResult r = fake_result(sweep, 1, 1e11, 1);
  // A machine that slows down threefold within the run does not hide a factor of 1.5.
  for (CaseResult& c : r.cases) {
    for (std::size_t i = 0; i < c.samples.size(); ++i)
      c.samples[i].warm *= 1 + 0.25 * static_cast<double>(i);
  }
  const std::string path = save("a.h5", r);
  const auto cases = measured_cases(read_labelled_file(path), path);
  const auto ratios = compare_operators(cases, "dot");
  ASSERT_EQ(ratios.size(), 2u);
  for (const CaseComparison& c : ratios) {
    EXPECT_EQ(c.labels["operator"], "umbral");
    EXPECT_EQ(c.result.verdict, Verdict::slower);
    EXPECT_NEAR(c.result.ratio.value, 1.5, 0.03);
    EXPECT_NEAR(c.result.ratio.coverage, 0.961, 0.001);
  }
  EXPECT_TRUE(failure_of([&] {
                (void)compare_operators(cases, "dott");
              }).starts_with("2: unknown operator"));
}

TEST_F(CompareBench, TheFileHoldsExponentsControlsAndEnvironment) {
  const std::string path =
      save("a.h5", fake_result(fake_sweep({"dot"}, {64, 128, 256, 512}, 9), 1, 1e11, 1));
  const LabelledFile file = read_labelled_file(path);
  const auto exponents = measured_exponents(file, path);
  ASSERT_EQ(exponents.size(), 1u);
  EXPECT_NEAR(exponents[0].value, 2, 0.02);
  EXPECT_LE(exponents[0].low, 2.01);
  EXPECT_GE(exponents[0].high, 1.99);
  const LabelledArray* local = file.group("bench/local_fit");
  ASSERT_NE(local, nullptr);
  const auto& values = std::get<std::vector<double>>(local->variable("exponent")->data);
  ASSERT_EQ(values.size(), 4u);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_NEAR(values[3], 2, 0.05);
  const LabelledArray* control = file.group("bench/control");
  ASSERT_NE(control, nullptr);
  EXPECT_EQ(std::get<std::vector<double>>(control->variable("false_positive_rate")->data).at(0), 0);
  const LabelledArray* environment = file.group("bench/environment");
  ASSERT_NE(environment, nullptr);
  EXPECT_TRUE(std::any_of(environment->attributes.begin(), environment->attributes.end(),
                          [](const auto& a) { return a.first == "compiler"; }));
  EXPECT_EQ(std::get<std::vector<double>>(environment->variable("load")->data).size(), 9u);
}

TEST_F(CompareBench, ALengthThatFailedLeavesAGapInTheFitOnly) {
  BenchResult r = fake_result(fake_sweep({"dot"}, {64, 128, 256, 512, 1024}, 9), 1, 1e11, 1);
  r.cases[2].status = CaseStatus::timed_out;
  r.cases[2].samples[5].warm = NAN;
  const std::string path = save("a.h5", r);
  const LabelledFile file = read_labelled_file(path);
  EXPECT_NEAR(measured_exponents(file, path).at(0).value, 2, 0.02);
  const auto& local =
      std::get<std::vector<double>>(file.group("bench/local_fit")->variable("exponent")->data);
  EXPECT_TRUE(std::isnan(local[2]));
  EXPECT_NEAR(local[3], 2, 0.05);  // from 128 to 512
}

TEST_F(CompareBench, SummaryShowsTimesStatusesAndExponents) {
  BenchResult r = fake_result(fake_sweep({"dot", "umbral"}, {64, 128}, 9), 1, 1e11, 1);
  r.cases[3].status = CaseStatus::skipped;
  r.cases[3].reason = "would need 9.0 GB of memory, 3.0 GB are free";
  const std::string path = save("a.h5", r);
  const LabelledFile file = read_labelled_file(path);
  const TextTable table = summary_table(measured_cases(file, path));
  EXPECT_EQ(table.header[0], "operator");
  EXPECT_EQ(table.header[2], "n");
  EXPECT_EQ(table.header[3], "time");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[3][3], "skipped");
  EXPECT_EQ(table.rows[3].back(), "would need 9.0 GB of memory, 3.0 GB are free");
  EXPECT_TRUE(table.rows[0][3].ends_with(" µs")) << table.rows[0][3];
  const TextTable exponents = exponent_table(measured_exponents(file, path));
  EXPECT_EQ(exponents.rows.at(0).back(), "not resolved: 1 octave of n (needs 3)");
  const auto lines = table_lines(table);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(lines[0].starts_with("operator     pass"));
  const auto notes = summary_notes(file);
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(table.header[4], "95 % interval");
  EXPECT_EQ(notes[0],
            "A/A control: 0 of 1 case measured twice came out different (95 % interval of the "
            "rate 0 .. 98 %)");
}

TEST_F(CompareBench, FewRoundsClaimNoMoreThanTheyCover) {
  for (const auto& [rounds, covered] :
       std::vector<std::pair<int, std::string>>{{2, "50 %"}, {5, "94 %"}, {6, "95 %"}}) {
    const std::string path =
        save("few.h5", fake_result(fake_sweep({"dot", "umbral"}, {64, 128}, rounds), 1, 1e11, 1));
    const LabelledFile file = read_labelled_file(path);
    const auto cases = measured_cases(file, path);
    EXPECT_EQ(summary_table(cases).header[4], covered + " interval");
    EXPECT_EQ(comparison_table(compare_operators(cases, "dot")).header[4], covered + " interval");
    figure::ScalingFigure figure = scaling_figure(select_cases(cases, {}, {}));
    const auto caption = [&] { return figure::draw_scaling(figure).metadata.description; };
    EXPECT_NE(caption().find("Medians with " + covered + " intervals"), std::string::npos);
    figure.ratio_only = true;
    EXPECT_NE(caption().find("median and " + covered + " sign-test"), std::string::npos);
    const std::string control = summary_notes(file).at(0);
    EXPECT_EQ(control.find("no verdict is possible below 6 rounds") != std::string::npos,
              rounds < 6)
        << control;
  }
}

TEST_F(CompareBench, OneRoundHasNoIntervals) {
  const std::string path =
      save("one.h5", fake_result(fake_sweep({"dot", "umbral"}, {64}, 1), 1, 1e11, 1));
  const LabelledFile file = read_labelled_file(path);
  const auto cases = measured_cases(file, path);
  const TextTable table = summary_table(cases);
  EXPECT_EQ(table.header[4], "interval");
  EXPECT_EQ(table.rows[0][4], "-");
  const auto ratios = compare_operators(cases, "dot");
  EXPECT_EQ(ratios.at(0).note, "one round: no interval");
  EXPECT_EQ(comparison_table(ratios).rows.at(0).at(4), "-");
  const auto notes = summary_notes(file);
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note == "a case of one round has no interval; 95 % and verdicts need 6 rounds";
  }));
}

TEST_F(CompareBench, ExponentsNoneOfWhichIsResolvedAreOneLine) {
  const auto lines = [&](const std::vector<std::int64_t>& lengths) {
    const std::string path =
        save("a.h5", fake_result(fake_sweep({"dot", "umbral"}, lengths, 9), 1, 1e11, 1));
    return exponent_lines(measured_exponents(read_labelled_file(path), path));
  };
  EXPECT_EQ(lines({64, 128}),
            std::vector<std::string>{"exponents: not resolved: 1 octave of n (needs 3)"});
  EXPECT_EQ(lines({64, 128, 256, 512}).size(), 3u);
}

TEST_F(CompareBench, TheNotesOfBothRunsAreRepeated) {
  BenchResult busy = fake_result(fake_sweep({"dot"}, {64}, 9), 1, 1e11, 1);
  busy.load.assign(busy.load.size(), 7);
  const std::string a = save("a.h5", fake_result(fake_sweep({"dot"}, {64}, 9), 1, 1e11, 1));
  const std::string b = save("b.h5", busy);
  EXPECT_TRUE(compare_bench(a, a).notes.empty());
  const std::vector<std::string> notes = compare_bench(a, b).notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes.front().starts_with(b + ": the load average reached 7")) << notes.front();
}

TEST_F(CompareBench, BothFilesHaveTheirControl) {
  const Sweep sweep = fake_sweep({"dot"}, {64}, 9);
  const std::string a = save("a.h5", fake_result(sweep, 1, 1e11, 1));
  BenchComparison c = compare_bench(a, a);
  EXPECT_EQ(c.first_control.comparisons, 1);
  EXPECT_EQ(c.second_control.rounds, 9);
  EXPECT_TRUE(
      control_note(c.second_control).starts_with("A/A control: 0 of 1 case measured twice"));
  c.second_control.comparisons = 0;
  EXPECT_EQ(control_note(c.second_control), "A/A control: no case was measured twice");
}

// Three of nine rounds have measured the first case and its copy; none has measured the second.
TEST_F(CompareBench, AnUnfinishedRunClaimsNothingOfWhatItHasNotMeasured) {
  BenchResult result = fake_result(fake_sweep({"dot"}, {64, 128}, 9), 1, 1e11, 1);
  for (CaseResult* c : {&result.cases[0], &result.controls[0]}) {
    std::fill(c->samples.begin() + 3, c->samples.end(), Sample());
  }
  std::fill(result.cases[1].samples.begin(), result.cases[1].samples.end(), Sample());
  const std::string path = save("a.h5", result);
  const LabelledFile file = read_labelled_file(path);
  const MeasuredControl control = measured_control(file);
  EXPECT_EQ(control.rounds, 3);
  EXPECT_TRUE(control_note(control).starts_with("A/A control: no verdict is possible below 6"));
  const std::vector<MeasuredCase> cases = measured_cases(file, path);
  EXPECT_TRUE(std::isfinite(cases[0].error));
  EXPECT_TRUE(std::isfinite(cases[0].extra_bytes));
  EXPECT_TRUE(std::isnan(cases[1].error));
  EXPECT_TRUE(std::isnan(cases[1].extra_bytes));
  EXPECT_TRUE(std::isnan(cases[1].flops));
}

// One copy has no time of the second round, the other one none of the third.
TEST_F(CompareBench, ARoundOfTheControlCountsIfItMeasuredEveryCopy) {
  BenchResult result = fake_result(fake_sweep({"dot"}, {64, 128}, 9), 1, 1e11, 1);
  result.controls = result.cases;
  result.controls[0].samples[1] = Sample();
  result.controls[1].samples[2] = Sample();
  const MeasuredControl control = measured_control(read_labelled_file(save("a.h5", result)));
  EXPECT_EQ(control.comparisons, 2);
  EXPECT_EQ(control.rounds, 7);
}

TEST_F(CompareBench, TheNoteOfAStoppedRunHasTheCoverageOfItsIntervals) {
  BenchResult r = fake_result(fake_sweep({"dot"}, {64, 128}, 9), 1, 1e11, 1);
  for (std::size_t i = 2; i < 9; ++i) r.cases[1].samples[i] = Sample();
  const LabelledFile file = read_labelled_file(save("a.h5", r));
  EXPECT_EQ(summary_table(measured_cases(file, "")).header[4], "50 % interval");
  const auto notes = summary_notes(file);
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.starts_with("so few rounds: the intervals of the times cover 50 %");
  }));
}

TEST_F(CompareBench, ACaseThatCrashedHidesNoOtherCasesCoverage) {
  BenchResult r = fake_result(fake_sweep({"dot", "umbral"}, {64, 128}, 9), 1, 1e11, 1);
  r.cases[3].status = CaseStatus::crashed;
  for (std::size_t i = 2; i < 9; ++i) r.cases[3].samples[i].warm = NAN;
  const std::string path = save("a.h5", r);
  const auto cases = measured_cases(read_labelled_file(path), path);
  EXPECT_EQ(summary_table(cases).header[4], "95 % interval");
  EXPECT_EQ(scaling_figure(select_cases(cases, {}, {})).coverage, usual_level);
}

TEST_F(CompareBench, NotesFollowWhatTheIntervalOfTheTestCovers) {
  const auto compared = [&](int rounds) {
    const Sweep sweep = fake_sweep({"dot"}, {64}, rounds);
    const std::string a = save("a.h5", fake_result(sweep, 1, 1e11, 1));
    const std::string b = save("b.h5", fake_result(sweep, 0.5, 1e11, 2));
    return compare_bench(a, b).cases.at(0);
  };
  EXPECT_EQ(compared(4).result.verdict, Verdict::faster);
  EXPECT_EQ(compared(4).note, "");
  EXPECT_EQ(compared(3).result.verdict, Verdict::undecided);
  EXPECT_EQ(compared(3).note, "too few rounds: the interval covers 90 %");
  const std::string path =
      save("c.h5", fake_result(fake_sweep({"dot", "umbral"}, {64}, 5), 1, 1e11, 1));
  std::vector<MeasuredCase> cases = measured_cases(read_labelled_file(path), path);
  const CaseComparison paired = compare_operators(cases, "dot").at(0);
  EXPECT_EQ(paired.result.verdict, Verdict::undecided);
  EXPECT_EQ(paired.note, "too few rounds: the interval covers 94 %");
  cases[0].samples.assign(5, NAN);
  EXPECT_EQ(compare_operators(cases, "dot").at(0).note, "too few rounds: none has a time of both");
}

TEST(Texts, HaveThreeDigitsAndAUnit) {
  EXPECT_EQ(time_text(1.2345e-3), "1.23 ms");
  EXPECT_EQ(time_text(0.5), "500 ms");
  EXPECT_EQ(time_text(12.3456), "12.3 s");
  EXPECT_EQ(time_text(2e-10), "0.2 ns");
  EXPECT_EQ(time_text(0), "0 ns");
  EXPECT_EQ(time_text(NAN), "-");
  EXPECT_EQ(bytes_text(123456), "123 kB");
  EXPECT_EQ(bytes_text(1.5e10), "15.0 GB");
}

}  // namespace
}  // namespace conelab
