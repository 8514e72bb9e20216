#include "core/bench/executor.h"

#include <gtest/gtest.h>

namespace conelab {
namespace {

/// What a worker answers, word by word (core/bench/worker.h).
TEST(EachMeasurement, HasTheOrderOfTheProtocol) {
  std::vector<std::string> words;
  const Sample sample;
  each_measurement(sample, [&](const char* name, double) { words.emplace_back(name); });
  EXPECT_EQ(words, (std::vector<std::string>{"warm", "cold", "runs", "peak_flops", "peak_bytes",
                                             "extra_bytes", "device_bytes", "device_clock",
                                             "device_memory_clock", "device_temperature",
                                             "device_power", "device_throttle"}));
}

TEST(EachFact, HasTheOrderOfTheProtocol) {
  std::vector<double> values;
  const CaseFacts facts{1, 2, 3, 4};
  each_fact(facts, [&](const char*, double value) { values.push_back(value); });
  EXPECT_EQ(values, (std::vector<double>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace conelab
