#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <atomic>
#include <thread>

#include "core/base/error.h"
#include "tests/widgets/driving.h"
#include "widgets/window/session_file.h"

namespace conelab::desktop {
namespace {

SavedSession numbered(int i) {
  SavedSession saved;
  saved.session.trace.head = i;
  return saved;
}

/// A disk that takes its time: each write waits until it is let through.
struct SlowDisk {
  std::mutex mutex;
  std::condition_variable changed;
  int let_through = 0;
  std::atomic<int> arrived{0};
  std::vector<std::pair<QString, std::int64_t>> written;

  SessionWriter::Write write() {
    return [this](const SavedSession& saved, const QString& path) {
      ++arrived;
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return let_through > 0; });
      --let_through;
      if (path == "full") fail("full: no space left");
      written.emplace_back(path, saved.session.trace.head);
    };
  }
  void let(int count) {
    {
      const std::lock_guard lock(mutex);
      let_through = count;
    }
    changed.notify_all();
  }
};

TEST(SessionWriter, TheNewestStateIsWrittenLastAndThoseBetweenAreLeftOut) {
  SlowDisk disk;
  SessionWriter writer(disk.write());
  writer.save(numbered(0), "a");
  ASSERT_TRUE(wait_for([&] { return disk.arrived == 1; }));
  for (int i = 1; i <= 50; ++i) writer.save(numbered(i), "a");
  writer.save(numbered(51), "b");  // Another file does not take the place of this one.
  writer.save(numbered(52), "a");
  disk.let(1000);
  writer.finish();
  const std::vector<std::pair<QString, std::int64_t>> expected = {{"a", 0}, {"a", 52}, {"b", 51}};
  EXPECT_EQ(disk.written, expected);
}

TEST(SessionWriter, FinishWaitsForTheDiskAndTellsWhatBecameOfIt) {
  SlowDisk disk;
  SessionWriter writer(disk.write());
  QStringList told;
  QObject::connect(&writer, &SessionWriter::saved, [&](const QString& path) { told << path; });
  QObject::connect(&writer, &SessionWriter::failed,
                   [&](const QString&, const QString& why) { told << why; });
  writer.save(numbered(1), "a");
  writer.save(numbered(2), "full");
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    disk.let(1000);
  });
  writer.finish();
  EXPECT_EQ(told, QStringList({"a", "full: no space left"}));
  EXPECT_EQ(disk.written.size(), 1U);
  later.join();
  pump(30);
  EXPECT_EQ(told.size(), 2) << "told twice";
}

TEST(SessionWriter, WhatStillWaitsAtTheEndIsWritten) {
  SlowDisk disk;
  {
    SessionWriter writer(disk.write());
    writer.save(numbered(1), "a");
    writer.save(numbered(2), "b");
    disk.let(1000);
  }
  EXPECT_EQ(disk.written.size(), 2U);
}

TEST(SessionWriter, WritesFilesThatLoad) {
  QTemporaryDir folder;
  const QString path = folder.filePath("s.json");
  SessionWriter writer;
  for (int i = 0; i <= 20; ++i) writer.save(numbered(i), path);
  writer.finish();
  EXPECT_EQ(load_session(path).session.trace.head, 20);
}

}  // namespace
}  // namespace conelab::desktop
