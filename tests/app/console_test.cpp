#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "app/command_line.h"
#include "app/output.h"
#include "app/progress.h"
#include "core/base/duration.h"

namespace conelab {
namespace {

TEST(ShieldNumber, MarksNumbersThatLookLikeOptions) {
  EXPECT_EQ(shield_number("-0.3,0.2"), " -0.3,0.2");
  EXPECT_EQ(shield_number("-.5"), " -.5");
  EXPECT_EQ(shield_number("-1e-3,2"), " -1e-3,2");
  for (const char* other : {"-p", "--", "-", "-3.h5", "0.3,0.2", "-e", "--threads", ""}) {
    EXPECT_EQ(shield_number(other), other);
    EXPECT_EQ(unshielded(other), other);
  }
  EXPECT_EQ(unshielded(shield_number("-0.3,0.2")), "-0.3,0.2");
}

TEST(ReportCurrentException, MapsEveryExceptionToAStatus) {
  const auto status_of = [](auto exception) {
    try {
      throw exception;
    } catch (...) {
      return report_current_exception();
    }
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(status_of(std::bad_alloc()), 1);
  EXPECT_EQ(status_of(std::length_error("vector")), 1);
  EXPECT_EQ(status_of(std::runtime_error("two\nlines")), 1);
  EXPECT_EQ(status_of(7), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "conelab: error: out of memory\n"
            "conelab: error: out of memory (a size is beyond every limit)\n"
            "conelab: error: two\\x0alines\n"
            "conelab: error: unknown failure\n");
}

TEST(Progress, TellsTimes) {
  EXPECT_EQ(clock_text(7.4), "7 s");
  EXPECT_EQ(clock_text(185), "3:05");
  EXPECT_EQ(clock_text(7385), "2:03:05");
  EXPECT_EQ(duration_text(0.00124), "1.24 ms");
  EXPECT_EQ(duration_text(3.25e-5), "32.5 µs");
  EXPECT_DOUBLE_EQ(remaining_seconds(10, 0.25), 30);
  EXPECT_TRUE(std::isnan(remaining_seconds(10, 0)));
  EXPECT_TRUE(std::isnan(remaining_seconds(10, 1e-5)));  // It would be eleven days.
}

TEST(Progress, PrefersTheTimeLeftThatItIsTold) {
  Progress bar("work");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // Shorter work shows nothing.
  testing::internal::CaptureStderr();
  bar.update(0.5, "half", 3600.0);
  bar.clear();
  bar.update(0.6, "more", 3000.0);  // The next line comes ten seconds later.
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line, "work: 50 % ETA 1:00:00, half\n");
}

}  // namespace
}  // namespace conelab
