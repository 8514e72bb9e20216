// Writes a report as LaTeX: report.tex, and numbers.tex with a macro for each number.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/report/latex_text.h"
#include "core/report/report.h"

namespace conelab {
namespace {

constexpr const char* preamble = R"(% Written by `conelab report`. Compile it with pdflatex.
\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage{graphicx}
\usepackage{longtable}
\usepackage[margin=25mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\emergencystretch=3em
\setlength{\tabcolsep}{4pt}
\setlength{\LTleft}{0pt}
\setlength{\LTcapwidth}{\linewidth}
\newcommand{\source}[1]{{\raggedright\ttfamily\scriptsize #1\par}}
\newcounter{studyfigure}
\newsavebox{\studybox}
\newcommand{\studyfigure}[2]{\par\sbox{\studybox}{\includegraphics{#1}}%
  \ifdim\wd\studybox>\linewidth\sbox{\studybox}{\includegraphics[width=\linewidth]{#1}}\fi
  \ifdim\ht\studybox>.8\textheight\sbox{\studybox}{\includegraphics[height=.8\textheight]{#1}}\fi
  \begin{minipage}{\linewidth}\usebox{\studybox}\par\refstepcounter{studyfigure}%
  \small\raggedright\textbf{Figure \thestudyfigure.} #2\end{minipage}\par\medskip}
\input{numbers}
\begin{document}
)";

constexpr const char* numbers_head =
    R"(% Written by `conelab report`: \conelab{NAME} is a number of the report, rounded by its interval.
% In another document: \input{numbers} before \begin{document}.
\makeatletter
\DeclareRobustCommand{\conelab}[1]{\@ifundefined{conelab@#1}%
  {\PackageError{conelab}{There is no number '#1' in numbers.tex}{}}%
  {\ensuremath{\csname conelab@#1\endcsname}}}
\makeatother
)";

/// The most columns of numbers that fit on a page.
constexpr std::size_t widest_table = 4;

class LatexWriter {
 public:
  explicit LatexWriter(const Report& report) : report_(report) {}

  std::string document() {
    text_ = preamble;
    const ReportStudy& first = report_.studies.front();
    add("\\section*{{{}}}\n", latex_text(first.title()));
    for (const ReportStudy& study : report_.studies) add_study(study);
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
      heads.push_back(
          latex_text(table.entry.measures[i / studies] + (several() ? " " + study : "")));
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
  std::string text = numbers_head;
  for (const Number& number : report.numbers) {
    text += fmt::format("\\expandafter\\def\\csname conelab@{}\\endcsname{{{}}}\n", number.name,
                        latex_number(number.text));
  }
  return text;
}

}  // namespace conelab
