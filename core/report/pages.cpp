// Writes a report as one HTML file that loads nothing (styles, script and figures are inside), and
// as LaTeX: report.tex, and numbers.tex with a macro for each number.
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "core/base/utf8.h"
#include "core/drawing/text.h"
#include "core/files/byte_file.h"
#include "core/report/page_texts.h"
#include "core/report/report.h"

namespace conelab {
namespace {

const std::map<char32_t, std::string>& signs() {
  static const std::map<char32_t, std::string> table = [] {
    std::map<char32_t, std::string> texts = {{U'\n', " "}, {U'\t', " "}};
    std::istringstream lines(latex_signs);
    for (std::string line; std::getline(lines, line);) {
      const Utf8Character sign = first_character(line);
      texts[sign.code] = line.substr(sign.length + 1);
    }
    return texts;
  }();
  return table;
}

/// Returns whether the usual fonts of LaTeX have the letter.
bool has_accents(char32_t code) {
  constexpr std::u32string_view missing = U"×÷ÐðÞþ";
  return code >= U'À' && code <= U'ÿ' && missing.find(code) == missing.npos;
}

std::string latex_character(char32_t code) {
  if (const auto sign = signs().find(code); sign != signs().end()) return sign->second;
  if ((code >= U' ' && code < 0x7F) || has_accents(code)) return encode_utf8({&code, 1});
  return fmt::format("U+{:04X}", static_cast<std::uint32_t>(code));
}

bool is_letter(char32_t code) {
  return (code >= U'a' && code <= U'z') || (code >= U'A' && code <= U'Z') ||
         (code >= U'0' && code <= U'9');
}

}  // namespace

std::string latex_text(const std::string& text) {
  std::string latex;
  for (const char32_t code : decode_utf8(text)) latex += latex_character(code);
  return latex;
}

std::string latex_code(const std::string& text) {
  constexpr int longest_run = 16;
  std::string latex;
  int run = 0;
  for (const char32_t code : decode_utf8(text)) {
    // Two hyphens would become a dash.
    latex += code == U'-' ? "-{}" : latex_character(code);
    run = is_letter(code) ? run + 1 : longest_run;
    if (run < longest_run) continue;
    if (code != U' ') latex += "\\allowbreak{}";
    run = 0;
  }
  return latex;
}

namespace {

using Texts = std::vector<std::string>;

/// A paragraph holds facts about a study, a result that has changed, or its author's text.
enum class Paragraph { facts, change, text };

class ReportWriter {
 public:
  explicit ReportWriter(const Report& report) : report_(report) {}
  virtual ~ReportWriter() = default;
  ReportWriter(const ReportWriter&) = delete;
  ReportWriter& operator=(const ReportWriter&) = delete;

 protected:
  const Report& report_;
  std::string text_;

  [[nodiscard]] virtual std::string escaped(const std::string& text) const = 0;
  [[nodiscard]] virtual std::string bold(const std::string& text) const = 0;
  [[nodiscard]] virtual std::string number(const Number& number) = 0;
  // These get text in the format.
  virtual void add_paragraph(Paragraph kind, const std::string& text) = 0;
  virtual void add_machine(const ReportStudy& study) = 0;
  virtual void add_figures(const FigureSection& section) = 0;
  virtual void add_table(const Table& table) = 0;
  virtual void add_verdict_table(const BenchVerdicts& verdicts, const std::string& caption,
                                 const Texts& heads, const std::vector<Texts>& rows) = 0;
  virtual void add_claims(const std::vector<Texts>& rows) = 0;
  virtual void add_jobs() = 0;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] bool several() const { return report_.studies.size() > 1; }
  [[nodiscard]] Texts escaped_all(Texts texts) const {
    for (std::string& text : texts) text = escaped(text);
    return texts;
  }

  void add_parts() {
    for (const ReportStudy& study : report_.studies) {
      add_paragraph(
          Paragraph::facts,
          fmt::format("{}{} of {} jobs are done; {}, seed {}{}.",
                      several() ? bold(escaped(study.label)) + ": " : "", study.index.count("done"),
                      study.jobs().size(), escaped(study.index.program), study.index.seed,
                      study.index.quick ? "; " + bold("quick: a smaller study than planned") : ""));
      add_machine(study);
    }
    for (const std::string& change : report_.changes) {
      add_paragraph(Paragraph::change,
                    bold("Changed since it was computed") + ": " + escaped(change));
    }
    for (const ReportSection& section : report_.sections) {
      std::visit([&](const auto& one) { add_section(one); }, section);
    }
    add_jobs();
  }

 private:
  [[nodiscard]] std::string pieces(const TextPieces& pieces) {
    std::string text;
    for (const TextPiece& piece : pieces) {
      text += piece.number ? number(report_.numbers[*piece.number]) : escaped(piece.text);
    }
    return text;
  }

  void add_section(const TextSection& section) {
    for (const TextPieces& one : section.paragraphs) add_paragraph(Paragraph::text, pieces(one));
  }

  void add_section(const FigureSection& section) {
    if (section.figures.empty()) {
      add_paragraph(Paragraph::facts,
                    "No figure of " + escaped(section.block) + " has been drawn.");
    }
    add_figures(section);
  }

  void add_section(const TableSection& section) {
    add_table(section.table);
    for (const BenchVerdicts& verdicts : section.verdicts) {
      std::vector<Texts> rows;
      for (const Texts& row : verdicts.cases.rows) rows.push_back(escaped_all(row));
      const auto& studies = report_.studies;
      add_verdict_table(verdicts,
                        escaped(fmt::format("{}: time of {} over time of {}.", verdicts.job,
                                            studies[verdicts.study].label, studies.front().label)),
                        escaped_all(verdicts.cases.header), rows);
    }
  }

  void add_section(const ClaimSection& section) {
    std::vector<Texts> rows;
    for (const ClaimRow& row : section.rows) {
      rows.push_back({pieces(row.says), pieces(row.relation),
                      claim_verdict_name(row.result.verdict), pieces(row.why)});
    }
    add_claims(rows);
  }
};

/// Returns the SVG element of a file, without what belongs to a document of its own.
std::string svg_element(const std::string& path) {
  const ByteFile file(path);
  const std::string text = file.read(0, file.size());
  const std::size_t begin = text.find("<svg");
  return begin == std::string::npos ? "" : text.substr(begin);
}

class HtmlWriter : public ReportWriter {
 public:
  using ReportWriter::ReportWriter;

  std::string page() {
    text_ = page_begin;
    const std::string title = escaped(report_.studies.front().title());
    add("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n", title, page_style,
        title);
    add_parts();
    add("<script>{}</script>\n</body>\n</html>\n", page_script);
    return std::move(text_);
  }

 private:
  int figures_ = 0, tables_ = 0;

  [[nodiscard]] std::string escaped(const std::string& text) const override {
    return figure::xml_escaped(figure::clean_text(text));
  }
  [[nodiscard]] std::string bold(const std::string& text) const override {
    return "<b>" + text + "</b>";
  }
  void add_paragraph(Paragraph kind, const std::string& text) override {
    if (kind == Paragraph::text) return add("<div class=\"text\">{}</div>\n", text);
    add("<p{}>{}</p>\n", kind == Paragraph::facts ? " class=\"facts\"" : "", text);
  }

  void add_machine(const ReportStudy& study) override {
    add("<details class=\"machine\"><summary>Machine</summary><table>");
    for (const auto& [name, value] : study.index.machine.items()) {
      const std::string text =
          value.is_number() ? fmt::format("{}", value.get<double>()) : value_text(value);
      add("<tr><td>{}</td><td>{}</td></tr>", escaped(name), escaped(text));
    }
    add("</table></details>\n");
  }

  [[nodiscard]] std::string source(std::size_t s, std::size_t j) const {
    const JobRecord& job = report_.studies[s].jobs()[j];
    return fmt::format(
        "<code class=\"command\">{}</code><span class=\"digest\">{} · SHA-256 "
        "<code>{}</code></span>",
        escaped(job.command), escaped(report_.folders[s] + "/" + job.files.front()),
        escaped(job.digest));
  }

  [[nodiscard]] std::string number(const Number& number) override {
    if (number.origins.empty()) return "–";
    std::string text = fmt::format("<details class=\"number\"><summary>{}</summary><div><b>{}</b>",
                                   escaped(plain_number(number.text)), escaped(number.name));
    const std::size_t used = number.origins.size() - number.missing;
    if (number.origins.size() > 1) text += fmt::format(", mean of {}", used);
    if (number.missing > 0) text += fmt::format(", {} without a number", number.missing);
    text += "<ol>";
    for (const Origin& origin : number.origins) {
      std::string keys;
      for (const auto& [key, value] : origin.keys) keys += key + " = " + value + ", ";
      text += fmt::format("<li>{}{}<br>{}</li>", escaped(keys), origin.value,
                          source(origin.study, origin.job));
    }
    return text + "</ol></div></details>";
  }

  void add_figures(const FigureSection& section) override {
    add("<div class=\"figures\">\n");
    for (const ReportFigure& figure : section.figures) {
      const ReportStudy& study = report_.studies[figure.study];
      const JobRecord& job = study.jobs()[figure.job];
      add("<figure id=\"{}\">\n<div class=\"paper\">{}</div>\n<figcaption><b>Figure {}.</b> {}{}"
          "<details><summary>How it was made</summary>{}",
          escaped(figure.name), svg_element(study.path(job)), ++figures_,
          several() ? bold(escaped(study.label) + ".") + " " : "", escaped(figure.caption),
          source(figure.study, figure.job));
      if (!figure.data.empty()) {
        add("<span class=\"digest\">of data with SHA-256 <code>{}</code></span>",
            escaped(figure.data));
      }
      add("</details></figcaption>\n</figure>\n");
    }
    add("</div>\n");
  }

  void begin_table(const char* kind, const std::string& caption, const Texts& heads) {
    if (!caption.empty()) add("<p class=\"caption\"><b>Table {}.</b> {}</p>", ++tables_, caption);
    add("<div class=\"scroll\"><table class=\"{}\"><thead><tr><th>{}</th></tr></thead>\n<tbody>\n",
        kind, fmt::join(heads, "</th><th>"));
  }
  void end_table() { add("</tbody></table></div>\n"); }
  void add_whole_table(const char* kind, const std::string& caption, const Texts& heads,
                       const std::vector<Texts>& rows) {
    begin_table(kind, caption, heads);
    for (const Texts& row : rows) add("<tr><td>{}</td></tr>\n", fmt::join(row, "</td><td>"));
    end_table();
  }

  void add_table(const Table& table) override {
    Texts heads = escaped_all(table.entry.keys);
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
        add("<td data-value=\"{}\">{}</td>", report_.numbers[i].interval.value,
            number(report_.numbers[i]));
      }
      add("</tr>\n");
    }
    end_table();
  }

  void add_verdict_table(const BenchVerdicts& verdicts, const std::string& caption,
                         const Texts& heads, const std::vector<Texts>& rows) override {
    add_whole_table("sortable", caption, heads, rows);
    add("<details class=\"machine\"><summary>How they were compared</summary>");
    for (const std::size_t s : {std::size_t{0}, verdicts.study}) {
      const auto& jobs = report_.studies[s].jobs();
      text_ += source(s, static_cast<std::size_t>(find_named(jobs, verdicts.job) - jobs.data()));
    }
    for (const std::string& note : verdicts.notes) add("<p>not the same {}</p>", escaped(note));
    add("</details>\n");
  }

  void add_claims(const std::vector<Texts>& rows) override {
    add_whole_table("claims", "Claims.", {"Claim", "We measure", "Outcome", "Why"}, rows);
  }

  void add_jobs() override {
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
    if (job.done()) {
      add("<details class=\"number\"><summary>command, digest</summary><div>{}</div></details>",
          source(s, j));
    } else {
      add("{}<br><code class=\"command\">{}</code>", escaped(job.error), escaped(job.command));
    }
    for (const std::string& remark : job.remarks) add("<br>{}", escaped(remark));
    add("</td></tr>\n");
  }
};

class LatexWriter : public ReportWriter {
 public:
  using ReportWriter::ReportWriter;

  std::string document() {
    text_ = latex_begin;
    add("\\section*{{{}}}\n", escaped(report_.studies.front().title()));
    add_parts();
    return std::move(text_ += "\\end{document}\n");
  }

 private:
  using Jobs = std::set<std::size_t>;

  [[nodiscard]] std::string escaped(const std::string& text) const override {
    return latex_text(text);
  }
  [[nodiscard]] std::string bold(const std::string& text) const override {
    return "\\textbf{" + text + "}";
  }
  void add_paragraph(Paragraph, const std::string& text) override { add("{}\n\n", text); }
  void add_machine(const ReportStudy&) override {}

  [[nodiscard]] std::size_t number_of_job(std::size_t s, std::size_t j) const {
    for (std::size_t before = 0; before < s; ++before) j += report_.studies[before].jobs().size();
    return j + 1;
  }

  [[nodiscard]] Jobs jobs_of(const Number& number) const {
    Jobs jobs;
    for (const Origin& one : number.origins) jobs.insert(number_of_job(one.study, one.job));
    return jobs;
  }

  static std::string job_mark(const Jobs& jobs) {
    std::string mark;
    for (auto job = jobs.begin(); job != jobs.end();) {
      const std::size_t first = *job;
      std::size_t last = first;
      while (++job != jobs.end() && *job == last + 1) ++last;
      mark += fmt::format("{}{}", mark.empty() ? "" : ",", first);
      if (last > first) mark += fmt::format("--{}", last);
    }
    return mark.empty() ? "" : "{\\tiny[" + mark + "]}";
  }

  [[nodiscard]] std::string number(const Number& number) override {
    return fmt::format("\\conelab{{{}}}\\,{}", number.name, job_mark(jobs_of(number)));
  }

  void add_figures(const FigureSection& section) override {
    for (const ReportFigure& figure : section.figures) {
      const ReportStudy& study = report_.studies[figure.study];
      add("\\studyfigure{{figures/{}.pdf}}{{{}{}~{{\\tiny[{}]}}\\par\\source{{Data: {}}}}}\n\n",
          figure.name, several() ? bold(escaped(study.label) + ".") + " " : "",
          escaped(figure.caption), number_of_job(figure.study, figure.job),
          latex_code(figure.data.empty() ? "none" : figure.data));
    }
  }

  /// Adds a table that may go on over pages; its cells are in LaTeX, and each row ends with `end`.
  void add_long_table(const std::string& columns, const std::string& caption, const Texts& heads,
                      const std::vector<Texts>& rows, const char* end = "\\\\") {
    const std::string head = fmt::format("\\hline\n{}\\\\\n\\hline\n", fmt::join(heads, " & "));
    add("\\begin{{longtable}}{{@{{}}{}@{{}}}}\n\\caption{{{}}}\\\\\n{}\\endfirsthead\n{}"
        "\\endhead\n",
        columns, caption, head, head);
    for (const Texts& row : rows) add("{}{}\n", fmt::join(row, " & "), end);
    add("\\hline\n\\end{{longtable}}\n\n");
  }

  void add_table(const Table& table) override {
    constexpr std::size_t widest = 4;  // The most columns of numbers that fit on a page.
    const std::size_t columns = table.entry.measures.size() * report_.studies.size();
    for (std::size_t begin = 0; begin < columns; begin += widest) {
      add_columns(table, begin, std::min(begin + widest, columns));
    }
  }

  /// Adds the columns of numbers from `begin` to before `end` as a table, with the jobs of each
  /// row.
  void add_columns(const Table& table, std::size_t begin, std::size_t end) {
    const std::size_t studies = report_.studies.size();
    Texts heads = escaped_all(table.entry.keys);
    for (std::size_t i = begin; i < end; ++i) {
      const std::string& study = report_.studies[i % studies].label;
      heads.push_back(escaped(measure_title(table.entry.measures[i / studies]) +
                              (several() ? " " + study : "")));
    }
    heads.emplace_back();
    std::vector<Texts> rows;
    for (const TableRow& row : table.rows) {
      Texts& cells = rows.emplace_back(escaped_all(row.values));
      Jobs jobs;
      for (std::size_t i = begin; i < end; ++i) {
        const Number& number = report_.numbers[row.numbers[i]];
        cells.push_back("\\conelab{" + number.name + "}");
        jobs.merge(jobs_of(number));
      }
      cells.push_back(job_mark(jobs));
    }
    add_long_table(std::string(heads.size(), 'l'), escaped(table.entry.block + ". " + table.note),
                   heads, rows);
  }

  void add_verdict_table(const BenchVerdicts&, const std::string& caption, const Texts& heads,
                         const std::vector<Texts>& rows) override {
    add_long_table(std::string(heads.size(), 'l'), caption, heads, rows);
  }

  void add_claims(const std::vector<Texts>& rows) override {
    std::vector<Texts> ragged = rows;
    for (Texts& row : ragged) {
      for (const std::size_t cell : {0, 1, 3}) row[cell].insert(0, "\\raggedright ");
    }
    add_long_table("p{.34\\linewidth}p{.24\\linewidth}p{.13\\linewidth}p{.2\\linewidth}", "Claims.",
                   {"Claim", "We measure", "Outcome", "Why"}, ragged, "\\tabularnewline");
  }

  /// Adds the list that the signs [1] in tables, texts and figures refer to.
  void add_jobs() override {
    add("\\section*{{Jobs}}\n\\begingroup\\raggedright\\scriptsize\n");
    for (std::size_t s = 0; s < report_.studies.size(); ++s) {
      const ReportStudy& study = report_.studies[s];
      for (std::size_t j = 0; j < study.jobs().size(); ++j) {
        const JobRecord& job = study.jobs()[j];
        add("[{}] {}{}, {}: {}\\\\\n{{\\ttfamily {}}}", number_of_job(s, j),
            several() ? escaped(study.label) + ": " : "", escaped(job.name), escaped(job.kind),
            escaped(job.done() ? job.status : job.status + " " + job.error),
            latex_code(job.command));
        if (job.done()) {
          add("\\\\\n{{\\ttfamily {}}}, SHA-256 {{\\ttfamily {}}}",
              latex_code(report_.folders[s] + "/" + job.files.front()), latex_code(job.digest));
        }
        add("\\par\n");
      }
    }
    add("\\endgroup\n");
  }
};

}  // namespace

std::string report_html(const Report& report) { return HtmlWriter(report).page(); }

std::string report_latex(const Report& report) { return LatexWriter(report).document(); }

std::string numbers_latex(const Report& report) {
  std::string text = latex_numbers_begin;
  for (const Number& number : report.numbers) {
    text += fmt::format("\\expandafter\\def\\csname conelab@{}\\endcsname{{{}}}\n", number.name,
                        latex_number(number.text));
  }
  return text;
}

}  // namespace conelab
