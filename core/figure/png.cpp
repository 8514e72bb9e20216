#include "core/figure/png.h"

#include <zlib.h>

#include <cmath>

#include "core/base/error.h"

namespace conelab::figure {
namespace {

using Buffer = std::vector<std::uint8_t>;

void put32(Buffer& out, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

void chunk(Buffer& out, const std::string& type, const Buffer& data) {
  put32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  out.insert(out.end(), type.begin(), type.end());
  out.insert(out.end(), data.begin(), data.end());
  put32(out, static_cast<std::uint32_t>(
                 crc32(0, out.data() + begin, static_cast<uInt>(out.size() - begin))));
}

bool opaque(std::span<const std::uint8_t> rgba) {
  for (std::size_t i = 3; i < rgba.size(); i += 4) {
    if (rgba[i] != 255) return false;
  }
  return true;
}

/// Rows with the filter "up" after the first: figures repeat from row to row.
Buffer filtered(std::size_t columns, std::size_t rows, std::span<const std::uint8_t> rgba,
                std::size_t channels) {
  Buffer out;
  out.reserve(rows * (1 + columns * channels));
  for (std::size_t r = 0; r < rows; ++r) {
    out.push_back(r == 0 ? 0 : 2);
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t k = 0; k < channels; ++k) {
        const std::size_t i = 4 * (r * columns + c) + k;
        out.push_back(static_cast<std::uint8_t>(rgba[i] - (r == 0 ? 0 : rgba[i - 4 * columns])));
      }
    }
  }
  return out;
}

Buffer deflated(const Buffer& raw) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  Buffer out(size);
  if (compress2(out.data(), &size, raw.data(), static_cast<uLong>(raw.size()), 9) != Z_OK) {
    fail("png: the image could not be compressed");
  }
  out.resize(size);
  return out;
}

Buffer text_data(const std::string& keyword, const std::string& value) {
  Buffer data(keyword.begin(), keyword.end());
  data.insert(data.end(), {0, 0, 0, 0, 0});  // Uncompressed, no language, no translated keyword.
  data.insert(data.end(), value.begin(), value.end());
  return data;
}

}  // namespace

std::vector<std::uint8_t> encode_png(std::size_t columns, std::size_t rows,
                                     std::span<const std::uint8_t> rgba, double dots_per_inch,
                                     const PngText& text) {
  if (columns == 0 || rows == 0 || rgba.size() != 4 * columns * rows) {
    fail("png: {} x {} pixels do not fit {} bytes", columns, rows, rgba.size());
  }
  const bool solid = opaque(rgba);
  Buffer out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  Buffer header;
  put32(header, static_cast<std::uint32_t>(columns));
  put32(header, static_cast<std::uint32_t>(rows));
  header.insert(header.end(), {8, static_cast<std::uint8_t>(solid ? 2 : 6), 0, 0, 0});
  chunk(out, "IHDR", header);
  if (dots_per_inch > 0) {
    Buffer density;
    const auto per_metre = static_cast<std::uint32_t>(std::lround(dots_per_inch / 0.0254));
    put32(density, per_metre), put32(density, per_metre), density.push_back(1);
    chunk(out, "pHYs", density);
  }
  for (const auto& [keyword, value] : text) {
    if (!value.empty()) chunk(out, "iTXt", text_data(keyword, value));
  }
  chunk(out, "IDAT", deflated(filtered(columns, rows, rgba, solid ? 3 : 4)));
  chunk(out, "IEND", {});
  return out;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : digits[word >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

}  // namespace conelab::figure
