// Attention on tensors in device memory, with the passes of the device run on the host: the same
// results as the CPU's, for tensors of any strides, in the memory that the caller hands over.
#include "gpu/tensor_call.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "gpu/cuda_backend.h"
#include "gpu/tile/visit_similarity.h"
#include "tests/gpu/agreement.h"
#include "tests/gpu/host_runner.h"
#include "tests/helpers/errors.h"

namespace conelab::gpu::tests {
namespace {

constexpr double unused = 1e300;  // Between the numbers of a tensor with strides.

template <class N>
constexpr NumberType type_of = NumberType::f64;
template <>
constexpr NumberType type_of<float> = NumberType::f32;
template <>
constexpr NumberType type_of<Bfloat16> = NumberType::bf16;

/// A tensor as attention layers of PyTorch leave it, [batch × token × head × feature], with room
/// after each token.
template <class S>
struct Strided {
  std::vector<S> memory;
  TensorView view;

  Strided(const char* name, const Shape4& s) {
    const std::int64_t step = s.feature + 3;
    memory.assign(static_cast<std::size_t>(s.batch * s.token * s.head * step + 1), S(unused));
    view = {name,
            type_of<S>,
            memory.data(),
            {s.batch, s.head, s.token, s.feature},
            {s.token * s.head * step, step, s.head * step, 1}};
  }
  template <class Work>
  void visit(const Work& work) {
    const auto& n = view.sizes;
    for (std::int64_t i = 0, b = 0; b < n[0]; ++b) {
      for (std::int64_t h = 0; h < n[1]; ++h) {
        for (std::int64_t t = 0; t < n[2]; ++t) {
          const std::int64_t at = b * view.strides[0] + h * view.strides[1] + t * view.strides[2];
          for (std::int64_t c = 0; c < n[3]; ++c) {
            work(memory[static_cast<std::size_t>(at + c)], static_cast<std::size_t>(i++));
          }
        }
      }
    }
  }
  template <class From>
  void copy_from(const Tensor4<From>& tensor) {
    visit([&](S& number, std::size_t i) { number = S(tensor.data[i]); });
  }
  [[nodiscard]] Tensor4<double> numbers() {
    const auto& n = view.sizes;
    Tensor4<double> tensor({n[0], n[1], n[2], n[3]});
    visit([&](S& number, std::size_t i) { tensor.data[i] = static_cast<double>(number); });
    return tensor;
  }
};

/// A call of tensors of type S, computed in N, with its tensors.
template <class S, class N>
struct OnHost {
  Strided<S> q, k, v, output, output_grad, q_grad, k_grad, v_grad;
  TensorPlan<N> plan;
  std::vector<N> lse, reference, sum;
  std::map<std::string, std::vector<double>> parameters;

  OnHost(const Call& call, const AttentionInput<double>& input)
      : q("q", input.query.shape),
        k("k", input.key.shape),
        v("v", input.value.shape),
        output("output", input.output_grad.shape),
        output_grad("output_grad", input.output_grad.shape),
        q_grad("q", input.query.shape),
        k_grad("k", input.key.shape),
        v_grad("v", input.value.shape),
        plan(call, std::array{q.view, k.view, v.view}) {
    q.copy_from(input.query.dense());
    k.copy_from(input.key.dense());
    v.copy_from(input.value.dense());
    output_grad.copy_from(input.output_grad.dense());
  }

  void run(Pass pass, Views inputs, Views results) {
    std::vector<std::byte> room(plan.workspace(pass) + 256, std::byte{0xff});
    std::byte* workspace =
        room.data() + (256 - reinterpret_cast<std::uintptr_t>(room.data()) % 256);
    const TensorCall<N> c = plan.call(pass, inputs, results, plan.structure().data(), workspace);
    visit_similarity(plan.similarity(), [&](auto tag) {
      using Similarity = typename decltype(tag)::type;
      if (pass == Pass::forward) {
        run_tensor_forward<Similarity>(HostRunner(), c);
      } else {
        run_tensor_gradient<Similarity>(HostRunner(), c);
      }
    });
  }
  [[nodiscard]] TensorView row_view(const char* name, std::vector<N>& rows) const {
    const auto& n = output.view.sizes;
    rows.resize(static_cast<std::size_t>(n[0] * n[1] * n[2]));
    return {name, type_of<N>, rows.data(), {n[0], n[1], n[2]}, {n[1] * n[2], n[2], 1}};
  }
  void forward() {
    run(Pass::forward, std::array{q.view, k.view, v.view},
        std::array{output.view, row_view("lse", lse), row_view("row_reference", reference),
                   row_view("row_sum", sum)});
  }
  void backward(const Backward<double>& expected) {
    std::vector<TensorView> results{q_grad.view, k_grad.view, v_grad.view};
    for (const auto& [name, values] : expected.parameters) {
      std::vector<double>& own = parameters[name];
      own.assign(values.size(), std::nan(""));
      results.push_back({name, NumberType::f64, own.data(), {std::ssize(own)}, {1}});
    }
    run(Pass::backward,
        std::array{q.view, k.view, v.view, output_grad.view, output.view,
                   row_view("row_reference", reference), row_view("row_sum", sum)},
        results);
  }
};

class TensorCalls : public testing::TestWithParam<Variant> {};

TEST_P(TensorCalls, AgreeWithTheCpu) {
  const std::vector<Parts> all{{"none", {"full"}},
                               {"none", {"causal"}, "softmax", "mean", true},
                               {"none", {"window", "causal"}},
                               {"none", {"strided"}}};
  std::size_t turn = 0;
  for (const Parts& parts : all) {
    const Extents extents = with_key_heads({2, 4, 70, 83, 7, 5}, turn++);
    const Call call = make_call(GetParam(), parts, extents);
    SCOPED_TRACE(call_text(call));
    const AttentionInput<double> input = random_input(call, extents, 11);
    const auto plan = resolve(call, check_extents(input));
    const Forward<double> saved = forward(*plan, input, one_thread());
    const Backward<double> expected = backward(*plan, input, saved, one_thread());
    OnHost<double, double> found(call, input);
    found.forward();
    EXPECT_LE(difference(found.output.numbers(), saved.output), 1e-12);
    Tensor4<double> lse(saved.lse.shape);
    lse.data = found.lse;
    EXPECT_LE(difference(lse, saved.lse), 1e-12);
    found.backward(expected);
    EXPECT_LE(difference(found.q_grad.numbers(), expected.query), 1e-9) << "q";
    EXPECT_LE(difference(found.k_grad.numbers(), expected.key), 1e-9) << "k";
    EXPECT_LE(difference(found.v_grad.numbers(), expected.value), 1e-9) << "v";
    for (const auto& [name, values] : expected.parameters) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_NEAR(found.parameters[name][i], values[i], 1e-8 * std::max(1.0, std::abs(values[i])))
            << name << " " << i;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, TensorCalls, testing::ValuesIn(pair_variants()),
                         conelab::tests::variant_name);

AttentionInput<double> small_input(const Call& call) {
  return random_input(call, {1, 2, 70, 70, 8, 3}, 3);
}

TEST(TensorCall, WritesResultsOfTheTensorsType) {
  Call call;
  const AttentionInput<double> input = small_input(call);
  const auto plan = resolve(call, check_extents(input));
  const Forward<double> saved = forward(*plan, input, one_thread());
  const Backward<double> expected = backward(*plan, input, saved, one_thread());
  OnHost<Bfloat16, double> found(call, input);
  found.forward();
  found.backward(expected);
  EXPECT_LE(difference(found.output.numbers(), saved.output), 1e-2);
  EXPECT_LE(difference(found.q_grad.numbers(), expected.query), 5e-2);
  std::size_t kept = 0;
  for (const Bfloat16 number : found.output.memory) kept += number > 1e30F ? 1 : 0;
  EXPECT_EQ(kept, 70u * 2 * 3 + 1) << "numbers between the tokens were written";
}

TEST(TensorCall, MakesRowsThatSeeAValueThatIsNotFiniteNaN) {
  for (const char* mask : {"causal", "strided:stride=8"}) {
    Call call = call_from_text(std::string("umbral:mask=") + mask);
    AttentionInput<double> input = small_input(call);
    input.value.owned().at(0, 1, 60, 2) = std::numeric_limits<double>::infinity();
    const auto plan = resolve(call, check_extents(input));
    const Tensor4<double> expected = forward(*plan, input, one_thread()).output;
    OnHost<double, double> found(call, input);
    found.forward();
    Tensor4<double> output = found.output.numbers();
    int seen = 0;
    for (int h = 0; h < 2; ++h) {
      for (int i = 0; i < 70; ++i) {
        const bool finite = std::isfinite(expected.at(0, h, i, 2));
        seen += finite ? 0 : 1;
        EXPECT_EQ(std::isnan(output.at(0, h, i, 0)), !finite) << mask << " " << h << " " << i;
      }
    }
    EXPECT_GT(seen, 0);
    EXPECT_LT(seen, 70);
  }
}

TEST(TensorCall, MakesRowsThatSeeATokenOutsideTheModelNaN) {
  Call call = call_from_text("penumbral:map=none:mask=causal");
  AttentionInput<double> input = small_input(call);
  input.key.owned().at(0, 0, 60, 7) = 2;  // Above the light.
  OnHost<double, double> found(call, input);
  found.forward();
  Tensor4<double> output = found.output.numbers();
  for (int i = 0; i < 70; ++i) EXPECT_EQ(std::isnan(output.at(0, 0, i, 0)), i >= 60) << i;
}

TEST(TensorCall, RefusesInOneLineWhatTheCpuComputes) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"penumbral:bias=alibi", "a bias"},
           {"dot:weights=sigmoid", "a law of weights other than softmax"},
           {"dot:position=rope", "a map by tensors, or a position"},
           {"penumbral:aggregate=einstein", "the Einstein midpoint"},
           {"penumbral:mask=padding", "a mask that reads a tensor"},
           {"dot:soft_cap=3", "soft_cap"},
           {"star", "a structured operator"}}) {
    SCOPED_TRACE(text);
    const Call call = call_from_text(text);
    EXPECT_EQ(fixtures::misuse_of([&] { OnHost<double, double>(call, small_input(call)); }),
              "device cuda: " + part + " is computed on the CPU only for tensors of PyTorch");
  }
}

TEST(TensorCall, FailsInOneLineWithoutADevice) {
  if (cuda_backend().state().available) GTEST_SKIP() << "there is a device";
  const Call call;
  OnHost<float, float> on_host(call, small_input(call));
  const Error error =
      fixtures::error_of([&] { launch(on_host.plan, Pass::forward, {}, 0, nullptr); });
  EXPECT_EQ(error.kind(), ErrorKind::failure);
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace conelab::gpu::tests
