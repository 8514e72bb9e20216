#include "core/base/ranks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "core/base/error.h"

namespace conelab {

void Ranks::wait(Transfer& transfer, const std::function<bool()>& cancelled) {
  constexpr int polls_at_once = 1000;  // Then the processor is left to others for a moment.
  for (int polls = 0; !done(transfer); ++polls) {
    stop_if(cancelled);
    if (polls < polls_at_once) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

std::vector<std::string> gather(Ranks& ranks, const std::string& own,
                                const std::function<bool()>& cancelled) {
  constexpr int tag = 32000;
  std::uint64_t size = own.size();
  if (ranks.rank() > 0) {
    for (auto transfer :
         {ranks.send(0, tag, &size, sizeof size), ranks.send(0, tag, own.data(), own.size())}) {
      ranks.wait(transfer, cancelled);
    }
    return {};
  }
  std::vector<std::string> all = {own};
  for (int from = 1; from < ranks.size(); ++from) {
    auto transfer = ranks.receive(from, tag, &size, sizeof size);
    ranks.wait(transfer, cancelled);
    std::string& text = all.emplace_back(size, ' ');
    transfer = ranks.receive(from, tag, text.data(), size);
    ranks.wait(transfer, cancelled);
  }
  return all;
}

std::vector<std::int64_t> sum(Ranks& ranks, std::vector<std::int64_t> own,
                              const std::function<bool()>& cancelled) {
  const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof own[0]);
  const std::vector<std::string> all = gather(ranks, bytes, cancelled);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    std::vector<std::int64_t> more(own.size());
    std::memcpy(more.data(), all[rank].data(), bytes.size());
    std::ranges::transform(own, more, own.begin(), std::plus<>());
  }
  return own;
}

}  // namespace conelab
