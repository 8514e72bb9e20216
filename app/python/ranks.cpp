// Attention that the processes of a group share (core/ring/shared_call.h). Python carries their
// messages, as PyTorch's distributed does.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "app/python/module.h"
#include "core/ring/shared_call.h"

namespace conelab::python {
namespace {

namespace nb = nanobind;

/// Ranks whose messages an object of Python carries: send(to, tag, bytes) and receive(from, tag,
/// bytes) return the number of a message, and done(number) whether it is complete. `bytes` is a
/// memoryview, which must not be used once the message is complete.
class PythonRanks final : public Ranks {
 public:
  PythonRanks(nb::object carrier, int rank, int size)
      : carrier_(std::move(carrier)), rank_(rank), size_(size) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] bool done(Transfer& transfer) override {
    if (!transfer) return true;
    const nb::gil_scoped_acquire lock;
    if (!nb::cast<bool>(carrier_.attr("done")(*std::static_pointer_cast<int>(transfer)))) {
      return false;
    }
    transfer.reset();
    return true;
  }

 protected:
  Transfer start_send(int to, int tag, const void* bytes, std::size_t count) override {
    return start("send", to, tag, const_cast<void*>(bytes), count);
  }
  Transfer start_receive(int from, int tag, void* bytes, std::size_t count) override {
    return start("receive", from, tag, bytes, count);
  }

 private:
  nb::object carrier_;
  int rank_, size_;

  Transfer start(const char* way, int other, int tag, void* bytes, std::size_t count) {
    if (count == 0) return {};
    const nb::gil_scoped_acquire lock;
    const nb::object view = nb::steal(PyMemoryView_FromMemory(
        static_cast<char*>(bytes), static_cast<Py_ssize_t>(count), PyBUF_WRITE));
    return std::make_shared<int>(nb::cast<int>(carrier_.attr(way)(other, tag, view)));
  }
};

/// A call, between its forward and its backward passes.
class GroupCall {
 public:
  GroupCall(const std::string& call, const std::vector<Tensor>& inputs,
            const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
            nb::object carrier, int rank)
      : ranks_(std::move(carrier), rank, static_cast<int>(queries.size())) {
    run_unlocked([&](const auto&) {
      call_ = share(call_from_text(call), views_of(inputs), {queries, keys}, ranks_);
    });
  }
  void forward(const std::vector<Tensor>& results, int threads) {
    run_unlocked([&](const auto& cancelled) {
      call_->forward(views_of(results), execution(threads, cancelled));
    });
  }
  void backward(const Tensor& output_grad, const std::vector<Tensor>& results, int threads) {
    run_unlocked([&](const auto& cancelled) {
      call_->backward(view_of(output_grad), views_of(results), execution(threads, cancelled));
    });
  }

 private:
  PythonRanks ranks_;
  std::unique_ptr<SharedCall> call_;

  static Execution execution(int threads, const std::function<bool()>& cancelled) {
    Execution run;
    run.threads = threads, run.cancelled = cancelled;
    return run;
  }
};

}  // namespace

void add_ranks(nb::module_& module) {
  nb::class_<GroupCall>(module, "GroupCall")
      .def(
          nb::init<const std::string&, const std::vector<Tensor>&, const std::vector<std::int64_t>&,
                   const std::vector<std::int64_t>&, nb::object, int>())
      .def("forward", &GroupCall::forward)
      .def("backward", &GroupCall::backward);
}

}  // namespace conelab::python
