#include "core/figure/png.h"

#include <zlib.h>

#include <cmath>
#include <map>

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

/// The colours of an image in order of appearance; empty where there are more than 256.
std::map<std::uint32_t, std::uint8_t> palette_of(std::span<const std::uint8_t> rgba) {
  std::map<std::uint32_t, std::uint8_t> palette;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < rgba.size(); i += 4) {
    const std::uint32_t colour = rgba[i] << 16 | rgba[i + 1] << 8 | rgba[i + 2];
    if (i > 0 && colour == last) continue;
    last = colour;
    if (palette.try_emplace(colour, static_cast<std::uint8_t>(palette.size())).second &&
        palette.size() > 256) {
      return {};
    }
  }
  return palette;
}

/// The image as the file stores it: samples of one pixel after another.
struct Pixels {
  std::uint8_t colour_type = 6;
  std::size_t channels = 4;
  Buffer samples, palette;
};

Pixels with_palette(std::span<const std::uint8_t> rgba,
                    const std::map<std::uint32_t, std::uint8_t>& palette) {
  Pixels out{3, 1, {}, Buffer(3 * palette.size())};
  for (const auto& [colour, index] : palette) {
    for (std::size_t k = 0; k < 3; ++k) {
      out.palette[3 * std::size_t{index} + k] = static_cast<std::uint8_t>(colour >> (16 - 8 * k));
    }
  }
  for (std::size_t i = 0; i < rgba.size(); i += 4) {
    out.samples.push_back(palette.at(rgba[i] << 16 | rgba[i + 1] << 8 | rgba[i + 2]));
  }
  return out;
}

Pixels pixels_of(std::span<const std::uint8_t> rgba) {
  if (!opaque(rgba)) return {6, 4, {rgba.begin(), rgba.end()}, {}};
  if (const auto palette = palette_of(rgba); !palette.empty()) return with_palette(rgba, palette);
  Pixels out{2, 3, {}, {}};
  for (std::size_t i = 0; i < rgba.size(); ++i) {
    if (i % 4 != 3) out.samples.push_back(rgba[i]);
  }
  return out;
}

/// Rows with the filter "up" after the first: figures repeat from row to row.
Buffer filtered(const Pixels& pixels, std::size_t rows) {
  const std::size_t width = pixels.samples.size() / rows;
  Buffer out;
  out.reserve(rows * (1 + width));
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint8_t* row = pixels.samples.data() + r * width;
    out.push_back(r == 0 ? 0 : 2);
    for (std::size_t i = 0; i < width; ++i) {
      out.push_back(static_cast<std::uint8_t>(row[i] - (r == 0 ? 0 : *(row + i - width))));
    }
  }
  return out;
}

Buffer deflated(const Buffer& raw) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  Buffer out(size);
  if (compress2(out.data(), &size, raw.data(), static_cast<uLong>(raw.size()), 6) != Z_OK) {
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
  const Pixels pixels = pixels_of(rgba);
  Buffer out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  Buffer header;
  put32(header, static_cast<std::uint32_t>(columns));
  put32(header, static_cast<std::uint32_t>(rows));
  header.insert(header.end(), {8, pixels.colour_type, 0, 0, 0});
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
  if (!pixels.palette.empty()) chunk(out, "PLTE", pixels.palette);
  chunk(out, "IDAT", deflated(filtered(pixels, rows)));
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
