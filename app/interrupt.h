// Signals that end the program. The first SIGINT (Ctrl-C) or SIGTERM asks the work to stop; the
// second ends the program at once. SIGHUP, sent when a terminal is closed or a session ends, asks
// the work to stop too, unless the program was started with SIGHUP ignored.
#pragma once

namespace conelab {

/// Installs the signal handlers. Also ignores SIGXFSZ, so that exceeding a limit on the size of
/// files is a failed write.
void install_signal_handlers();

/// Returns whether a signal asked the work to stop. Long work polls it.
[[nodiscard]] bool interrupted();

/// Makes the first signal write one byte into the file descriptor, so that a program that waits in
/// an event loop wakes up. A signal that came before this call writes it at once; -1 ends this.
void wake_on_interrupt(int descriptor);

/// Throws Error(interrupted) if a signal asked the work to stop.
void stop_if_interrupted();

}  // namespace conelab
