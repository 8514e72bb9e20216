#include "core/base/ranks.h"

#include <chrono>
#include <thread>

#include "core/base/error.h"

namespace conelab {

void Ranks::wait(Transfer& transfer, const std::function<bool()>& cancelled) {
  constexpr int polls_at_once = 1000;  // Then the processor is left to others for a moment.
  for (int polls = 0; !done(transfer); ++polls) {
    if (cancelled && cancelled()) throw Error(ErrorKind::interrupted, "interrupted");
    if (polls < polls_at_once) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

}  // namespace conelab
