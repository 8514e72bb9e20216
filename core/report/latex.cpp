#include "core/report/latex.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "core/base/utf8.h"
#include "core/report/page_texts.h"
#include "core/report/report.h"

namespace conelab {
namespace {

/// Characters that are written in another way, and how.
constexpr std::u32string_view signs = U"\\~^<>|\"·×±−≤≥≠≈∞→√∈≼°²³…–—‘’“”§µ\u00A0";
constexpr const char* sign_texts[] = {"\\textbackslash{}",
                                      "\\textasciitilde{}",
                                      "\\textasciicircum{}",
                                      "$<$",
                                      "$>$",
                                      "$|$",
                                      "''",
                                      "$\\cdot$",
                                      "$\\times$",
                                      "$\\pm$",
                                      "$-$",
                                      "$\\leq$",
                                      "$\\geq$",
                                      "$\\neq$",
                                      "$\\approx$",
                                      "$\\infty$",
                                      "$\\rightarrow$",
                                      "$\\surd$",
                                      "$\\in$",
                                      "$\\preceq$",
                                      "$^\\circ$",
                                      "$^2$",
                                      "$^3$",
                                      "\\dots{}",
                                      "--",
                                      "---",
                                      "`",
                                      "'",
                                      "``",
                                      "''",
                                      "\\S{}",
                                      "$\\mu$",
                                      "~"};
static_assert(std::size(sign_texts) == signs.size());

/// The Greek letters that LaTeX names; capital letters that look Latin have no name.
constexpr std::u32string_view greek = U"αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ";
constexpr const char* greek_names[] = {
    "alpha",   "beta",   "gamma", "delta", "varepsilon", "zeta",  "eta",   "theta", "iota",
    "kappa",   "lambda", "mu",    "nu",    "xi",         "pi",    "rho",   "sigma", "tau",
    "upsilon", "varphi", "chi",   "psi",   "omega",      "Gamma", "Delta", "Theta", "Lambda",
    "Xi",      "Pi",     "Sigma", "Phi",   "Psi",        "Omega"};
static_assert(std::size(greek_names) == greek.size());

/// Returns whether the usual fonts of LaTeX have the letter.
bool has_accents(char32_t code) {
  constexpr std::u32string_view missing = U"×÷ÐðÞþ";
  return code >= U'À' && code <= U'ÿ' && missing.find(code) == missing.npos;
}

std::string latex_character(char32_t code) {
  if (const auto i = signs.find(code); i != signs.npos) return sign_texts[i];
  if (const auto i = greek.find(code); i != greek.npos) {
    return fmt::format("$\\{}$", greek_names[i]);
  }
  if (code == U'\n' || code == U'\t') return " ";
  constexpr std::u32string_view special = U"#$%&_{}";
  if (special.find(code) != special.npos) return std::string("\\") + static_cast<char>(code);
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

// Writes a report as LaTeX: report.tex, and numbers.tex with a macro for each number.

namespace {

/// The most columns of numbers that fit on a page.
constexpr std::size_t widest_table = 4;

class LatexWriter {
 public:
  explicit LatexWriter(const Report& report) : report_(report) {}

  std::string document() {
    text_ = latex_begin;
    const ReportStudy& first = report_.studies.front();
    add("\\section*{{{}}}\n", latex_text(first.title()));
    for (const ReportStudy& study : report_.studies) add_study(study);
    for (const std::string& change : report_.changes) {
      add("\\textbf{{Changed since it was computed}}: {}\n\n", latex_text(change));
    }
    for (const ReportSection& section : report_.sections) {
      std::visit([&](const auto& one) { add_section(one); }, section);
    }
    add_jobs();
    return std::move(text_ += "\\end{document}\n");
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  [[nodiscard]] bool several() const { return report_.studies.size() > 1; }

  void add_study(const ReportStudy& study) {
    if (several()) add("\\textbf{{{}}}: ", latex_text(study.label));
    add("{} of {} jobs are done; {}, seed {}{}.\n\n", study.index.count("done"),
        study.jobs().size(), latex_text(study.index.program), study.index.seed,
        study.index.quick ? "; \\textbf{quick: a smaller study than planned}" : "");
  }

  /// Returns the number of the job in the list at the end.
  [[nodiscard]] std::size_t number_of_job(std::size_t s, std::size_t j) const {
    for (std::size_t before = 0; before < s; ++before) j += report_.studies[before].jobs().size();
    return j + 1;
  }

  [[nodiscard]] std::set<std::size_t> jobs_of(const Number& number) const {
    std::set<std::size_t> jobs;
    for (const Origin& origin : number.origins) {
      jobs.insert(number_of_job(origin.study, origin.job));
    }
    return jobs;
  }

  /// Returns a sign that refers to jobs in that list: [1--3,5].
  static std::string job_mark(const std::set<std::size_t>& jobs) {
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

  void add_pieces(const TextPieces& pieces) {
    for (const TextPiece& piece : pieces) {
      if (piece.number) {
        const Number& number = report_.numbers[*piece.number];
        add("\\conelab{{{}}}\\,{}", number.name, job_mark(jobs_of(number)));
      } else {
        text_ += latex_text(piece.text);
      }
    }
  }

  void add_section(const TextSection& section) {
    for (const TextPieces& paragraph : section.paragraphs) {
      add_pieces(paragraph);
      add("\n\n");
    }
  }

  void add_section(const FigureSection& section) {
    if (section.figures.empty()) {
      add("No figure of {} has been drawn.\n\n", latex_text(section.block));
    }
    for (const ReportFigure& figure : section.figures) {
      const ReportStudy& study = report_.studies[figure.study];
      add("\\studyfigure{{figures/{}.pdf}}{{{}{}~{{\\tiny[{}]}}\\par\\source{{Data: {}}}}}\n\n",
          figure.name, several() ? "\\textbf{" + latex_text(study.label) + ".} " : "",
          latex_text(study.jobs()[figure.job].name), number_of_job(figure.study, figure.job),
          latex_code(figure.data.empty() ? "none" : figure.data));
    }
  }

  /// Begins a table that may go on over pages; `heads` are its first row, in LaTeX.
  void begin_table(const std::string& columns, const std::string& caption,
                   const std::vector<std::string>& heads) {
    const std::string head = fmt::format("\\hline\n{}\\\\\n\\hline\n", fmt::join(heads, " & "));
    add("\\begin{{longtable}}{{@{{}}{}@{{}}}}\n\\caption{{{}}}\\\\\n{}\\endfirsthead\n{}"
        "\\endhead\n",
        columns, caption, head, head);
  }
  void end_table() { add("\\hline\n\\end{{longtable}}\n\n"); }

  void add_section(const TableSection& section) {
    const std::size_t columns = section.table.entry.measures.size() * report_.studies.size();
    for (std::size_t begin = 0; begin < columns; begin += widest_table) {
      add_columns(section.table, begin, std::min(begin + widest_table, columns));
    }
    for (const BenchVerdicts& verdicts : section.verdicts) add_verdicts(verdicts);
  }

  /// Adds the columns of numbers from `begin` to before `end` as a table, with the jobs of each
  /// row.
  void add_columns(const Table& table, std::size_t begin, std::size_t end) {
    const std::size_t studies = report_.studies.size();
    std::vector<std::string> heads;
    for (const std::string& key : table.entry.keys) heads.push_back(latex_text(key));
    for (std::size_t i = begin; i < end; ++i) {
      const std::string& study = report_.studies[i % studies].label;
      heads.push_back(latex_text(measure_title(table.entry.measures[i / studies]) +
                                 (several() ? " " + study : "")));
    }
    heads.emplace_back();
    begin_table(std::string(heads.size(), 'l'), latex_text(table.entry.block + ". " + table.note),
                heads);
    for (const TableRow& row : table.rows) {
      for (const std::string& value : row.values) add("{} & ", latex_text(value));
      std::set<std::size_t> jobs;
      for (std::size_t i = begin; i < end; ++i) {
        const Number& number = report_.numbers[row.numbers[i]];
        add("\\conelab{{{}}} & ", number.name);
        jobs.merge(jobs_of(number));
      }
      add("{}\\\\\n", job_mark(jobs));
    }
    end_table();
  }

  void add_verdicts(const BenchVerdicts& verdicts) {
    const auto cells = [](std::vector<std::string> row) {
      for (std::string& cell : row) cell = latex_text(cell);
      return row;
    };
    begin_table(std::string(verdicts.cases.header.size(), 'l'),
                latex_text(fmt::format("{}: time of {} over time of {}.", verdicts.job,
                                       report_.studies[verdicts.study].label,
                                       report_.studies.front().label)),
                cells(verdicts.cases.header));
    for (const auto& row : verdicts.cases.rows) add("{}\\\\\n", fmt::join(cells(row), " & "));
    end_table();
  }

  void add_section(const ClaimSection& section) {
    begin_table("p{.34\\linewidth}p{.24\\linewidth}p{.13\\linewidth}p{.2\\linewidth}", "Claims.",
                {"Claim", "We measure", "Outcome", "Why"});
    for (const ClaimRow& row : section.rows) {
      add("\\raggedright ");
      add_pieces(row.says);
      add(" & \\raggedright ");
      add_pieces(row.relation);
      add(" & {} & \\raggedright ", claim_verdict_name(row.result.verdict));
      add_pieces(row.why);
      add("\\tabularnewline\n");
    }
    end_table();
  }

  /// Adds the list that the signs [1] in tables, texts and figures refer to.
  void add_jobs() {
    add("\\section*{{Jobs}}\n\\begingroup\\raggedright\\scriptsize\n");
    for (std::size_t s = 0; s < report_.studies.size(); ++s) {
      const ReportStudy& study = report_.studies[s];
      for (std::size_t j = 0; j < study.jobs().size(); ++j) {
        const JobRecord& job = study.jobs()[j];
        add("[{}] {}{}, {}: {}\\\\\n{{\\ttfamily {}}}", number_of_job(s, j),
            several() ? latex_text(study.label) + ": " : "", latex_text(job.name),
            latex_text(job.kind),
            latex_text(job.done() ? job.status : job.status + " " + job.error),
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

  const Report& report_;
  std::string text_;
};

}  // namespace

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
