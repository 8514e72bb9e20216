// The job `figure`: draws one figure, with the same bytes as the desktop's export.
#include <filesystem>

#include "core/base/error.h"
#include "core/base/find_named.h"
#include "core/figure/file_format.h"
#include "core/figure/missing_glyphs.h"
#include "core/figure/style.h"
#include "core/figure/svg.h"
#include "core/study/attend_job.h"
#include "core/study/figure_output.h"
#include "core/study/figure_request.h"

namespace conelab {

namespace {

FigureRequest request_of(const JobSpec& spec, const JobContext& context) {
  return {spec.text("kind"),  spec.list("input"), spec.parameters(),
          spec.text("width"), reading_of(spec),   context};
}

/// Returns the output, and the files beside it that the context asks for.
std::vector<std::string> outputs_of(const JobSpec& spec, const JobContext& context) {
  std::vector<std::string> paths = {spec.text("output")};
  for (const std::string& ending : context.also) {
    paths.push_back(std::filesystem::path(paths.front()).replace_extension(ending).string());
  }
  return paths;
}

/// Returns the figure as the text of the report, for an output "-" or "/dev/stdout".
JobReport print_figure(const JobSpec& spec, const JobContext& context) {
  const figure::DisplayList list = draw_figure(request_of(spec, context));
  if (const std::string note = figure::missing_note(list); !note.empty()) context.say("{}", note);
  std::string svg = figure::to_svg(list);
  if (svg.ends_with('\n')) svg.pop_back();
  return {.summary = svg, .lines = {svg}};
}

JobReport run_figure(const JobSpec& spec, const JobContext& context) {
  if (spec.text("output") == "-" || spec.text("output") == "/dev/stdout")
    return print_figure(spec, context);
  const std::vector<std::string> outputs = outputs_of(spec, context);
  for (const std::string& path : outputs) (void)claim_figure(path, context);
  const figure::DisplayList list = draw_figure(request_of(spec, context));
  for (const std::string& path : outputs) write_figure_file(list, path, context);
  if (const std::string note = figure::missing_note(list); !note.empty()) {
    context.say("{}", note);
  }
  return {.summary = {{"output", outputs.front()},
                      {"figure", spec.text("kind")},
                      {"format", figure::file_format(outputs.front())},
                      {"width_pt", list.width},
                      {"height_pt", list.height},
                      {"description", list.metadata.description}},
          .lines = {fmt::format("{}: {} ({:.0f} x {:.0f} pt)", outputs.front(),
                                list.metadata.description, list.width, list.height)},
          .files = outputs};
}

void check_figure(const JobSpec& spec) {
  const figure::FigureInfo& info = figure::figure_named(spec.text("kind"));
  figure::check_keys(info, spec.parameters());
  if (const std::string width = spec.text("width"); !width.empty()) {
    (void)figure::width_in_points(width);
  }
  if (info.source == figure::FigureSource::none) {
    if (!spec.list("input").empty()) misuse("figure {} takes no --input", info.name);
  } else if (spec.list("input").empty()) {
    (void)request_of(spec, {}).single_input();
  }
}

std::vector<std::string> figure_keys(const JobSpec& spec) {
  std::vector<std::string> keys;
  for (const auto& key : figure::figure_named(spec.text("kind")).keys) keys.emplace_back(key.key);
  return keys;
}

}  // namespace

JobKind figure_job() {
  JobKind kind = {
      .name = "figure",
      .about = "draw a figure as SVG, PDF or PNG",
      .example =
          "  conelab figure cones -o cones.svg -p cone=umbral -p u=-0.4,0.3 -p v=0.5,0.2\n"
          "  conelab figure heatmap -o maps.pdf --input datasets/minilm_trace.h5:/german/layer3 "
          "-p similarities=dot,penumbral,umbral -p head=5\n"
          "  conelab figure scaling -o scaling.svg --input bench.h5 --width 86mm\n",
      .fields = {{.name = "kind",
                  .option = "NAME",
                  .about = join(names_of(figure::figure_table())) + " (`conelab list figures`)",
                  .required = true},
                 {.name = "output",
                  .option = "-o,--output",
                  .about = "FILE.svg, FILE.pdf or FILE.png; - prints SVG",
                  .kind = FieldKind::output,
                  .required = true,
                  .changes_result = false},
                 {.name = "input",
                  .option = "--input,-i",
                  .about = "what to draw: FILE.h5 or FILE.h5:/group",
                  .kind = FieldKind::inputs},
                 {.name = "parameters",
                  .option = "-p,--parameter",
                  .about = "a parameter (`conelab list figures`), -p again for the next",
                  .kind = FieldKind::parameters},
                 {.name = "width",
                  .option = "--width",
                  .about = "86mm, 178mm, 7in, 504pt, single or double"}},
      .run = run_figure,
      .check = check_figure,
      .keys = figure_keys,
      .endings = {".svg", ".pdf", ".png"}};
  add_reading_fields(kind);
  return kind;
}

}  // namespace conelab
