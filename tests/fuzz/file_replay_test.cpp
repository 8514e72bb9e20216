#include "tests/fuzz/replay.h"

namespace conelab::fuzz {
namespace {

TEST(Fuzz, EveryTargetOfFilesAnswersItsCorpus) { expect_answers(file_targets()); }

}  // namespace
}  // namespace conelab::fuzz
