// Counts the memory that calls keep.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "core/bench/machine.h"
#include "tests/helpers/slowness.h"

namespace conelab::fixtures {

/// Fails the test if each of three times `count` calls take a megabyte more. A tenth of the calls
/// goes before the measuring. They are call(0), call(1), and so on without a repetition. A thread
/// that joins late brings its memory once, so one time without growth is enough.
inline void expect_calls_keep_no_memory(int count, const std::function<void(int)>& call) {
  if (slowness > 1) GTEST_SKIP() << "a sanitizer keeps memory";
  int next = 0;
  const auto resident_after = [&](int times) {
    for (int i = 0; i < times; ++i) call(next++);
    return resident_bytes();
  };
  double before = resident_after(count / 10);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double after = resident_after(count), grown = after - before;
    std::printf("%d calls took %.0f kB more\n", count, grown / 1e3);
    if (grown < 1e6) return;
    before = after;
  }
  ADD_FAILURE() << "each time " << count << " calls took more memory";
}

}  // namespace conelab::fixtures
