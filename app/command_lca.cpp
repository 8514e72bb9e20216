// `conelab lca`: the lowest common ancestor of two points under a cone family.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/command_job.h"
#include "app/command_line.h"
#include "app/lca_json.h"
#include "app/output.h"
#include "core/base/environment.h"
#include "core/figure/cones.h"
#include "core/geometry/lca_query.h"
#include "core/job/call_json.h"
#include "core/jobs/figure_job.h"

namespace conelab {
namespace {

using geometry::LcaResult;
using geometry::Vector;

std::string point_text(const Vector& x) {
  std::string text;
  for (const double c : x) text += fmt::format("{}{:.12g}", text.empty() ? "(" : ", ", c);
  return text + ")";
}

const char* relation_sentence(const std::string& relation) {
  if (relation == "u_is_ancestor") return "u is an ancestor of v";
  if (relation == "v_is_ancestor") return "v is an ancestor of u";
  if (relation == "equal") return "u and v are equal";
  return "neither is an ancestor of the other";
}

void print_result(const LcaResult& result) {
  std::string parameters;
  for (const auto& [key, value] : result.parameters)
    parameters += fmt::format(" {}={}", key, value);
  if (geometry::cone_family(result.cone).base == geometry::Base::plane) {
    const bool distance = result.measure == geometry::DepthMeasure::distance;
    parameters += distance ? " depth=distance" : " depth=height";
  }
  say("{} cones,{} ({})", result.cone, parameters, result.model);
  say("  u         {}   potential {:.12g}", point_text(result.u), result.potential.u);
  say("  v         {}   potential {:.12g}", point_text(result.v), result.potential.v);
  say("  base      {:.12g}", result.base);
  say("  relation  {}", relation_sentence(result.relation));
  if (result.lca) {
    say("  lca       {}   potential {:.12g}", point_text(*result.lca), *result.potential.lca);
  } else {
    say("  lca       none: no common ancestor exists; the depth is the family's extension");
  }
  say("  depth     {:.12g}", result.depth);
  say("  logit     {:.12g}", result.logit);
}

struct TypedLca {
  std::string cone, u, v, model, figure;
  std::vector<std::string> parameters;
  bool json = false;
};

/// Returns the command that draws this figure again. Its output is left out because it does not
/// change the figure.
std::string spec_of(const TypedLca& typed) {
  std::vector<std::string> words = {"conelab", "lca", "--cone", typed.cone};
  for (const std::string& p : typed.parameters) words.insert(words.end(), {"-p", p});
  if (!typed.model.empty()) words.insert(words.end(), {"--model", typed.model});
  words.insert(words.end(), {std::string(unshielded(typed.u)), std::string(unshielded(typed.v))});
  return shell_line(words);
}

/// Draws what was computed, in the model of the points; beyond two dimensions, in the plane of u, v
/// and the source. Returns the line that says so.
std::string write_lca_figure(const LcaResult& result, const TypedLca& typed) {
  figure::ConesFigure f;
  f.cone = result.cone;
  for (const auto& [key, value] : result.parameters) {
    if (key != "gamma") f.parameters[key] = value;
  }
  f.depth = result.measure;
  f.model = geometry::model_from_name(result.model);
  const geometry::PlanePair plane = geometry::plane_slice(result);
  f.u = plane.u;
  f.v = plane.v;
  const bool solid = result.u.size() - (f.model == geometry::Model::hyperboloid ? 1 : 0) > 2;
  if (solid) f.caption = "In the plane of u, v and the light";
  f.metadata.version = version();
  f.metadata.spec = spec_of(typed);
  const figure::DisplayList list = figure::draw_cones(f);
  write_figure_file(list, typed.figure, command_context());
  return fmt::format("{}: {} ({:.0f} x {:.0f} pt)", typed.figure, list.metadata.description,
                     list.width, list.height);
}

int run_lca(const TypedLca& typed) {
  if (!typed.figure.empty()) claim_figure(typed.figure, command_context());
  const LcaResult result = geometry::lca_query(
      typed.cone, parse_parameters(typed.parameters),
      geometry::parse_point(std::string(unshielded(typed.u)), "u"),
      geometry::parse_point(std::string(unshielded(typed.v)), "v"), typed.model);
  const std::string written = typed.figure.empty() ? "" : write_lca_figure(result, typed);
  typed.json ? print_json(lca_json(result)) : print_result(result);
  if (!typed.json && !written.empty()) say("{}", written);
  return 0;
}

}  // namespace

Action declare_lca(CLI::App& options) {
  const auto typed = std::make_shared<TypedLca>();
  options.add_option("--cone", typed->cone, geometry::cone_family_names(", "))->required();
  options
      .add_option("U", typed->u,
                  "a point: x1,x2,...; in the halfspace model (penumbral, umbral) the last "
                  "coordinate is the height, > 0; in the ball (penumbral-finite, umbral-finite, "
                  "ganea) all lie in the unit ball, the light at its centre")
      ->required();
  options.add_option("V", typed->v, "the other point")->required();
  options
      .add_option("-p,--parameter", typed->parameters,
                  "KEY=VALUE: height, radius, gamma, depth, ...")
      ->allow_extra_args(false);
  options.add_option("--model", typed->model,
                     "model of the points: halfspace, ball, klein, hyperboloid or band; default: "
                     "halfspace for penumbral and umbral, ball for penumbral-finite, umbral-finite "
                     "and ganea; infinity of the halfspace is the ball's north pole (0,...,0,1)");
  options.add_option("--figure", typed->figure, "draw it: FILE.svg, FILE.pdf or FILE.png");
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run_lca(*typed); };
}

}  // namespace conelab
