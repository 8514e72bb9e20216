#include "core/jobs/attend_job.h"

#include "core/jobs/job_table.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

class AttendJobTest : public fixtures::FilesTest {
 protected:
  /// Runs the job on the shipped trace and returns how often a call was resolved in it.
  std::int64_t resolved_by(FieldValues values) {
    values.emplace("input",
                   std::string(CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5:/german/layer3"));
    values.emplace("output", path("out.h5"));
    values.emplace("keep", std::vector<std::string>{"output", "lse", "weights", "logits"});
    values.emplace("device", std::string("cpu"));
    const JobSpec spec = spec_of_typed(job_named("attend"), std::move(values));
    const std::int64_t before = resolve_count();
    (void)run_job(spec, {});
    return resolve_count() - before;
  }
};

TEST_F(AttendJobTest, ResolvesItsCallOnce) {
  for (const char* similarity : {"dot", "umbral", "multiplicative"}) {
    FieldValues values = {{"similarity", std::string(similarity)}};
    if (similarity == std::string("multiplicative")) {
      values["parameters"] = std::map<std::string, std::string>{{"W", "random"}};
    }
    EXPECT_EQ(resolved_by(values), 1) << similarity;
  }
  std::map<std::string, std::string> drawn = {{"classes", "4"}};
  for (const char* tensor : {"P", "Q", "W_reference", "W_query"}) drawn[tensor] = "random";
  EXPECT_EQ(resolved_by({{"operator", std::string("agglomerative")}, {"parameters", drawn}}), 1);
}

TEST_F(AttendJobTest, ResolvesTheCallOfOneHeadAfterThatOfAll) {
  EXPECT_EQ(resolved_by({{"similarity", std::string("dot")}, {"head", std::int64_t{2}}}), 2);
}

}  // namespace
}  // namespace conelab
