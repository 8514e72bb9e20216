// A display list as a PDF 1.5 of one page (ISO 32000-1).
//
// Text is text: each font is embedded as a subset of its glyphs, with a table from glyphs to
// characters, so that it can be selected and searched. Arcs are curves within 0.002 points, images
// are stored without loss, numbers have fixed decimals, and no time is written: equal lists give
// equal bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Returns the document. Throws a failure for an invalid list (see `validate`), or if zlib or
/// HarfBuzz fail.
[[nodiscard]] std::string to_pdf(const DisplayList& list);

// The objects of a PDF file (ISO 32000-1, section 7.5) and its cross-reference table.

class PdfDocument {
 public:
  /// Reserves the number of an object that is set later.
  [[nodiscard]] std::size_t reserve();
  /// Sets a reserved object.
  void set(std::size_t object, std::string body) { bodies_[object - 1] = std::move(body); }
  /// Adds an object and returns its number.
  std::size_t add(std::string body);
  /// Adds a stream. `entries` are those of its dictionary besides the length. With `deflate` the
  /// bytes are compressed.
  std::size_t add_stream(const std::string& entries, std::string_view bytes, bool deflate = true);

  /// Returns the file, with these objects as its catalogue and its information. Its identifier is a
  /// digest of the content.
  [[nodiscard]] std::string file(std::size_t catalogue, std::size_t information) const;

 private:
  std::vector<std::string> bodies_;
};

/// Returns a reference to an object: "7 0 R".
[[nodiscard]] std::string pdf_reference(std::size_t object);
/// Returns a text string in UTF-16 with a byte order mark, as hexadecimal digits: "<FEFF0041>".
[[nodiscard]] std::string pdf_text(std::string_view utf8);
/// Returns characters in UTF-16 as hexadecimal digits, without brackets.
[[nodiscard]] std::string utf16_hex(std::u32string_view text);

}  // namespace conelab::figure
