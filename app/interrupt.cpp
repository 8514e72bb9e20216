#include "app/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "core/base/error.h"

namespace conelab {
namespace {

/// `presses` counts Ctrl-C and SIGTERM; `asked` says whether any signal asked the work to stop.
std::atomic<int> presses{0}, woken{-1};
std::atomic<bool> asked{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a handler may touch lock-free atomics only");

void wake() {
  const int before = errno;
  const char byte = 0;
  if (woken >= 0) (void)!write(woken, &byte, 1);
  errno = before;
}

/// A terminal that is closed may send SIGHUP twice, and at the end of a session it comes together
/// with SIGTERM. This must not end the program at once.
extern "C" void on_signal(int number) {
  if (number != SIGHUP && presses.fetch_add(1) > 0) {
    _exit(static_cast<int>(ErrorKind::interrupted));
  }
  asked = true;
  wake();
}

/// A program that `nohup` started continues without its terminal.
bool ignored(int number) {
  struct sigaction now = {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  if (!ignored(SIGHUP)) sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // The write fails with EFBIG and is reported like a full disk.
}

void wake_on_interrupt(int descriptor) {
  woken = descriptor;
  if (interrupted()) wake();
}

bool interrupted() { return asked.load(std::memory_order_relaxed); }

void stop_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::interrupted, "interrupted");
}

}  // namespace conelab
