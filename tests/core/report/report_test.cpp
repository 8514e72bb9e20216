#include "core/report/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/base/sha256.h"
#include "core/drawing/pdf.h"
#include "core/drawing/svg.h"
#include "core/files/bench_file.h"
#include "core/jobs/figure_job.h"
#include "core/report/check_report.h"
#include "core/report/records.h"
#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Reports : public fixtures::FilesTest {
 protected:
  /// A result that states the measure `map` and holds one number.
  static void write_result(const std::string& path, double map, double point = 1) {
    LabelledFile file{"conelab 0", {}, {}};
    LabelledArray group{{counted_axis("node", 1)},
                        {{"point", {"node"}, std::vector<double>{point}, "", {}}},
                        "",
                        {}};
    group.attributes = {{"map", map}, {"epoch_seconds", 0.001 * point}};
    file.groups.emplace_back("embedding", group);
    write_labelled(path, file);
  }

  JobRecord add_result(const std::string& folder, const std::string& similarity, int seed,
                       double map) {
    JobRecord job;
    job.block = "points", job.kind = "embed";
    job.name = fmt::format("points-{}-{}", similarity, seed);
    job.sweep = {{"similarity", similarity}, {"seed", seed}};
    job.key = sha256(job.name);
    job.files = {"jobs/" + job.key + ".h5"};
    job.command = "conelab embed " + job.name;
    job.status = "done";
    job.measures = {{"map", -1}, {"nodes", 7}};  // What the file states counts.
    write_result(folder + "/" + job.files[0], map);
    job.digest = read_file_numbers(folder + "/" + job.files[0]).digest;
    return job;
  }

  JobRecord add_figure(const std::string& folder) {
    FigureRequest request;
    request.name = "cones";
    const figure::DisplayList list = draw_figure(request);
    JobRecord job;
    job.block = "fig1", job.kind = "figure";
    job.name = "fig1", job.key = "f1", job.status = "done";
    job.files = {"jobs/f1.svg", "jobs/f1.pdf"};
    job.command = "conelab figure cones -o jobs/f1.svg";
    fixtures::spill(folder + "/jobs/f1.svg", to_svg(list));
    fixtures::spill(folder + "/jobs/f1.pdf", to_pdf(list));
    job.digest = sha256(to_svg(list));
    return job;
  }

  /// A study of two similarities with three seeds each, whose map differs by 0.02 from seed to
  /// seed.
  std::string study(const std::string& name, const std::vector<std::string>& order,
                    double shift = 0) {
    const std::string folder = path(name);
    std::filesystem::create_directories(folder + "/jobs");
    StudyIndex index;
    index.title = "Points & cones";
    index.program = "conelab 0";
    index.machine = {{"cpu", "a processor"}};
    index.report = {{"order", order}};
    for (const int seed : {1, 2, 3}) {
      index.jobs.push_back(add_result(folder, "dot", seed, 0.5 + 0.02 * seed + shift));
      index.jobs.push_back(add_result(folder, "umbral", seed, 0.9 + 0.02 * seed + shift));
    }
    index.jobs.push_back(add_figure(folder));
    write_index(folder, index);
    return folder;
  }

  Report report(const std::vector<std::string>& folders) {
    return make_report(folders, path("out"), {});
  }
};

const std::vector<std::string> order = {"text: It reaches {map-umbral}.", "fig1",
                                        "table: points by similarity: map",
                                        "claim: cones win | {map-umbral} > {map-dot}"};

TEST_F(Reports, GiveMeansOverSeedsWithStudentsInterval) {
  const Report made = report({study("a", order)});
  ASSERT_EQ(made.numbers.size(), 2U);
  const Number& dot = made.numbers[0];
  EXPECT_EQ(dot.name, "map-dot");
  // The standard deviation of .52, .54 and .56 is .02, and the 97.5 % quantile for 2 degrees of
  // freedom 4.302653: the half width is 4.302653 * .02 / sqrt(3).
  EXPECT_NEAR(dot.interval.value, 0.54, 1e-12);
  EXPECT_NEAR(dot.interval.high - dot.interval.value, 0.0496828, 1e-7);
  EXPECT_EQ(plain_number(dot.text), "0.54 ± 0.05");
  ASSERT_EQ(dot.origins.size(), 3U);
  EXPECT_EQ(dot.origins[1].keys, (TextPairs{{"seed", "2"}}));
  const auto& table = std::get<TableSection>(made.sections[2]).table;
  EXPECT_THAT(table.note, HasSubstr("seed (1, 2, 3)"));
  const auto& claims = std::get<ClaimSection>(made.sections[3]);
  EXPECT_EQ(claims.rows[0].result.verdict, ClaimVerdict::agrees);
}

TEST_F(Reports, ShowCommandsAndDigestsAndLoadNothing) {
  const Report made = report({study("a", order)});
  const auto files = report_files(made);
  const std::string& page = files.at("index.html");
  for (const JobRecord& job : made.studies[0].jobs()) {
    EXPECT_THAT(page, HasSubstr(job.command));
    EXPECT_THAT(page, HasSubstr(job.digest));
  }
  EXPECT_THAT(page, HasSubstr("<h1>Points &amp; cones</h1>"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* loads : {" src=", " href=", "url(http", "@import", "<?xml"}) {
    EXPECT_THAT(page, Not(HasSubstr(loads)));
  }
  EXPECT_EQ(files.at("figures/fig1.svg"), fixtures::slurp(path("a/jobs/f1.svg")));
  EXPECT_TRUE(files.contains("figures/fig1.pdf"));
  EXPECT_THAT(files.at("numbers.tex"),
              HasSubstr("\\csname conelab@map-umbral\\endcsname{0.94 \\pm 0.05}"));
  EXPECT_THAT(files.at("report.tex"), HasSubstr("It reaches \\conelab{map-umbral}"));
  EXPECT_EQ(files, report_files(report({path("a")})));
}

TEST_F(Reports, OfTwoStudiesStandSideBySide) {
  const Report made = report({study("a", order), study("b", order, 0.01)});
  std::vector<std::string> names;
  for (const Number& number : made.numbers) names.push_back(number.name);
  EXPECT_THAT(names, ElementsAre("map-dot", "map-dot-b", "map-umbral", "map-umbral-b"));
  EXPECT_NEAR(made.numbers[1].interval.value, 0.55, 1e-12);
  const auto& figures = std::get<FigureSection>(made.sections[1]).figures;
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].name, "fig1-a");
  EXPECT_EQ(figures[1].name, "fig1-b");
}

TEST_F(Reports, NameWhatIsWrongInTheOrder) {
  const auto refusal = [&](const std::string& entry) {
    const std::string folder = study("a", {entry});
    return fixtures::message_of([&] { (void)report({folder}); });
  };
  EXPECT_THAT(refusal("table: points by similarity: mpa"), HasSubstr("did you mean 'map'"));
  EXPECT_THAT(refusal("table: points by simlarity: map"), HasSubstr("did you mean 'similarity'"));
  EXPECT_THAT(refusal("text: {map-dot}"), HasSubstr("unknown number"));
  EXPECT_THAT(refusal("text: {map"), HasSubstr("without }"));
  EXPECT_THAT(refusal("fig2"), HasSubstr("report.order"));
  EXPECT_EQ(refusal("table: points: map, nodes"), "");
}

TEST_F(Reports, OfUnfinishedJobsSayHowMany) {
  const std::string folder = study("a", order);
  StudyIndex index = read_index(folder);
  index.jobs[1].status = "failed";
  index.jobs[1].error = "out of memory";
  write_index(folder, index);
  std::vector<std::string> remarks;
  const Report made = make_report(
      {folder}, path("out"), {.remark = [&](const std::string& text) { remarks.push_back(text); }});
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("1 of 7 jobs have no result")));
  EXPECT_EQ(made.numbers[1].origins.size(), 2U);
  EXPECT_THAT(report_files(made).at("index.html"), HasSubstr("out of memory"));
}

TEST_F(Reports, RefuseFilesOutsideOfTheFolder) {
  const std::string folder = study("a", order);
  StudyIndex index = read_index(folder);
  index.jobs[0].files = {"../secret.h5"};
  write_index(folder, index);
  EXPECT_THAT(fixtures::message_of([&] { (void)report({folder}); }),
              HasSubstr("outside of the folder"));
}

TEST_F(Reports, ReplaceOnlyReports) {
  const Report made = report({study("a", order)});
  write_report(made, path("out"));
  EXPECT_EQ(fixtures::slurp(path("out/index.html")), report_files(made).at("index.html"));
  EXPECT_TRUE(std::filesystem::exists(path("out/figures/fig1.svg")));
  write_report(report({study("a", {"table: points: map"})}), path("out"));
  EXPECT_FALSE(std::filesystem::exists(path("out/figures/fig1.svg")));
  EXPECT_THAT(fixtures::message_of([&] { write_report(made, path("a")); }),
              HasSubstr("something else than a report"));
}

TEST_F(Reports, OfBenchmarksNeedEveryKeyThatVaries) {
  const std::string folder = path("bench");
  std::filesystem::create_directories(folder + "/jobs");
  std::filesystem::copy_file(CONELAB_SOURCE_DIR "/datasets/reference_runs/lengths.h5",
                             folder + "/jobs/k.h5");
  const auto made = [&](const std::string& entry) {
    StudyIndex index;
    JobRecord job;
    job.block = "cost", job.kind = "bench";
    job.name = "cost", job.key = "k", job.status = "done", job.files = {"jobs/k.h5"};
    index.machine = nlohmann::ordered_json::object();
    index.report = {{"order", {entry}}};
    index.jobs = {job};
    write_index(folder, index);
    return report({folder});
  };
  EXPECT_THAT(fixtures::message_of([&] { (void)made("table: cost by operator: time"); }),
              HasSubstr("several values of"));
  const Report whole = made("table: cost by operator, pass, seq_len: time");
  ASSERT_FALSE(whole.numbers.empty());
  for (const Number& number : whole.numbers) {
    EXPECT_LE(number.interval.low, number.interval.value) << number.name;
    EXPECT_EQ(number.origins.size(), 1U);
  }
}

TEST_F(Reports, FindResultsThatDiffer) {
  write_result(path("a.h5"), 0.5, 1);
  write_result(path("b.h5"), 0.5, 1);
  EXPECT_EQ(results_difference(path("a.h5"), path("b.h5")), "");
  write_result(path("b.h5"), 0.5, 1.5);
  EXPECT_THAT(results_difference(path("a.h5"), path("b.h5")),
              HasSubstr("/embedding/point differs"));
  write_result(path("b.h5"), 0.6, 1);
  EXPECT_THAT(results_difference(path("a.h5"), path("b.h5")), HasSubstr("map is 0.5, then 0.6"));
}

}  // namespace
}  // namespace conelab
