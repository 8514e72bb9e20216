#include "core/report/latex_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/utf8.h"

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

}  // namespace conelab
