// Ctrl-C and SIGTERM: the first asks the work to stop, the second ends the program at once. SIGHUP,
// of a terminal that is closed or a session that ends, asks as well; it is left alone where the
// program was started with it ignored.
#pragma once

namespace conelab {

/// Installs the handlers. Also turns a file-size limit into a failed write instead of a signal.
void install_signal_handlers();

/// Whether a stop was asked for; polled by long work.
[[nodiscard]] bool interrupted();

/// For programs that wait in an event loop: the first signal, also one that came before, writes a
/// byte into `descriptor`; -1: into none.
void wake_on_interrupt(int descriptor);

/// Throws Error(interrupted) where a stop was asked for.
void stop_if_interrupted();

}  // namespace conelab
