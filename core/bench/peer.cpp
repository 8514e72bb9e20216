#include "core/bench/peer.h"

#include <sstream>

#include "core/base/error.h"

namespace conelab {
namespace {

[[noreturn]] void no_peer(const Peer& peer, const std::string& why) {
  fail("{}: is no peer: {}", fmt::join(peer.command, " "), why);
}

std::string answer(WorkerProcess& worker, const std::string& request, const Peer& peer,
                   const Patience& patience) {
  if (worker.question(request, patience) != CaseStatus::ok) {
    no_peer(peer, worker.reason());
  }
  return worker.reason();
}

}  // namespace

Peer ask_peer(const std::vector<std::string>& command, const Patience& patience) {
  Peer peer{command, "", {}};
  WorkerProcess worker(command);
  peer.about = answer(worker, "about", peer, patience);
  std::istringstream names(answer(worker, "operators", peer, patience));
  for (std::string name; names >> name;) peer.operations.push_back(name);
  if (peer.operations.empty()) no_peer(peer, "names no operators");
  return peer;
}

}  // namespace conelab
