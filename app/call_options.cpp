#include "app/call_options.h"

#include <CLI/CLI.hpp>

#include "app/call_json.h"
#include "core/base/error.h"

namespace conelab {

Call CallOptions::call() const {
  if (similarity.empty() == operator_name.empty()) {
    misuse("give one of --similarity and --operator (see `conelab list operators`)");
  }
  Call call;
  call.similarity = similarity.empty() ? operator_name : similarity;
  call.map = map;
  call.bias = bias;
  call.masks = split_list(mask, "--mask");
  call.weights = weights;
  call.aggregate = aggregate;
  call.parameters = parse_parameters(parameters);
  return call;
}

std::shared_ptr<CallOptions> declare_call(CLI::App& options) {
  auto typed = std::make_shared<CallOptions>();
  options.add_option("-s,--similarity", typed->similarity,
                     "pairwise logit (`conelab list similarities`)");
  options.add_option("--operator", typed->operator_name,
                     "a whole operator by name (`conelab list operators`)");
  options
      .add_option("-p,--parameter", typed->parameters,
                  "KEY=VALUE; a list gives one value per head: gamma=1,2,4,8")
      ->allow_extra_args(false);
  options.add_option("--map", typed->map,
                     "from Euclid to the model; default: the similarity's own");
  options.add_option("--bias", typed->bias, "position: none, alibi, hype")->capture_default_str();
  options.add_option("--mask", typed->mask, "masks to intersect: causal,padding")
      ->capture_default_str();
  options.add_option("--weights", typed->weights, "softmax or sigmoid")->capture_default_str();
  options.add_option("--aggregate", typed->aggregate, "mean or einstein")->capture_default_str();
  return typed;
}

}  // namespace conelab
