#include "core/study/study_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/job/call_json.h"
#include "core/study/study_run.h"
#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string shipped = CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5";

class StudyFile : public fixtures::FilesTest {
 protected:
  Study read(const std::string& text, bool quick = false) const {
    std::ofstream(path("s.toml")) << text;
    return read_study(path("s.toml"), quick);
  }
  /// The errors as "LINE: TEXT".
  std::vector<std::string> errors(const std::string& text) const {
    std::vector<std::string> lines;
    for (const StudyError& error : read(text).errors) {
      lines.push_back(fmt::format("{}: {}", error.line, error.text));
    }
    return lines;
  }
  static std::vector<std::string> names(const Study& study) {
    std::vector<std::string> all;
    for (const StudyJob& job : study.jobs) all.push_back(job.name);
    for (const StudyError& error : study.errors) all.push_back(error.text);
    return all;
  }
};

std::string attend(const std::string& more) {
  return "[[attend]]\nname = 'maps'\ninput = '" + shipped + ":/german/layer3'\n" + more;
}

TEST_F(StudyFile, ListsSweepAndTheirProductIsRun) {
  const Study study = read(attend("similarity = ['dot', 'laplacian']\ndtype = ['f32', 'f64']\n"));
  EXPECT_THAT(names(study), ElementsAre("maps-dot-f32", "maps-dot-f64", "maps-laplacian-f32",
                                        "maps-laplacian-f64"));
  EXPECT_EQ(study.jobs[1].sweep.dump(), R"({"similarity":"dot","dtype":"f64"})");
  EXPECT_EQ(study.jobs[2].spec.call().similarity, "laplacian");
  EXPECT_EQ(study.jobs[2].spec.text("input"), shipped + ":/german/layer3");
}

TEST_F(StudyFile, NamesOfJobsHaveGroupsInThePlaceOfPaths) {
  const std::string layer = "'" + shipped + ":/german/layer3'";
  const Study study = read("[[figure]]\nname = 'map'\nkind = 'heatmap'\ninput = [[" + layer +
                           "], [" + layer + ", '" + shipped + ":/english/layer0']]\n");
  EXPECT_THAT(names(study), ElementsAre("map-german.layer3", "map-german.layer3+english.layer0"));
  std::ofstream(path("family.npy")) << "any bytes";
  const Study files =
      read("[[embed]]\nname = 'e'\nsimilarity = 'dot'\ninput = ['family.npy', 's.toml']\n");
  ASSERT_EQ(files.jobs.size(), 2U);
  EXPECT_EQ(files.jobs[0].name, "e-family.npy");
  EXPECT_EQ(files.jobs[1].name, "e-s.toml");
}

TEST_F(StudyFile, AKeyThatIsAListTakesAListACommaStringOrListsOfLists) {
  const auto kept = [&](const std::string& value) {
    std::vector<std::string> all;
    const Study study = read(attend("similarity = 'dot'\nkeep = " + value + "\n"));
    EXPECT_THAT(study.errors, IsEmpty());
    for (const StudyJob& job : study.jobs) {
      std::string text;
      for (const std::string& part : job.spec.list("keep")) text += part + " ";
      all.push_back(text);
    }
    return all;
  };
  EXPECT_THAT(kept("['lse', 'weights']"), ElementsAre("lse weights "));
  EXPECT_THAT(kept("'lse,weights'"), ElementsAre("lse weights "));
  EXPECT_THAT(kept("[['lse'], ['lse', 'weights']]"), ElementsAre("lse ", "lse weights "));
}

TEST_F(StudyFile, ParametersAreKeysOfTheBlock) {
  const Study study = read(attend("similarity = 'umbral'\ngamma = [1, 2.5]\nradius = '0.5'\n"));
  ASSERT_THAT(names(study), ElementsAre("maps-1", "maps-2.5"));
  EXPECT_EQ(study.jobs[1].spec.call().parameters.at("gamma").text(), "2.5");
  EXPECT_EQ(study.jobs[1].spec.call().parameters.at("radius").text(), "0.5");
  const Study lists = read(attend("similarity = 'umbral'\ngamma = '1,2,3,4,5,6,7,8,9,10,11,12'\n"));
  ASSERT_EQ(lists.jobs.size(), 1U);
  EXPECT_EQ(lists.jobs[0].spec.call().parameters.at("gamma").text(), "1,2,3,4,5,6,7,8,9,10,11,12");
}

TEST_F(StudyFile, ABlockThatReadsASweptOneIsMultiplied) {
  const Study study =
      read("[[figure]]\nname = 'map'\nkind = 'heatmap'\ninput = 'maps'\nhead = [1, 2]\n" +
           attend("similarity = ['dot', 'umbral']\nkeep = ['weights']\n"));
  EXPECT_THAT(names(study), ElementsAre("maps-dot", "maps-umbral", "map-dot-1", "map-dot-2",
                                        "map-umbral-1", "map-umbral-2"));
  EXPECT_EQ(study.jobs[3].sweep.dump(), R"({"similarity":"dot","head":2})");
  ASSERT_EQ(study.jobs[4].inputs.size(), 1U);
  EXPECT_EQ(study.jobs[4].inputs[0].job, 1U);
}

TEST_F(StudyFile, AMissingFileHidesNoOtherError) {
  EXPECT_THAT(
      errors("[[attend]]\ninput = 'none.h5'\nsimilarity = ['dott', 'dot']\ndtype = 'f33'\n"),
      ElementsAre(HasSubstr("2: input: there is no file"), HasSubstr("3: "), HasSubstr("4: ")));
}

TEST_F(StudyFile, NoErrorOfABlockHidesAnother) {
  // A misspelt operator, beside other keys with errors of their own.
  EXPECT_THAT(errors("[[attend]]\ninput = 'none.h5'\nsimilarty = 'umbral'\nkeep = 'wieghts'\n"
                     "gamma = 2\ngama = 1\nhead = 'x'\n"),
              ElementsAre(HasSubstr("2: input: "), HasSubstr("did you mean 'similarity'?"),
                          HasSubstr("4: attend: "), HasSubstr("did you mean 'gamma'?"),
                          HasSubstr("7: head: ")));
  EXPECT_THAT(errors("[[bench]]\noperators = 'dott'\nlengths = '4..2'\ndtypes = 'f33'\n"),
              ElementsAre(HasSubstr("2: "), HasSubstr("3: "), HasSubstr("4: ")));
  EXPECT_THAT(errors(attend("similarity = ['dott', 'umbrall']\ndtype = ['f33', 'f34']\n")),
              ElementsAre(HasSubstr("'dott'"), HasSubstr("'umbrall'"), HasSubstr("'f33'"),
                          HasSubstr("'f34'")));
  EXPECT_THAT(errors("[[figure]]\nkind = ['heatmap', 'arcs', 'tree']\ninput = 'none.h5'\n"
                     "colour = 3\nwidth = 'wide'\n"),
              ElementsAre(HasSubstr("3: input: "), HasSubstr("4: unknown key of figure 'colour'"),
                          HasSubstr("5: ")));
  // A block with errors still has jobs, which other blocks read.
  EXPECT_THAT(errors(attend("similarity = 'dott'\n") +
                     "[[figure]]\nkind = 'heatmap'\ninput = 'maps'\nheadd = 1\n"),
              ElementsAre(HasSubstr("4: "), HasSubstr("8: ")));
}

TEST_F(StudyFile, ATrainedHeadIsReadByTheNameOfItsGroup) {
  const auto reader = [&](const std::string& more) {
    return errors(
        "[[dataset]]\nname = 'tree'\nkind = 'tree'\n[[train]]\nname = 'heads'\n"
        "input = 'tree'\nsimilarity = 'dot'\n" +
        more);
  };
  for (const char* group : {"", ":/dot", ":/dot/seed2"}) {
    const std::string input = std::string("input = 'heads") + group + "'\n";
    for (const char* block : {"[[figure]]\nkind = 'heatmap'\n", "[[figure]]\nkind = 'heads'\n",
                              "[[attend]]\nsimilarity = 'dot'\n"}) {
      EXPECT_THAT(reader(block + input), ElementsAre(HasSubstr("as heads:/dot/seed1")));
    }
  }
  for (const char* sound : {"kind = 'heatmap'\ninput = 'heads:dot/seed1'\n",
                            "kind = 'heads'\nrows = 'file'\ninput = 'heads'\n"}) {
    EXPECT_THAT(reader(std::string("[[figure]]\n") + sound), IsEmpty());
  }
}

TEST_F(StudyFile, QuickIsATable) {
  for (const char* wrong : {"[report]\nquick = 3\n", "[report]\nquick = ['a']\n"}) {
    EXPECT_THAT(errors(attend("similarity = 'dot'\n") + wrong),
                ElementsAre(HasSubstr("quick: expected a table")));
  }
}

TEST_F(StudyFile, AParameterIsThatOfTheOperatorsThatHaveIt) {
  const Study study = read(attend("similarity = ['dot', 'umbral']\nradius = 0.5\n"));
  ASSERT_THAT(names(study), ElementsAre("maps-dot", "maps-umbral"));
  EXPECT_FALSE(study.jobs[0].spec.call().parameters.contains("radius"));
  EXPECT_EQ(study.jobs[1].spec.call().parameters.at("radius").text(), "0.5");
  EXPECT_THAT(errors(attend("similarity = ['dot', 'umbral']\nradius = [0.5, 1]\n")),
              ElementsAre(HasSubstr("unknown key of attend 'radius'")));
}

TEST_F(StudyFile, TheReportHasItsOwnKeysAndClaimsARelation) {
  EXPECT_THAT(errors(attend("similarity = 'dot'\n") +
                     "[report]\nqick = { dtype = 'f64' }\norder = ['claim: a | b | c',\n"
                     "'table: maps by x: y', 'text: {y-1} {z-1}']\n"),
              ElementsAre(HasSubstr("6: unknown key of [report] 'qick'; did you mean 'quick'?"),
                          HasSubstr("7: order: claim 'b': expected LEFT < RIGHT"),
                          HasSubstr("8: order: 'table: maps by x: y': maps sweeps no key"),
                          HasSubstr("8: order: unknown number 'z-1'")));
  EXPECT_THAT(errors(attend("similarity = 'dot'\n") + "[report]\norder = 'maps'\n"),
              ElementsAre(HasSubstr("6: order: expected a list of texts")));
}

TEST_F(StudyFile, ABlockReadsWhatItsInputMakes) {
  const std::string maps = attend("similarity = 'dot'\n");
  EXPECT_THAT(errors(maps + "[[figure]]\nkind = 'scaling'\ninput = 'maps'\n"),
              ElementsAre("7: figure: input: figure scaling reads what bench makes (found 'maps', "
                          "which is attend)"));
  EXPECT_THAT(errors(maps + "[[embed]]\ninput = 'maps'\nsimilarity = 'dot'\n"),
              ElementsAre(HasSubstr("6: embed: input: embed reads what dataset, embed, train")));
}

TEST_F(StudyFile, ValuesAreComparedWithTheInput) {
  EXPECT_THAT(errors(attend("similarity = 'umbral'\nradius = -1\nhead = 99\n")),
              ElementsAre(HasSubstr("5: maps: parameter radius"), HasSubstr("6: maps: --head 99")));
  EXPECT_THAT(errors(attend("similarity = 'umbral'\ngamma = '1,2'\n")),
              ElementsAre(HasSubstr("5: maps: parameter gamma")));
}

TEST_F(StudyFile, SizesOfKeysAreThoseThatTheInputDeclares) {
  // 8 heads of 3 queries on 2 heads of 6 keys: a grid of the keys has 6 cells.
  const auto array = [&](const char* name, std::int64_t heads, std::int64_t n, std::int64_t begin) {
    return fmt::format(R"("{}":{{"dtype":"F32","shape":[1,{},{},2],"data_offsets":[{},{}]}})", name,
                       heads, n, begin, begin + 8 * heads * n);
  };
  const std::string header =
      "{" + array("q", 8, 3, 0) + "," + array("k", 2, 6, 192) + "," + array("v", 2, 6, 288) + "}";
  const auto length = static_cast<std::uint64_t>(header.size());
  std::ofstream file(path("t.safetensors"), std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << std::string(384, '\0');
  file.close();
  const std::string block = "[[attend]]\ninput = 't.safetensors'\nsimilarity = 'dot'\n";
  EXPECT_THAT(errors(block + "mask = ['causal']\n"), IsEmpty());
  EXPECT_THAT(errors(block + "scale = '1,2,3,4,5,6,7,8'\n"), IsEmpty());
  EXPECT_THAT(errors(block + "scale = '1,2'\n"),
              ElementsAre(HasSubstr("4: attend: parameter scale")));
  EXPECT_THAT(errors(block + "head = 8\n"), ElementsAre(HasSubstr("4: attend: --head 8")));
}

TEST_F(StudyFile, TheOperatorOfATraceNeedsNotBeNamed) {
  const std::string trace = CONELAB_SOURCE_DIR "/datasets/mammals_trace.h5:/umbral/seed1";
  const Study study = read("[[attend]]\ninput = '" + trace + "'\n");
  ASSERT_THAT(names(study), ElementsAre("attend"));
  EXPECT_EQ(study.jobs[0].spec.call().similarity, "umbral");
}

TEST_F(StudyFile, NumbersOfTheReportAreThoseOfItsTables) {
  const std::string blocks = attend("similarity = ['dot', 'umbral']\n") +
                             "[[bench]]\nname = 'cost'\nlengths = [16]\n[report]\norder = [";
  const std::string tables =
      "'table: maps by similarity: output_mean', 'table: cost by operator, pass, seq_len: time',";
  EXPECT_THAT(errors(blocks + tables +
                     "'text: {output_mean-dot} {maps-output_mean-umbral}',"
                     "'claim: a | {time-dot-16} <= 2 * {output_mean-umbral}']\n"),
              IsEmpty());
  EXPECT_THAT(errors(blocks + tables +
                     "\n'text: {output_mean-dott}',"
                     "\n'claim: a | {tim-dot-16} <= 2']\n"),
              ElementsAre(HasSubstr("did you mean 'output_mean-dot'?"),
                          HasSubstr("11: order: unknown number 'tim-dot-16'")));
  EXPECT_THAT(
      errors(blocks + "'table: maps by similarty: output_mean',"
                      "'table: cost by seq_length: time']\n"),
      ElementsAre(HasSubstr("did you mean 'similarity'?"), HasSubstr("did you mean 'seq_len'?")));
}

TEST_F(StudyFile, ATableNamesTheAxesOfABenchmark) {
  const std::string cost =
      "[[bench]]\nname = 'cost'\noperators = 'dot,umbral'\nlengths = [16, 32]\npasses = 'forward'\n"
      "[report]\norder = [";
  EXPECT_THAT(errors(cost + "'table: cost by operator, seq_len: time',"
                            "'table: cost by operator: exponent']\n"),
              IsEmpty());
  EXPECT_THAT(errors(cost + "'table: cost by seq_len: time',\n'table: cost: exponent']\n"),
              ElementsAre(HasSubstr("7: order: 'table: cost by seq_len: time': cost has several "
                                    "values of operator; name that key too"),
                          HasSubstr("8: ")));
}

TEST_F(StudyFile, TheSeedOfTheStudyIsThatOfJobsWithoutOne) {
  const Study study =
      read("seed = 7\n[[bench]]\nlengths = [16]\n[[bench]]\nname = 'b'\nseed = 3\n" +
           attend("similarity = 'multiplicative'\nW = 'random'\n"));
  ASSERT_THAT(names(study), ElementsAre("bench", "b", "maps"));
  EXPECT_EQ(study.jobs[0].spec.integer("seed"), 7);
  EXPECT_EQ(study.jobs[1].spec.integer("seed"), 3);
  EXPECT_EQ(study.jobs[2].spec.call().parameters.at("seed").text(), "7");
}

TEST_F(StudyFile, QuickReplacesKeysThatBlocksHaveAndAddsThoseOfTheirTables) {
  const std::string text =
      attend("similarity = ['dot', 'umbral']\n") +
      "[[bench]]\nname = 'cost'\nlengths = '256..4096:x2'\n"
      "[report]\nquick = { similarity = 'dot', lengths = '16,32', cost = { rounds = 2 } }\n";
  EXPECT_THAT(names(read(text)), ElementsAre("maps-dot", "maps-umbral", "cost"));
  const Study quick = read(text, true);
  EXPECT_THAT(names(quick), ElementsAre("maps", "cost"));
  EXPECT_THAT(quick.jobs[1].spec.list("lengths"), ElementsAre("16", "32"));
  EXPECT_EQ(quick.jobs[1].spec.integer("rounds"), 2) << "of the block's own table";
}

TEST_F(StudyFile, EveryErrorHasItsLineAndTheNearestName) {
  const std::vector<std::string> found =
      errors("titel = 'x'\n" +                                                 // 1
             attend("similarity = 'umbrall'\n") +                              // 2-5
             "[[attend]]\nname = 'two'\ninput = 'mapz'\nsimilarity = 'dot'\n"  // 6-9
             "[[atend]]\n"                                                     // 10
             "[[bench]]\nrounds = 'many'\nlenghts = [16]\n"                    // 11-13
             "[report]\norder = ['fig1',\n 'table: cots by x: y']\n");         // 14-16
  ASSERT_EQ(found.size(), 8U) << testing::PrintToString(found);
  EXPECT_THAT(found[0], testing::AllOf(HasSubstr("1: "), HasSubstr("did you mean 'title'?")));
  EXPECT_THAT(found[1], testing::AllOf(HasSubstr("5: "), HasSubstr("did you mean 'umbral'?")));
  EXPECT_THAT(found[2], testing::AllOf(HasSubstr("8: "), HasSubstr("did you mean 'maps'?")));
  EXPECT_THAT(found[3], testing::AllOf(HasSubstr("10: "), HasSubstr("did you mean 'attend'?")));
  EXPECT_THAT(found[4], testing::AllOf(HasSubstr("12: "), HasSubstr("expected a whole number")));
  EXPECT_THAT(found[5], testing::AllOf(HasSubstr("13: "), HasSubstr("did you mean 'lengths'?")));
  EXPECT_THAT(found[6], HasSubstr("15: order: unknown block 'fig1'"));
  EXPECT_THAT(found[7], HasSubstr("16: order: unknown block 'cots'"));
}

TEST_F(StudyFile, RefusesWhatCannotBeRun) {
  EXPECT_THAT(errors("a = \n"), ElementsAre(HasSubstr("1: ")));
  EXPECT_THAT(errors("title = 'x'\n"), ElementsAre(HasSubstr("holds no job")));
  const std::string two = attend("similarity = 'dot'\n");
  EXPECT_THAT(errors(two + two), ElementsAre(HasSubstr("5: the name 'maps'")));
  EXPECT_THAT(errors(attend("similarity = []\n")),
              ElementsAre(HasSubstr("4: similarity: the list")));
  EXPECT_THAT(errors(attend("similarity = 'dot'\ngama = 2\n")), ElementsAre(HasSubstr("5: ")));
  EXPECT_THAT(errors(attend("similarity = 'umbral'\ngama = 2\n")),
              ElementsAre(HasSubstr("did you mean 'gamma'?")));
  EXPECT_THAT(errors("[[figure]]\nname = 'f'\nkind = 'heatmap'\ninput = 'f'\n"),
              ElementsAre(HasSubstr("its own output")));
  EXPECT_THAT(errors("[[figure]]\nname = 'f'\nkind = 'heatmap'\ninput = 'g'\n"
                     "[[figure]]\nname = 'g'\nkind = 'heatmap'\ninput = 'f'\n"),
              testing::Contains(HasSubstr("its own output")));
  EXPECT_THAT(errors("[[attend]]\ninput = '" + shipped + ":/german'\nsimilarity = 'dot'\n"),
              ElementsAre(HasSubstr("2: attend: " + shipped)));
  EXPECT_THAT(errors("[[attend]]\nname = 'a b'\ninput = 'x.h5'\nsimilarity = 'dot'\n"),
              ElementsAre(HasSubstr("2: name"), HasSubstr("3: input: there is no file")));
}

/// Returns by how many shards each job is taken. A shard that takes one takes those that it reads.
std::vector<int> times_taken(const Study& study, int shards) {
  std::vector<int> taken(study.jobs.size(), 0);
  for (int shard = 1; shard <= shards; ++shard) {
    const std::vector<bool> own = jobs_of_shard(study, shard, shards);
    for (std::size_t i = 0; i < own.size(); ++i) {
      taken[i] += own[i] ? 1 : 0;
      for (const JobInput& input : study.jobs[i].inputs) EXPECT_TRUE(!own[i] || own[input.job]);
    }
  }
  return taken;
}

TEST_F(StudyFile, ShardsShareTheJobsAndNoneIsTakenTwice) {
  const Study study =
      read(attend("similarity = ['dot', 'umbral', 'laplacian']\n") +
           "[[figure]]\nname = 'map'\nkind = 'heatmap'\ninput = 'maps'\n"
           "[[figure]]\nname = 'both'\nkind = 'heatmap'\ninput = ['maps', 'maps']\n");
  for (const int shards : {1, 2, 3, 5}) {
    const std::vector<int> taken = times_taken(study, shards);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const bool of_one = study.jobs[i].inputs.size() < 2;
      EXPECT_TRUE(of_one || shards == 1 ? taken[i] == 1 : taken[i] <= 1) << study.jobs[i].name;
    }
  }
}

/// A sweep over one data set is shared, the trials of a case stay with the job that reads them, and
/// every shard has the data sets that it reads.
TEST_F(StudyFile, ShardsShareTheSweepOfOneDataSet) {
  const Study study = read(
      "[[dataset]]\nname = 'trees'\nkind = 'tree'\n"
      "[[train]]\nname = 'heads'\ninput = 'trees'\nsimilarity = ['dot', 'umbral', 'laplacian']\n"
      "tune = { trials = 2, rate = [0.005, 1] }\n");
  ASSERT_EQ(study.jobs.size(), 1U + 3U * 3U);
  EXPECT_EQ(most_shards(study), 3);
  for (int shard = 1; shard <= 3; ++shard) {
    EXPECT_EQ(std::ranges::count(jobs_of_shard(study, shard, 3), true), 4);
  }
  EXPECT_THAT(times_taken(study, 3), ElementsAre(3, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

/// The second of two blocks with equal trials adds those that the first has not: each job has
/// all of its trials in one shard, or waits for the last run.
TEST_F(StudyFile, ShardsShareDataSetsThatNothingReadsAndTrialsOfTwoBlocks) {
  const std::string trees = "[[dataset]]\nname = 'trees'\nkind = 'tree'\ndepth = [2, 3, 4]\n";
  EXPECT_EQ(most_shards(read(trees)), 3);
  const auto train = [](const char* name, int trials) {
    return fmt::format(
        "[[train]]\nname = '{}'\ninput = 'trees'\nsimilarity = ['dot', 'umbral']\n"
        "tune = {{ trials = {}, rate = [0.005, 1] }}\n",
        name, trials);
  };
  const Study study = read(trees + train("few", 2) + train("many", 4));
  const std::vector<int> taken = times_taken(study, 5);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const std::string& block = study.jobs[i].block;
    const bool of_all = block == "few" || block.ends_with(".trials");
    EXPECT_TRUE(of_all ? taken[i] == 1 : block == "trees" || taken[i] <= 1) << study.jobs[i].name;
  }
}

TEST(ShippedStudies, AreSound) {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::directory_iterator(CONELAB_SOURCE_DIR "/resources/studies")) {
    if (entry.path().extension() != ".toml") continue;
    for (const bool quick : {false, true}) {
      const Study study = read_study(entry.path().string(), quick);
      for (const StudyError& error : study.errors) {
        ADD_FAILURE() << entry.path() << ":" << error.line << ": " << error.text;
      }
      EXPECT_TRUE(entry.path().stem() != "first" || study.jobs.size() == 10);
    }
  }
}

}  // namespace
}  // namespace conelab
