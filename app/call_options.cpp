#include "app/call_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/call_json.h"
#include "core/base/error.h"
#include "core/call/call_text.h"

namespace conelab {
namespace {

/// Sets a part to what its own option says, if that was given.
template <class T>
void choose(T& part, const T& usual, const std::optional<T>& typed, const std::string& option,
            const std::string& operation) {
  if (!typed) return;
  if (part != usual && part != *typed) {
    misuse("{}: contradicts --operator {}", option, operation);
  }
  part = *typed;
}

}  // namespace

Call CallOptions::call() const {
  if (similarity.empty() == operation.empty()) {
    misuse("give one of --similarity and --operator (see `conelab list operators`)");
  }
  Call call;
  const Call usual;
  if (operation.empty()) {
    call.similarity = similarity;
  } else {
    call = call_from_text(operation);
  }
  std::optional<std::vector<std::string>> masks;
  if (mask) {  // As calls have it, causal+padding, too.
    std::string list = *mask;
    std::replace(list.begin(), list.end(), '+', ',');
    masks = split_list(list, "--mask");
  }
  choose(call.map, usual.map, map, "--map", operation);
  choose(call.bias, usual.bias, bias, "--bias", operation);
  choose(call.masks, usual.masks, masks, "--mask", operation);
  choose(call.weights, usual.weights, weights, "--weights", operation);
  choose(call.aggregate, usual.aggregate, aggregate, "--aggregate", operation);
  for (const auto& [key, value] : parse_parameters(parameters)) {
    choose(call.parameters[key], {}, std::optional(value), "-p " + key, operation);
  }
  return call;
}

std::shared_ptr<CallOptions> declare_call(CLI::App& options) {
  auto typed = std::make_shared<CallOptions>();
  options.add_option("-s,--similarity", typed->similarity,
                     "pairwise logit (`conelab list similarities`)");
  options.add_option("--operator", typed->operation,
                     "a whole operator by name (`conelab list operators`), or a call as "
                     "penumbral:gamma=2:masks=causal+padding");
  options
      .add_option("-p,--parameter", typed->parameters,
                  "a parameter, -p again for the next; a list gives one value per head: "
                  "gamma=1,2,4,8")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false);
  options.add_option("--map", typed->map,
                     "from Euclid to the model; default: the similarity's own");
  options.add_option("--bias", typed->bias, "position: none, alibi, hype")->default_str("none");
  options
      .add_option(
          "--mask", typed->mask,
          "masks to intersect: causal,padding; a dataset mask of the input applies by itself")
      ->default_str("full");
  options.add_option("--weights", typed->weights, "softmax, or sigmoid of each logit by itself")
      ->default_str("softmax");
  options
      .add_option("--aggregate", typed->aggregate,
                  "mean of the values, or einstein: their midpoint in the Klein ball")
      ->default_str("mean");
  return typed;
}

}  // namespace conelab
