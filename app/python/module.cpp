#include "app/python/module.h"

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/environment.h"
#include "core/base/error.h"

namespace conelab::python {

namespace nb = nanobind;

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto poll_period = std::chrono::milliseconds(100);

/// Ctrl-C during a call that runs without the interpreter's lock. Only the thread that made the
/// object may ask the interpreter for signals.
class Interrupt {
 public:
  [[nodiscard]] bool wanted() {
    const bool asks = std::this_thread::get_id() == caller_ && Clock::now() >= next_;
    if (wanted_ || !asks) return wanted_;
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) wanted_ = true;
    next_ = Clock::now() + poll_period;
    return wanted_;
  }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + poll_period;
  std::atomic<bool> wanted_ = false;
};

}  // namespace

TensorView view_of(const Tensor& tensor) {
  const auto& [name, address, type, sizes, strides] = tensor;
  return {name, static_cast<NumberType>(type), reinterpret_cast<void*>(address), sizes, strides};
}

std::vector<TensorView> views_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (const Tensor& tensor : tensors) views.push_back(view_of(tensor));
  return views;
}

void run_unlocked(const std::function<void(const std::function<bool()>&)>& work) {
  Interrupt interrupt;
  try {
    const nb::gil_scoped_release unlocked;
    work([&] { return interrupt.wanted(); });
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted && PyErr_Occurred() != nullptr) {
      throw nb::python_error();
    }
    PyErr_SetString(error.kind() == ErrorKind::usage ? PyExc_ValueError : PyExc_RuntimeError,
                    error.what());
    throw nb::python_error();
  }
}

}  // namespace conelab::python

NB_MODULE(_conelab, module) {
  // The package keeps plans of recent calls until the interpreter ends, which is no leak.
  nanobind::set_leak_warnings(false);
  module.attr("version") = conelab::version().c_str();
  conelab::python::add_calls(module);
  conelab::python::add_files(module);
  conelab::python::add_figures(module);
  conelab::python::add_ranks(module);
}
