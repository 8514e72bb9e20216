// Calls of operators, through the C interface, and of attention on a CUDA device.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "app/python/module.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/capi/conelab.h"
#include "core/operators/operator.h"
#include "gpu/tensor_call.h"

namespace conelab::python {
namespace {

namespace nb = nanobind;
using Tensors = std::vector<Tensor>;

std::vector<conelab_tensor> c_tensors(const Tensors& tensors) {
  std::vector<conelab_tensor> list;
  list.reserve(tensors.size());
  for (const auto& [name, address, type, sizes, strides] : tensors) {
    list.push_back({name.c_str(), reinterpret_cast<void*>(address),
                    static_cast<conelab_dtype>(type), sizes.size(), sizes.data(), strides.data()});
  }
  return list;
}

/// Throws what a status says, as run_unlocked expects it.
void check(conelab_status status) {
  if (status != CONELAB_OK) throw Error(static_cast<ErrorKind>(status), conelab_error());
}

/// Calls work(run) without the interpreter's lock.
template <class Work>
void run_pass(int threads, const Work& work) {
  run_unlocked([&](const std::function<bool()>& cancelled) {
    const auto poll = [](void* context) {
      return (*static_cast<const std::function<bool()>*>(context))() ? 1 : 0;
    };
    const conelab_run run{threads, poll, const_cast<std::function<bool()>*>(&cancelled)};
    check(work(&run));
  });
}

/// A call that has been checked for tensors of certain sizes.
class Plan {
 public:
  Plan(const std::string& call, const Tensors& tensors) {
    const std::vector<conelab_tensor> inputs = c_tensors(tensors);
    run_unlocked([&](const auto&) {
      check(conelab_prepare(call.c_str(), inputs.data(), inputs.size(), &plan_));
    });
  }
  ~Plan() { conelab_release(plan_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Returns (name, type, sizes) of each result of a pass.
  [[nodiscard]] nb::list results(bool backward) const {
    std::size_t count = 0;
    const conelab_tensor* all =
        conelab_results(plan_, backward ? CONELAB_BACKWARD : CONELAB_FORWARD, &count);
    nb::list list;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::int64_t> sizes(all[i].sizes, all[i].sizes + all[i].rank);
      list.append(nb::make_tuple(all[i].name, static_cast<int>(all[i].dtype), nb::cast(sizes)));
    }
    return list;
  }
  /// Returns conelab_evaluation.
  [[nodiscard]] std::string forward(const Tensors& inputs, const Tensors& results,
                                    int threads) const {
    run_pass_of(conelab_forward, inputs, results, threads);
    return conelab_evaluation();
  }
  void backward(const Tensors& inputs, const Tensors& results, int threads) const {
    run_pass_of(conelab_backward, inputs, results, threads);
  }
  /// `tile` is (batch, head, query_begin, query_end, key_begin, key_end).
  void tile(const Tensors& inputs, bool weights, const std::vector<std::int64_t>& tile,
            const Tensor& out, int threads) const {
    const Tensors outs{out};
    const std::vector<conelab_tensor> in = c_tensors(inputs), to = c_tensors(outs);
    const conelab_tile part{tile.at(0), tile.at(1), tile.at(2), tile.at(3), tile.at(4), tile.at(5)};
    run_pass(threads, [&](const conelab_run* run) {
      return conelab_map_tile(plan_, in.data(), in.size(),
                              weights ? CONELAB_WEIGHTS : CONELAB_LOGITS, &part, to.data(), run);
    });
  }

  void run_pass_of(decltype(&conelab_forward) pass, const Tensors& inputs, const Tensors& results,
                   int threads) const {
    run_pass_of(pass, c_tensors(inputs), c_tensors(results), threads);
  }
  void run_pass_of(decltype(&conelab_forward) pass, const std::vector<conelab_tensor>& in,
                   const std::vector<conelab_tensor>& out, int threads) const {
    run_pass(threads, [&](const conelab_run* run) {
      return pass(plan_, in.data(), in.size(), out.data(), out.size(), run);
    });
  }

 private:
  conelab_plan* plan_ = nullptr;
};

/// A pass of a plan, for many calls whose tensors differ in nothing but their places.
class BoundPass {
 public:
  /// The address of a tensor is 0 for the first one in a piece of memory; those that follow in the
  /// same piece have their distances from its begin, in bytes.
  BoundPass(const Plan& plan, bool backward, Tensors inputs, Tensors results)
      : plan_(plan),
        pass_(backward ? &conelab_backward : &conelab_forward),
        inputs_(std::move(inputs)),
        results_(std::move(results)) {}

  /// `addresses` are those of the pieces of memory, of inputs and then of results.
  void run(const std::vector<std::uintptr_t>& addresses, int threads) const {
    std::vector<conelab_tensor> in = c_tensors(inputs_), out = c_tensors(results_);
    std::size_t pieces = 0;
    for (auto* tensors : {&in, &out}) {
      for (conelab_tensor& tensor : *tensors) {
        const auto offset = reinterpret_cast<std::uintptr_t>(tensor.data);
        if (offset == 0) ++pieces;
        tensor.data = reinterpret_cast<void*>(addresses.at(pieces - 1) + offset);
      }
    }
    plan_.run_pass_of(pass_, in, out, threads);
  }

 private:
  const Plan& plan_;
  decltype(&conelab_forward) pass_;
  Tensors inputs_, results_;
};

/// A call on tensors in the memory of a CUDA device (gpu/tensor_call.h). Addresses are of that
/// memory.
class DevicePlan {
 public:
  DevicePlan(const std::string& call, const Tensors& tensors) {
    run_unlocked([&](const auto&) {
      plan_ = std::make_unique<gpu::TensorPlan<float>>(call_from_text(call), views_of(tensors));
    });
  }
  [[nodiscard]] nb::bytes structure() const {
    return nb::bytes(plan_->structure().data(), plan_->structure().size());
  }
  [[nodiscard]] std::size_t workspace(bool backward) const {
    return plan_->workspace(backward ? Pass::backward : Pass::forward);
  }
  /// Launches a pass on device number `device` and a stream, and returns at once.
  void run(bool backward, const Tensors& inputs, const Tensors& results, std::uintptr_t structure,
           std::uintptr_t workspace, int device, std::uintptr_t stream) const {
    run_unlocked([&](const auto&) {
      const Pass pass = backward ? Pass::backward : Pass::forward;
      gpu::launch(*plan_, pass,
                  plan_->call(pass, views_of(inputs), views_of(results),
                              reinterpret_cast<const std::byte*>(structure),
                              reinterpret_cast<std::byte*>(workspace)),
                  device, reinterpret_cast<void*>(stream));
    });
  }

 private:
  std::unique_ptr<const gpu::TensorPlan<float>> plan_;
};

}  // namespace

void add_calls(nb::module_& module) {
  nb::class_<Plan>(module, "Plan")
      .def(nb::init<const std::string&, const Tensors&>())
      .def("results", &Plan::results)
      .def("forward", &Plan::forward)
      .def("backward", &Plan::backward)
      .def("tile", &Plan::tile)
      .def(
          "bind",
          [](const Plan& plan, bool backward, Tensors inputs, Tensors results) {
            return BoundPass(plan, backward, std::move(inputs), std::move(results));
          },
          nb::keep_alive<0, 1>());
  nb::class_<BoundPass>(module, "BoundPass").def("__call__", &BoundPass::run);
  nb::class_<DevicePlan>(module, "DevicePlan")
      .def(nb::init<const std::string&, const Tensors&>())
      .def("structure", &DevicePlan::structure)
      .def("workspace", &DevicePlan::workspace)
      .def("run", &DevicePlan::run);
#ifdef CONELAB_HAS_CUDA
  module.attr("has_cuda") = true;
#else
  module.attr("has_cuda") = false;
#endif
  module.def("tensor_names", [] { return all_keys(tensor_parameters()); });
}

}  // namespace conelab::python
