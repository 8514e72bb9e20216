#include "core/bench/peer.h"

#include <sstream>

#include "core/base/error.h"

namespace conelab {
namespace {

std::string answer(WorkerProcess& worker, const std::string& request, const Peer& peer,
                   const Patience& patience) {
  if (worker.question(request, patience) != CaseStatus::ok) {
    fail("{}: is no peer: {}", peer.command.back(), worker.reason());
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
  return peer;
}

}  // namespace conelab
