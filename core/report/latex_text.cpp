#include "core/report/latex_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/utf8.h"

namespace conelab {
namespace {

struct Sign {
  char32_t code;
  const char* latex;
};

constexpr Sign signs[] = {{U'\\', "\\textbackslash{}"},
                          {U'~', "\\textasciitilde{}"},
                          {U'^', "\\textasciicircum{}"},
                          {U'<', "\\textless{}"},
                          {U'>', "\\textgreater{}"},
                          {U'|', "\\textbar{}"},
                          {U'"', "\\textquotedbl{}"},
                          {U'`', "\\textasciigrave{}"},
                          {U'\'', "\\textquotesingle{}"},
                          {U'·', "$\\cdot$"},
                          {U'×', "$\\times$"},
                          {U'±', "$\\pm$"},
                          {U'−', "$-$"},
                          {U'≤', "$\\leq$"},
                          {U'≥', "$\\geq$"},
                          {U'≠', "$\\neq$"},
                          {U'≈', "$\\approx$"},
                          {U'∞', "$\\infty$"},
                          {U'→', "$\\rightarrow$"},
                          {U'√', "$\\surd$"},
                          {U'∈', "$\\in$"},
                          {U'≼', "$\\preceq$"},
                          {U'°', "$^\\circ$"},
                          {U'²', "$^2$"},
                          {U'³', "$^3$"},
                          {U'…', "\\dots{}"},
                          {U'–', "--"},
                          {U'—', "---"},
                          {U'‘', "`"},
                          {U'’', "'"},
                          {U'“', "``"},
                          {U'”', "''"},
                          {U'§', "\\S{}"},
                          {U'\u00A0', "~"},
                          {U'Γ', "$\\Gamma$"},
                          {U'Δ', "$\\Delta$"},
                          {U'Θ', "$\\Theta$"},
                          {U'Λ', "$\\Lambda$"},
                          {U'Σ', "$\\Sigma$"},
                          {U'Φ', "$\\Phi$"},
                          {U'Ω', "$\\Omega$"},
                          {U'α', "$\\alpha$"},
                          {U'β', "$\\beta$"},
                          {U'γ', "$\\gamma$"},
                          {U'δ', "$\\delta$"},
                          {U'ε', "$\\varepsilon$"},
                          {U'ζ', "$\\zeta$"},
                          {U'η', "$\\eta$"},
                          {U'θ', "$\\theta$"},
                          {U'κ', "$\\kappa$"},
                          {U'λ', "$\\lambda$"},
                          {U'μ', "$\\mu$"},
                          {U'µ', "$\\mu$"},
                          {U'ν', "$\\nu$"},
                          {U'ξ', "$\\xi$"},
                          {U'π', "$\\pi$"},
                          {U'ρ', "$\\rho$"},
                          {U'σ', "$\\sigma$"},
                          {U'τ', "$\\tau$"},
                          {U'φ', "$\\varphi$"},
                          {U'χ', "$\\chi$"},
                          {U'ψ', "$\\psi$"},
                          {U'ω', "$\\omega$"}};

/// Returns whether the usual fonts of LaTeX have the letter.
bool has_accents(char32_t code) {
  constexpr std::u32string_view missing = U"×÷ÐðÞþ";
  return code >= U'À' && code <= U'ÿ' && missing.find(code) == missing.npos;
}

std::string latex_character(char32_t code) {
  const auto* sign = std::find_if(std::begin(signs), std::end(signs),
                                  [&](const Sign& s) { return s.code == code; });
  if (sign != std::end(signs)) return sign->latex;
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
