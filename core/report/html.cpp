// Writes a report as one HTML file that loads nothing: styles, script and figures are inside.
#include <fmt/format.h>

#include "core/drawing/text.h"
#include "core/files/byte_file.h"
#include "core/report/page_texts.h"
#include "core/report/report.h"

namespace conelab {
namespace {

std::string escaped(const std::string& text) {
  return figure::xml_escaped(figure::clean_text(text));
}

/// Returns the SVG element of a file, without what belongs to a document of its own.
std::string svg_element(const std::string& path) {
  const ByteFile file(path);
  const std::string text = file.read(0, file.size());
  const std::size_t begin = text.find("<svg");
  return begin == std::string::npos ? "" : text.substr(begin);
}

class HtmlWriter {
 public:
  explicit HtmlWriter(const Report& report) : report_(report) {}

  std::string page() {
    text_ = page_begin;
    const ReportStudy& first = report_.studies.front();
    const std::string title = escaped(first.title());
    add("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n", title, page_style,
        title);
    for (const ReportStudy& study : report_.studies) add_study(study);
    for (const std::string& change : report_.changes) {
      add("<p><b>Changed since it was computed</b>: {}</p>\n", escaped(change));
    }
    for (const ReportSection& section : report_.sections) {
      std::visit([&](const auto& one) { add_section(one); }, section);
    }
    add_jobs();
    add("<script>{}</script>\n</body>\n</html>\n", page_script);
    return std::move(text_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  [[nodiscard]] bool several() const { return report_.studies.size() > 1; }

  void add_study(const ReportStudy& study) {
    add("<p class=\"facts\">");
    if (several()) add("<b>{}</b>: ", escaped(study.label));
    add("{} of {} jobs are done; {}, seed {}{}.", study.index.count("done"), study.jobs().size(),
        escaped(study.index.program), study.index.seed,
        study.index.quick ? "; <b>quick: a smaller study than planned</b>" : "");
    add("</p>\n<details class=\"machine\"><summary>Machine</summary><table>");
    for (const auto& [name, value] : study.index.machine.items()) {
      const std::string text =
          value.is_number() ? fmt::format("{}", value.get<double>()) : value_text(value);
      add("<tr><td>{}</td><td>{}</td></tr>", escaped(name), escaped(text));
    }
    add("</table></details>\n");
  }

  /// Adds where a result comes from: its command, its file, and the digest of the file's content.
  void add_source(std::size_t s, std::size_t j) {
    const ReportStudy& study = report_.studies[s];
    const JobRecord& job = study.jobs()[j];
    add("<code class=\"command\">{}</code><span class=\"digest\">{} · SHA-256 "
        "<code>{}</code></span>",
        escaped(job.command), escaped(report_.folders[s] + "/" + job.files.front()),
        escaped(job.digest));
  }

  /// Adds a number that opens what it was computed from.
  void add_number(const Number& number) {
    if (number.origins.empty()) {
      add("–");
      return;
    }
    add("<details class=\"number\"><summary>{}</summary><div><b>{}</b>",
        escaped(plain_number(number.text)), escaped(number.name));
    const std::size_t used = number.origins.size() - number.missing;
    if (number.origins.size() > 1) add(", mean of {}", used);
    if (number.missing > 0) add(", {} without a number", number.missing);
    add("<ol>");
    for (const Origin& origin : number.origins) {
      std::string keys;
      for (const auto& [key, value] : origin.keys) keys += key + " = " + value + ", ";
      add("<li>{}{}<br>", escaped(keys), origin.value);
      add_source(origin.study, origin.job);
      add("</li>");
    }
    add("</ol></div></details>");
  }

  void add_pieces(const TextPieces& pieces) {
    for (const TextPiece& piece : pieces) {
      if (piece.number) {
        add_number(report_.numbers[*piece.number]);
      } else {
        text_ += escaped(piece.text);
      }
    }
  }

  void add_section(const TextSection& section) {
    for (const TextPieces& paragraph : section.paragraphs) {
      add("<div class=\"text\">");
      add_pieces(paragraph);
      add("</div>\n");
    }
  }

  void add_section(const FigureSection& section) {
    if (section.figures.empty()) {
      add("<p class=\"facts\">No figure of {} has been drawn.</p>\n", escaped(section.block));
    }
    add("<div class=\"figures\">\n");
    for (const ReportFigure& figure : section.figures) add_figure(figure);
    add("</div>\n");
  }

  void add_figure(const ReportFigure& figure) {
    const ReportStudy& study = report_.studies[figure.study];
    add("<figure id=\"{}\">\n<div class=\"paper\">", escaped(figure.name));
    text_ += svg_element(study.path(study.jobs()[figure.job]));
    add("</div>\n<figcaption><b>Figure {}.</b> ", ++figures_);
    if (several()) add("<b>{}.</b> ", escaped(study.label));
    add("{}<details><summary>How it was made</summary>", escaped(study.jobs()[figure.job].name));
    add_source(figure.study, figure.job);
    if (!figure.data.empty()) {
      add("<span class=\"digest\">of data with SHA-256 <code>{}</code></span>",
          escaped(figure.data));
    }
    add("</details></figcaption>\n</figure>\n");
  }

  /// Begins a table; `caption` and `heads` are HTML.
  void begin_table(const char* kind, const std::string& caption,
                   const std::vector<std::string>& heads) {
    if (!caption.empty()) add("<p class=\"caption\"><b>Table {}.</b> {}</p>", ++tables_, caption);
    add("<div class=\"scroll\"><table class=\"{}\"><thead><tr><th>{}</th></tr></thead>\n<tbody>\n",
        kind, fmt::join(heads, "</th><th>"));
  }
  void end_table() { add("</tbody></table></div>\n"); }

  void add_section(const TableSection& section) {
    const Table& table = section.table;
    std::vector<std::string> heads;
    for (const std::string& key : table.entry.keys) heads.push_back(escaped(key));
    for (const std::string& measure : table.entry.measures) {
      for (const ReportStudy& study : report_.studies) {
        heads.push_back(escaped(measure_title(measure)) +
                        (several() ? "<br>" + escaped(study.label) : ""));
      }
    }
    begin_table("sortable", escaped(table.entry.block + ". " + table.note), heads);
    for (const TableRow& row : table.rows) {
      add("<tr>");
      for (const std::string& value : row.values) add("<td>{}</td>", escaped(value));
      for (const std::size_t i : row.numbers) {
        add("<td data-value=\"{}\">", report_.numbers[i].interval.value);
        add_number(report_.numbers[i]);
        add("</td>");
      }
      add("</tr>\n");
    }
    end_table();
    for (const BenchVerdicts& verdicts : section.verdicts) add_verdicts(verdicts);
  }

  void add_verdicts(const BenchVerdicts& verdicts) {
    const auto cells = [](std::vector<std::string> row) {
      for (std::string& cell : row) cell = escaped(cell);
      return row;
    };
    begin_table(
        "sortable",
        escaped(fmt::format("{}: time of {} over time of {}.", verdicts.job,
                            report_.studies[verdicts.study].label, report_.studies.front().label)),
        cells(verdicts.cases.header));
    for (const auto& row : verdicts.cases.rows) {
      add("<tr><td>{}</td></tr>\n", fmt::join(cells(row), "</td><td>"));
    }
    end_table();
    add("<details class=\"machine\"><summary>How they were compared</summary>");
    for (const std::size_t s : {std::size_t{0}, verdicts.study}) {
      const auto& jobs = report_.studies[s].jobs();
      add_source(s, static_cast<std::size_t>(find_named(jobs, verdicts.job) - jobs.data()));
    }
    for (const std::string& note : verdicts.notes) add("<p>not the same {}</p>", escaped(note));
    add("</details>\n");
  }

  void add_section(const ClaimSection& section) {
    begin_table("claims", "Claims.", {"Claim", "We measure", "Outcome", "Why"});
    for (const ClaimRow& row : section.rows) {
      add("<tr><td>");
      add_pieces(row.says);
      add("</td><td>");
      add_pieces(row.relation);
      add("</td><td>{}</td><td>", claim_verdict_name(row.result.verdict));
      add_pieces(row.why);
      add("</td></tr>\n");
    }
    end_table();
  }

  void add_jobs() {
    add("<h2>Jobs</h2>\n");
    begin_table("sortable jobs", "", {"job", "kind", "state", "seconds", "how"});
    for (std::size_t s = 0; s < report_.studies.size(); ++s) {
      for (std::size_t j = 0; j < report_.studies[s].jobs().size(); ++j) add_job(s, j);
    }
    end_table();
  }

  void add_job(std::size_t s, std::size_t j) {
    const ReportStudy& study = report_.studies[s];
    const JobRecord& job = study.jobs()[j];
    add("<tr><td>{}{}</td><td>{}</td><td>{}</td><td data-value=\"{}\">{:.3g}</td><td>",
        several() ? escaped(study.label) + "<br>" : "", escaped(job.name), escaped(job.kind),
        escaped(job.status), job.seconds, job.seconds);
    if (!job.done()) {
      add("{}<br><code class=\"command\">{}</code>", escaped(job.error), escaped(job.command));
    } else {
      add("<details class=\"number\"><summary>command, digest</summary><div>");
      add_source(s, j);
      add("</div></details>");
    }
    for (const std::string& remark : job.remarks) add("<br>{}", escaped(remark));
    add("</td></tr>\n");
  }

  const Report& report_;
  std::string text_;
  int figures_ = 0, tables_ = 0;
};

}  // namespace

std::string report_html(const Report& report) { return HtmlWriter(report).page(); }

}  // namespace conelab
