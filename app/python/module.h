// The parts of the extension module `conelab._conelab`, over which the package in conelab/ lies.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/tensor_view.h"

namespace nanobind {
class module_;
}

namespace conelab::python {

/// A tensor in memory that Python keeps alive during the call: name, address, number type,
/// sizes, strides in numbers.
using Tensor = std::tuple<std::string, std::uintptr_t, int, std::vector<std::int64_t>,
                          std::vector<std::int64_t>>;
[[nodiscard]] TensorView view_of(const Tensor& tensor);
[[nodiscard]] std::vector<TensorView> views_of(const std::vector<Tensor>& tensors);

/// Runs work(cancelled) without the interpreter's lock. Ctrl-C makes `cancelled` return true. What
/// `work` throws becomes ValueError for misuse, RuntimeError for failures, and KeyboardInterrupt.
void run_unlocked(const std::function<void(const std::function<bool()>& cancelled)>& work);

// Each adds its functions to the module.
void add_calls(nanobind::module_& module);    // calls.cpp
void add_files(nanobind::module_& module);    // files.cpp
void add_figures(nanobind::module_& module);  // figures.cpp
void add_ranks(nanobind::module_& module);    // ranks.cpp

}  // namespace conelab::python
