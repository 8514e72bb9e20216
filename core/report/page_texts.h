// The parts that are the same in every report. They are the files of resources/report, which the
// build copies into the program.
#pragma once

namespace conelab {

/// The beginning of the page (page.html). Its policy forbids every request of a browser.
extern const char* const page_begin;
extern const char* const page_style;  ///< page.css
/// Sorts tables by a click on a heading, and leaves one number's origin open at a time (page.js).
extern const char* const page_script;
extern const char* const latex_begin;          ///< report.tex
extern const char* const latex_numbers_begin;  ///< numbers.tex
/// Lines of a character, a blank and how LaTeX writes it (signs.txt).
extern const char* const latex_signs;

}  // namespace conelab
