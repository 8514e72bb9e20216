#include "app/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "core/base/error.h"

namespace conelab {
namespace {

std::atomic<int> signals_seen{0}, woken{-1};
static_assert(std::atomic<int>::is_always_lock_free, "a handler may touch lock-free atomics only");

void wake() {
  const int before = errno;
  const char byte = 0;
  if (woken >= 0) (void)!write(woken, &byte, 1);
  errno = before;
}

extern "C" void on_signal(int) {
  if (signals_seen.fetch_add(1) > 0) _exit(static_cast<int>(ErrorKind::interrupted));
  wake();
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // The write fails with EFBIG and is reported like a full disk.
}

void wake_on_interrupt(int descriptor) {
  woken = descriptor;
  if (interrupted()) wake();
}

bool interrupted() { return signals_seen.load(std::memory_order_relaxed) > 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::interrupted, "interrupted");
}

}  // namespace conelab
