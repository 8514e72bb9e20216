// Peers: other programs whose operators join a sweep, so that rivals are timed in the same rounds.
//
// A peer is a program that answers the worker's protocol (worker.h) over its standard streams, and
//
//   > operators          < operators NAME NAME ...
//   > about              < about TEXT                    (name and version, for the result file)
//   > predict CASE...    < predict BYTES FLOPS           (words as after `case`)
//
// All cases of a peer share one process, because such programs take seconds to start and to
// compile; it is started again after a crash. Where it does not measure the machine's multiply-add
// peak beside a sample (answers nan), the runner does.
#pragma once

#include <string>
#include <vector>

#include "core/bench/worker_process.h"

namespace conelab {

struct Peer {
  std::vector<std::string> command;  ///< Argument vector; the first word is looked up in PATH.
  std::string about;
  std::vector<std::string> operations;
};

/// Starts the program and asks what it is. Fails with its command where it cannot be started, does
/// not answer, or has no operators.
[[nodiscard]] Peer ask_peer(const std::vector<std::string>& command, const Patience& patience);

}  // namespace conelab
