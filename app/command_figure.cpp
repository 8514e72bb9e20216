// `conelab figure NAME -o FILE`: draws one figure, with the same bytes as the desktop's export.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/figure_sink.h"
#include "app/output.h"
#include "app/run_job.h"
#include "core/base/names.h"
#include "core/figure/figure_table.h"
#include "core/figure/missing_glyphs.h"
#include "core/study/call_json.h"
#include "core/study/figure_request.h"

namespace conelab {
namespace {

struct TypedFigure {
  FigureRequest request;
  std::string output, weights_array;
  std::vector<std::string> parameters;
  bool json = false;
};

std::string figure_names() {
  std::vector<std::string> names;
  for (const figure::FigureInfo& info : figure::figure_table()) names.emplace_back(info.name);
  return join(names);
}

int run_figure(const TypedFigure& typed) {
  FigureRequest request = typed.request;
  request.parameters = parse_parameters(typed.parameters);
  if (!typed.weights_array.empty()) request.parameters["weights_array"] = typed.weights_array;
  request.context = command_context();
  const std::string format = claim_figure(typed.output);
  const figure::DisplayList list = draw_figure(request);
  write_figure_file(list, typed.output);
  if (const std::string note = figure::missing_note(list); !note.empty()) print_warning(note);
  if (typed.json) {
    print_json({{"output", typed.output},
                {"figure", request.name},
                {"format", format},
                {"width_pt", list.width},
                {"height_pt", list.height},
                {"description", list.metadata.description}});
  } else {
    say("{}: {} ({:.0f} x {:.0f} pt)", typed.output, list.metadata.description, list.width,
        list.height);
  }
  return 0;
}

}  // namespace

Action declare_figure(CLI::App& options) {
  const auto typed = std::make_shared<TypedFigure>();
  options.add_option("NAME", typed->request.name, figure_names() + " (`conelab list figures`)")
      ->required();
  options.add_option("-o,--output", typed->output, "FILE.svg, FILE.pdf or FILE.png")->required();
  options
      .add_option("-i,--input", typed->request.inputs, "what to draw: FILE.h5 or FILE.h5:/group")
      ->allow_extra_args(false);
  options.add_option("-p,--parameter", typed->parameters, "KEY=VALUE (`conelab list figures`)")
      ->allow_extra_args(false);
  options.add_option("--weights-array", typed->weights_array,
                     "the array of attention weights in an --input without q; default: attentions "
                     "or weight");
  options.add_option("--width", typed->request.width, "86mm, 178mm, 7in, 504pt, single or double");
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run_figure(*typed); };
}

}  // namespace conelab
