#include "core/figure/pdf_document.h"

#include <fmt/format.h>
#include <zlib.h>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/figure/text.h"

namespace conelab::figure {
namespace {

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()),
                               static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION);
  if (status != Z_OK) fail("pdf: zlib could not compress {} bytes", bytes.size());
  out.resize(size);
  return out;
}

}  // namespace

std::size_t PdfDocument::reserve() { return add({}); }

std::size_t PdfDocument::add(std::string body) {
  bodies_.push_back(std::move(body));
  return bodies_.size();
}

std::size_t PdfDocument::add_stream(const std::string& entries, std::string_view bytes,
                                    bool deflate) {
  const std::string stored = deflate ? deflated(bytes) : std::string(bytes);
  return add(fmt::format("<<{}{}/Length {}>>\nstream\n{}\nendstream", entries,
                         deflate ? "/Filter/FlateDecode" : "", stored.size(), stored));
}

std::string PdfDocument::file(std::size_t catalogue, std::size_t information) const {
  // The comment of bytes above 127 says that the file is not text (section 7.5.2).
  std::string out = "%PDF-1.5\n%\xE2\xE3\xCF\xD3\n";
  std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", bodies_.size() + 1);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    table += fmt::format("{:010} 00000 n \n", out.size());
    out += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, bodies_[i]);
  }
  const std::string id = sha256(out).substr(0, 32);
  const std::size_t start = out.size();
  return out + table +
         fmt::format("trailer\n<</Size {}/Root {}/Info {}/ID[<{}><{}>]>>\nstartxref\n{}\n%%EOF\n",
                     bodies_.size() + 1, pdf_reference(catalogue), pdf_reference(information), id,
                     id, start);
}

std::string pdf_reference(std::size_t object) { return fmt::format("{} 0 R", object); }

std::string utf16_hex(std::u32string_view text) {
  std::string hex;
  for (const char32_t c : text) {
    if (c < 0x10000) {
      hex += fmt::format("{:04X}", static_cast<unsigned>(c));
    } else {
      const auto rest = static_cast<unsigned>(c) - 0x10000;
      hex += fmt::format("{:04X}{:04X}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  return hex;
}

std::string pdf_text(std::string_view utf8) { return "<FEFF" + utf16_hex(decode_utf8(utf8)) + ">"; }

}  // namespace conelab::figure
