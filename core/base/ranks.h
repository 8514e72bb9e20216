// The processes that compute one job together, as `mpirun` starts them: ranks 0 ... size - 1, which
// send bytes to each other. Rank 0 speaks with the user and writes the result.
//
// A build without MPI has no ranks; the interface is here, so that the engine needs no MPI. Tests
// implement it by threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace conelab {

class Ranks {
 public:
  /// A message under way; null once it has been sent or received.
  using Transfer = std::shared_ptr<void>;

  virtual ~Ranks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Start to send or to receive a message without waiting. The memory must stay until `done`
  /// returns true. Messages between the same two ranks with the same tag, from 0 to 32767, arrive
  /// in their order.
  [[nodiscard]] Transfer send(int to, int tag, const void* bytes, std::size_t count) {
    sent_bytes_ += static_cast<std::int64_t>(count);
    return start_send(to, tag, bytes, count);
  }
  [[nodiscard]] Transfer receive(int from, int tag, void* bytes, std::size_t count) {
    received_bytes_ += static_cast<std::int64_t>(count);
    return start_receive(from, tag, bytes, count);
  }
  /// Returns whether a message has been sent or received, and lets all messages go on. Throws an
  /// Error if another rank has failed.
  [[nodiscard]] virtual bool done(Transfer& transfer) = 0;
  /// Waits for a message. Throws as `done` does, and interrupted once `cancelled` returns true.
  void wait(Transfer& transfer, const std::function<bool()>& cancelled = {});

  /// Return the bytes that this rank has sent and received so far.
  [[nodiscard]] std::int64_t sent_bytes() const { return sent_bytes_; }
  [[nodiscard]] std::int64_t received_bytes() const { return received_bytes_; }

 protected:
  virtual Transfer start_send(int to, int tag, const void* bytes, std::size_t count) = 0;
  virtual Transfer start_receive(int from, int tag, void* bytes, std::size_t count) = 0;

 private:
  std::int64_t sent_bytes_ = 0, received_bytes_ = 0;
};

/// Returns on rank 0 the texts of all ranks, and nothing on others.
[[nodiscard]] std::vector<std::string> gather(Ranks& ranks, const std::string& own,
                                              const std::function<bool()>& cancelled = {});

/// Returns on rank 0 the sums over all ranks, and on others `own`.
[[nodiscard]] std::vector<std::int64_t> sum(Ranks& ranks, std::vector<std::int64_t> own,
                                            const std::function<bool()>& cancelled = {});

}  // namespace conelab
