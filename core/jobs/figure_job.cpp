#include "core/jobs/figure_job.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <map>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/sha256.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/pdf.h"
#include "core/drawing/style.h"
#include "core/drawing/svg.h"
#include "core/files/atomic_file.h"
#include "core/files/read_tensors.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"
#include "core/jobs/shared_fields.h"
#include "core/trace/trace.h"

namespace conelab {

std::string claim_figure(const std::string& path, const JobContext& context) {
  std::string format = figure::file_format(path);
  if (format == "png" && !context.write_png) {
    misuse("{}: this program was built without Qt and writes figures as SVG and PDF only", path);
  }
  check_replaceable_figure(path, format);
  probe_writable(path);
  return format;
}

void write_figure_file(const figure::DisplayList& list, const std::string& path,
                       const JobContext& context) {
  const std::string format = figure::file_format(path);
  if (format == "png") return context.write_png(list, path);
  write_text_atomically(path, format == "pdf" ? figure::to_pdf(list) : figure::to_svg(list));
}

// The job `figure`: draws one figure, with the same bytes as the desktop's export.

namespace {

FigureRequest request_of(const JobSpec& spec, const JobContext& context) {
  FigureRequest request{spec.text("kind"), spec.list("input"),
                        spec.parameters(), spec.text("width"),
                        reading_of(spec),  context,
                        nullptr,           spec.text("caption_in") != "file"};
  const std::string weights = spec.text("weights_array");
  if (!weights.empty()) request.parameters["weights_array"] = weights;
  return request;
}

/// Returns the output, and the files beside it that the context asks for.
std::vector<std::string> outputs_of(const JobSpec& spec, const JobContext& context) {
  std::vector<std::string> paths = {spec.text("output")};
  for (const std::string& ending : context.also) {
    paths.push_back(std::filesystem::path(paths.front()).replace_extension(ending).string());
  }
  return paths;
}

/// Returns the inputs that are the snapshots of the training which the spec's input names, the
/// first step first. Throws misuse unless there is one input, and a failure if it has no snapshots.
std::vector<std::string> snapshots_of(const JobSpec& spec, const JobContext& context) {
  const std::vector<std::string> inputs = spec.list("input");
  if (inputs.size() != 1) misuse("--frames: give one --input, the result of `conelab train`");
  const InputSpec input = parse_input_spec(inputs.front());
  const std::vector<std::string> groups = groups_to_open(input.path, {}, context.cancelled);
  const std::string head = input.group.empty() && !groups.empty() ? groups.front() : input.group;
  std::vector<std::string> snapshots;
  for (const std::string& group : groups) {
    if (group.starts_with(head + "/step")) snapshots.push_back(input.path + ":" + group);
  }
  if (snapshots.empty()) {
    fail(
        "{}: {} has no snapshots (expected groups {}/step..., which `conelab train` keeps with "
        "-p snapshots=50)",
        input.path, head.empty() ? "it" : head, head);
  }
  return snapshots;
}

/// Draws a figure of each snapshot of a training: DIR/001.svg, DIR/002.svg, ...
JobReport run_frames(const JobSpec& spec, const JobContext& context) {
  const std::filesystem::path folder = spec.text("frames"), output = spec.text("output");
  const std::string ending = output.has_extension() ? output.extension().string() : ".svg";
  const std::vector<std::string> snapshots = snapshots_of(spec, context);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: {}", folder.string(), error.message());
  FigureRequest request = request_of(spec, context);
  std::vector<std::string> files;
  for (const std::string& snapshot : snapshots) {
    stop_if(context.cancelled);
    request.inputs = {snapshot};
    files.push_back((folder / fmt::format("{:03}{}", files.size() + 1, ending)).string());
    (void)claim_figure(files.back(), context);
    write_figure_file(draw_figure(request), files.back(), context);
    if (context.progress) {
      context.progress("pictures",
                       static_cast<double>(files.size()) / static_cast<double>(snapshots.size()));
    }
  }
  return {.summary = {{"frames", folder.string()},
                      {"figure", spec.text("kind")},
                      {"count", files.size()}},
          .lines = {fmt::format("{}: {} pictures of {}", folder.string(), files.size(),
                                spec.text("kind"))},
          .files = files};
}

JobReport run_figure(const JobSpec& spec, const JobContext& context) {
  if (spec.given("frames")) {
    const JobReport frames = run_frames(spec, context);
    if (spec.text("output").empty()) return frames;
  }
  const bool prints = spec.text("output") == "-" || spec.text("output") == "/dev/stdout";
  const auto outputs = prints ? std::vector<std::string>() : outputs_of(spec, context);
  for (const std::string& path : outputs) (void)claim_figure(path, context);
  const figure::DisplayList list = draw_figure(request_of(spec, context));
  for (const std::string& path : outputs) write_figure_file(list, path, context);
  if (const std::string note = figure::missing_note(list); !note.empty()) {
    context.say("{}", note);
  }
  if (prints) {
    std::string svg = figure::to_svg(list);
    if (svg.ends_with('\n')) svg.pop_back();
    return {.summary = svg, .lines = {svg}};
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
  check_inputs(info, spec.list("input"));
  if (!spec.given("output") && !spec.given("frames")) {
    misuse("--output is required, or --frames DIR (see `conelab figure --help`)");
  }
}

std::vector<std::string> figure_sources(const JobSpec& spec) {
  const figure::FigureSource& source = figure::figure_named(spec.text("kind")).source;
  std::vector<std::string> kinds;
  if (source.traces) kinds = token_sources(spec);
  kinds.insert(kinds.end(), source.results.begin(), source.results.end());
  return kinds;
}

std::vector<std::string> figure_keys(const JobSpec& spec) {
  return all_keys(figure::figure_named(spec.text("kind")).keys);
}

}  // namespace

JobKind figure_job() {
  return with_reading_fields(
      {.name = "figure",
       .about = "draw a figure as SVG, PDF or PNG",
       .example =
           "  conelab figure cones -o cones.svg -p cone=umbral -p u=-0.4,0.3 -p v=0.5,0.2\n"
           "  conelab figure heatmap -o maps.pdf --input datasets/minilm_trace.h5:/german/layer3 "
           "-p similarities=dot,penumbral,umbral -p head=5\n"
           "  conelab figure scaling -o scaling.svg --input bench.h5 --width 86mm\n"
           "  conelab figure points --frames pictures --input trained.h5:/umbral/seed1\n",
       .fields = {{.name = "kind",
                   .option = "NAME",
                   .about = join(names_of(figure::figure_table())) + " (`conelab list figures`)",
                   .required = true},
                  {.name = "output",
                   .option = "-o,--output",
                   .about = "FILE.svg, FILE.pdf or FILE.png; - prints SVG",
                   .kind = FieldKind::output,
                   .changes_result = false},
                  {"input", "--input,-i", "what to draw: FILE.h5 or FILE.h5:/group",
                   FieldKind::inputs},
                  parameters_field("a parameter (`conelab list figures`), -p again for the next"),
                  {"weights_array", "--weights-array",
                   "the array of attention weights in an --input without q; default: attentions or "
                   "weight"},
                  {"width", "--width", "86mm, 178mm, 7in, 504pt, single or double"},
                  {.name = "caption_in",
                   .option = "--caption-in",
                   .about = "drawing or file: under the drawing, or only in the description of the "
                            "file, which a report prints",
                   .initial = "drawing",
                   .choices = {"drawing", "file"}},
                  {.name = "frames",
                   .option = "--frames",
                   .about = "a folder for a picture of each snapshot of the training in --input: "
                            "001.svg, 002.svg, ... (or as the file of -o ends)",
                   .changes_result = false}},
       .run = run_figure,
       .check = check_figure,
       .sources = figure_sources,
       .keys = figure_keys,
       .endings = {".svg", ".pdf", ".png"}});
}

namespace {

/// Returns a SHA-256 for each input, in order and separated by blanks: of the layer that was read
/// of a trace, or of the lines of their digests if there are several; of other files, as results
/// are, that of the file.
std::string digests_of(const FigureRequest& request) {
  std::string digests;
  std::map<std::string, std::string> by_path;  // Several inputs may be groups of one file.
  for (const std::string& input : request.inputs) {
    const auto [own, added] = by_path.try_emplace(parse_input_spec(input).path);
    if (added) {
      std::vector<std::string> layers;
      for (const auto& [path, digest] : *request.layers_read) {
        if (path == own->first) layers.push_back(digest);
      }
      own->second = layers.empty()       ? sha256_of_file(own->first, request.context.cancelled)
                    : layers.size() == 1 ? layers.front()
                                         : sha256(fmt::format("{}\n", fmt::join(layers, "\n")));
    }
    digests += (digests.empty() ? "" : " ") + own->second;
  }
  return digests;
}

}  // namespace

JobSpec figure_spec(const FigureRequest& request) {
  JobSpec spec{&job_named("figure"), {}};
  spec.values["kind"] = request.name;
  if (!request.inputs.empty()) spec.values["input"] = request.inputs;
  spec.values["parameters"] = request.parameters;
  if (!request.width.empty()) spec.values["width"] = request.width;
  if (!request.draws_caption) spec.values["caption_in"] = "file";
  add_reading(request.reading, spec);
  return spec;
}

figure::DisplayList draw_figure(const FigureRequest& given) {
  FigureRequest request = given;
  std::vector<std::pair<std::string, std::string>> layers;
  request.layers_read = &layers;
  const figure::FigureInfo& info = figure::figure_named(request.name);
  figure::check_keys(info, request.parameters);
  check_inputs(info, request.inputs);
  figure::FigureInput input;
  input.info = &info;
  input.parameters = request.parameters;
  input.cancelled = request.context.cancelled;
  if (!request.width.empty()) input.width = figure::width_in_points(request.width);
  input.metadata.draws_caption = request.draws_caption;
  input.metadata.version = version();
  input.metadata.spec = shell_line(command_words(figure_spec(request)));
  if (info.source.read != nullptr) info.source.read(request, input);
  input.metadata.data_hash = digests_of(request);
  return info.make(input);
}

}  // namespace conelab
