#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/job/job_record.h"
#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

class Claims : public fixtures::FilesTest {
 protected:
  void SetUp() override {
    FilesTest::SetUp();
    fs::create_directory(path("jobs"));
  }
  [[nodiscard]] std::string file(int n) const { return path("jobs/k.claim-" + std::to_string(n)); }
  [[nodiscard]] std::optional<JobClaim> take() const { return JobClaim::take(directory_, "k"); }
  /// Writes the claim of another process as if it had been renewed some seconds ago.
  void claim(const std::string& tag, int seconds) const {
    fixtures::spill(file(1), tag);
    fs::last_write_time(file(1), fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }
};

TEST_F(Claims, OneProcessHasAJobUntilItLetsGo) {
  {
    const auto first = take();
    ASSERT_TRUE(first);
    EXPECT_FALSE(take());
    EXPECT_TRUE(JobClaim::take(directory_, "other"));
  }
  EXPECT_TRUE(fs::is_empty(path("jobs")));
  EXPECT_TRUE(take());
}

TEST_F(Claims, OfManyThatAskAtOnceOneGetsIt) {
  for (int round = 0; round < 50; ++round) {
    if (round % 2 == 1) claim("elsewhere-1", 1000);
    std::atomic<int> taken{0}, asked{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const auto own = take();
        if (own) ++taken;
        ++asked;
        while (asked < 8) std::this_thread::yield();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taken, 1);
    EXPECT_TRUE(fs::is_empty(path("jobs")));
  }
}

TEST_F(Claims, OfAnotherMachineCountWhileTheyAreRenewed) {
  claim("elsewhere-1", JobClaim::seconds_until_void / 2);
  EXPECT_FALSE(take());
  claim("elsewhere-1", JobClaim::seconds_until_void + 10);
  {
    const auto own = take();
    ASSERT_TRUE(own);
    EXPECT_TRUE(fs::exists(file(2)));
    EXPECT_FALSE(take());
    // It would be void by now, if it were not renewed.
    fs::last_write_time(file(2), fs::file_time_type::clock::now() - std::chrono::hours(1));
    own->renew();
    EXPECT_LT(fs::file_time_type::clock::now() - fs::last_write_time(file(2)),
              std::chrono::minutes(1));
  }
  EXPECT_TRUE(fs::is_empty(path("jobs")));
}

TEST_F(Claims, WithoutANameAreVoidAfterSeconds) {
  claim("", 1);  // Its process may be about to write its name.
  EXPECT_FALSE(take());
  claim("", JobClaim::seconds_until_written + 2);
  EXPECT_TRUE(take());
}

TEST_F(Claims, OfAProcessOfThisMachineThatWasKilledAreVoidAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    const auto own = take();
    _exit(own ? 7 : 1);  // Without the destructor.
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(fs::exists(file(1)));
  EXPECT_TRUE(take());
}

}  // namespace
}  // namespace conelab
