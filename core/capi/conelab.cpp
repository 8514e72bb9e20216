#include "core/capi/conelab.h"

#include "core/base/current_exception.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/call/call.h"
#include "core/operators/prepared_call.h"

using conelab::TensorView;

struct conelab_plan {
  std::unique_ptr<const conelab::PreparedCall> call;
  struct Results {
    std::vector<conelab_tensor> tensors;
    std::vector<std::vector<std::int64_t>> strides;
  } forward, backward;
};

namespace {

thread_local std::string last_error;
thread_local const char* last_evaluation = "";

/// Runs `work` and returns its status. What it throws becomes the thread's error text.
template <class Work>
conelab_status guarded(const Work& work) noexcept {
  try {
    try {
      work();
      return CONELAB_OK;
    } catch (...) {
      const auto [status, text] = conelab::describe_current_exception();
      last_error = text;
      return static_cast<conelab_status>(status);
    }
  } catch (...) {
    last_error.clear();  // The text itself found no memory.
  }
  return CONELAB_FAILURE;
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    if (sizes[i] < 0 || __builtin_mul_overflow(strides[i], sizes[i], &strides[i - 1])) {
      conelab::misuse("axis {} of a tensor has {} entries", i, sizes[i]);
    }
  }
  return strides;
}

std::vector<TensorView> views_of(const conelab_tensor* tensors, std::size_t count) {
  std::vector<TensorView> views;
  views.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const conelab_tensor& t = tensors[i];
    if (t.name == nullptr) conelab::misuse("tensor {} of {} has no name", i, count);
    if (t.rank > 0 && t.sizes == nullptr) conelab::misuse("tensor {} has no sizes", t.name);
    const std::vector<std::int64_t> sizes(t.sizes, t.sizes + t.rank);
    views.push_back({t.name, static_cast<conelab::NumberType>(t.dtype), t.data, sizes,
                     t.strides == nullptr
                         ? dense_strides(sizes)
                         : std::vector<std::int64_t>(t.strides, t.strides + t.rank)});
  }
  return views;
}

conelab::Execution execution_of(const conelab_run* run) {
  conelab::Execution execution;
  if (run == nullptr) return execution;
  if (run->threads < 0) conelab::misuse("threads must be 0 or more (found {})", run->threads);
  execution.threads = run->threads;
  if (run->cancelled != nullptr) {
    execution.cancelled = [run] { return run->cancelled(run->context) != 0; };
  }
  return execution;
}

conelab_plan::Results declared(const std::vector<TensorView>& results) {
  conelab_plan::Results made;
  for (const TensorView& r : results) made.strides.push_back(dense_strides(r.sizes));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorView& r = results[i];
    made.tensors.push_back({r.name.c_str(), nullptr, static_cast<conelab_dtype>(r.type),
                            r.sizes.size(), r.sizes.data(), made.strides[i].data()});
  }
  return made;
}

}  // namespace

const char* conelab_version(void) {
  static const std::string version = conelab::version();
  return version.c_str();
}

const char* conelab_error(void) { return last_error.c_str(); }

const char* conelab_evaluation(void) { return last_evaluation; }

conelab_status conelab_prepare(const char* call, const conelab_tensor* inputs, size_t count,
                               conelab_plan** plan) {
  *plan = nullptr;
  return guarded([&] {
    auto made = std::make_unique<conelab_plan>();
    made->call = conelab::prepare(conelab::call_from_text(call), views_of(inputs, count));
    made->forward = declared(made->call->results(conelab::Pass::forward));
    made->backward = declared(made->call->results(conelab::Pass::backward));
    *plan = made.release();
  });
}

void conelab_release(conelab_plan* plan) { delete plan; }

const conelab_tensor* conelab_results(const conelab_plan* plan, conelab_pass pass, size_t* count) {
  const conelab_plan::Results& results = pass == CONELAB_FORWARD ? plan->forward : plan->backward;
  *count = results.tensors.size();
  return results.tensors.data();
}

conelab_status conelab_forward(const conelab_plan* plan, const conelab_tensor* inputs,
                               size_t input_count, const conelab_tensor* results,
                               size_t result_count, const conelab_run* run) {
  return guarded([&] {
    last_evaluation = plan->call->forward(views_of(inputs, input_count),
                                          views_of(results, result_count), execution_of(run));
  });
}

conelab_status conelab_backward(const conelab_plan* plan, const conelab_tensor* inputs,
                                size_t input_count, const conelab_tensor* results,
                                size_t result_count, const conelab_run* run) {
  return guarded([&] {
    plan->call->backward(views_of(inputs, input_count), views_of(results, result_count),
                         execution_of(run));
  });
}

conelab_status conelab_map_tile(const conelab_plan* plan, const conelab_tensor* inputs,
                                size_t input_count, conelab_map map, const conelab_tile* tile,
                                const conelab_tensor* out, const conelab_run* run) {
  return guarded([&] {
    const conelab::Map2d which =
        map == CONELAB_WEIGHTS ? conelab::Map2d::weights : conelab::Map2d::logits;
    plan->call->tile(views_of(inputs, input_count), which,
                     {tile->batch, tile->head, tile->query_begin, tile->query_end, tile->key_begin,
                      tile->key_end},
                     views_of(out, 1).front(), execution_of(run));
  });
}
