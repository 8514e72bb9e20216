#include "tests/fuzz/replay.h"

namespace conelab::fuzz {
namespace {

TEST(Fuzz, EveryTargetOfTextsAnswersItsCorpus) { expect_answers(text_targets()); }

}  // namespace
}  // namespace conelab::fuzz
