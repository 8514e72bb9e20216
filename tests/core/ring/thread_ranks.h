// Ranks that are threads of one process.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "core/base/ranks.h"

namespace conelab::tests {

/// The messages that were sent and not yet received, by sender, receiver and tag.
class Mailbox {
 public:
  using Key = std::tuple<int, int, int>;
  void put(const Key& key, std::vector<char> bytes) {
    const std::lock_guard lock(mutex_);
    messages_[key].push_back(std::move(bytes));
  }
  bool take(const Key& key, void* bytes, std::size_t count) {
    const std::lock_guard lock(mutex_);
    auto& waiting = messages_[key];
    if (waiting.empty()) return false;
    if (waiting.front().size() != count) throw std::length_error("a message of another size");
    std::memcpy(bytes, waiting.front().data(), count);
    waiting.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::deque<std::vector<char>>> messages_;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(Mailbox& mailbox, int rank, int size) : mailbox_(mailbox), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool done(Transfer& transfer) override {
    const auto waiting = std::static_pointer_cast<Waiting>(transfer);
    if (waiting && !mailbox_.take(waiting->key, waiting->bytes, waiting->count)) return false;
    transfer.reset();
    return true;
  }

 protected:
  Transfer start_send(int to, int tag, const void* bytes, std::size_t count) override {
    const auto* first = static_cast<const char*>(bytes);
    mailbox_.put({rank_, to, tag}, {first, first + count});
    return {};
  }
  Transfer start_receive(int from, int tag, void* bytes, std::size_t count) override {
    return std::make_shared<Waiting>(Waiting{{from, rank_, tag}, bytes, count});
  }

 private:
  struct Waiting {
    Mailbox::Key key;
    void* bytes;
    std::size_t count;
  };
  Mailbox& mailbox_;
  int rank_, size_;
};

/// Calls work(ranks) on so many ranks and rethrows what the lowest of them throws.
template <class Work>
void run_ranks(int size, const Work& work) {
  Mailbox mailbox;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ThreadRanks ranks(mailbox, rank, size);
        work(ranks);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace conelab::tests
