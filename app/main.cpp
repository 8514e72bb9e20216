// The program's entry: signals, then the command line.
#include "app/command_line.h"
#include "app/interrupt.h"

int main(int argc, char** argv) {
  conelab::install_signal_handlers();
  return conelab::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc});
}
