#include "core/drawing/raster.h"

#include <openssl/evp.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "core/base/error.h"

namespace conelab::figure {
namespace {

using Buffer = std::vector<std::uint8_t>;

bool opaque(std::span<const std::uint8_t> rgba) {
  for (std::size_t i = 3; i < rgba.size(); i += 4) {
    if (rgba[i] != 255) return false;
  }
  return true;
}

/// Returns the colours of an image in the order of their appearance. It is empty if there are more
/// than 256.
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

struct Pixels {
  int colour_type = PNG_COLOR_TYPE_RGBA;
  Buffer samples;
  std::vector<png_color> palette;
};

Pixels with_palette(std::span<const std::uint8_t> rgba,
                    const std::map<std::uint32_t, std::uint8_t>& palette) {
  Pixels out{PNG_COLOR_TYPE_PALETTE, {}, std::vector<png_color>(palette.size())};
  for (const auto& [colour, index] : palette) {
    const auto part = [c = colour](int shift) { return static_cast<png_byte>(c >> shift); };
    out.palette[index] = {part(16), part(8), part(0)};
  }
  for (std::size_t i = 0; i < rgba.size(); i += 4) {
    out.samples.push_back(palette.at(rgba[i] << 16 | rgba[i + 1] << 8 | rgba[i + 2]));
  }
  return out;
}

Pixels pixels_of(std::span<const std::uint8_t> rgba) {
  if (!opaque(rgba)) return {PNG_COLOR_TYPE_RGBA, {rgba.begin(), rgba.end()}, {}};
  if (const auto palette = palette_of(rgba); !palette.empty()) return with_palette(rgba, palette);
  Pixels out{PNG_COLOR_TYPE_RGB, {}, {}};
  for (std::size_t i = 0; i < rgba.size(); ++i) {
    if (i % 4 != 3) out.samples.push_back(rgba[i]);
  }
  return out;
}

/// Returns the entries in the form that libpng takes. They point into `text`, which libpng does not
/// change.
std::vector<png_text> text_entries(const PngText& text) {
  std::vector<png_text> entries;
  for (const auto& [keyword, value] : text) {
    if (value.empty()) continue;
    png_text entry{};
    entry.compression = PNG_ITXT_COMPRESSION_NONE;
    entry.key = const_cast<char*>(keyword.c_str());
    entry.text = const_cast<char*>(value.c_str());
    entry.itxt_length = value.size();
    entries.push_back(entry);
  }
  return entries;
}

/// Sets everything that decides the bytes of the compressed image, so that they do not depend on
/// defaults of the library. The filter is "up", because figures repeat from row to row.
void fix_compression(png_structp png) {
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
  png_set_compression_level(png, 6);
  png_set_compression_mem_level(png, 8);
  png_set_compression_strategy(png, 0);  // Z_DEFAULT_STRATEGY
  png_set_compression_window_bits(png, 15);
  png_set_compression_buffer_size(png, std::size_t{1} << 20);
}

void append(png_structp png, png_bytep bytes, std::size_t count) {
  auto* out = static_cast<Buffer*>(png_get_io_ptr(png));
  out->insert(out->end(), bytes, bytes + count);
}

[[noreturn]] void jump_out(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void be_silent(png_structp, png_const_charp) {}

struct PixelLayout {
  png_uint_32 columns, rows, dots_per_metre;
};

/// Writes the image. Returns false if libpng fails, which it reports by a jump to this function.
/// The function therefore owns nothing that a destructor would have to release.
bool write_png(png_structp png, png_infop info, const PixelLayout& layout, const Pixels& pixels,
               const std::vector<png_text>& text, Buffer& out) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &out, append, nullptr);
  fix_compression(png);
  png_set_IHDR(png, info, layout.columns, layout.rows, 8, pixels.colour_type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (layout.dots_per_metre > 0) {
    png_set_pHYs(png, info, layout.dots_per_metre, layout.dots_per_metre, PNG_RESOLUTION_METER);
  }
  if (!pixels.palette.empty()) {
    png_set_PLTE(png, info, pixels.palette.data(), static_cast<int>(pixels.palette.size()));
  }
  png_set_text(png, info, text.data(), static_cast<int>(text.size()));
  png_write_info(png, info);
  const std::size_t width = pixels.samples.size() / layout.rows;
  for (std::size_t r = 0; r < layout.rows; ++r) png_write_row(png, &pixels.samples[r * width]);
  png_write_end(png, nullptr);
  return true;
}

/// Returns the number of pixels for one cell along one side.
std::size_t repeats(double length, std::size_t cells) {
  constexpr double pitch = 0.25;
  const double wanted = std::ceil(length / (static_cast<double>(cells) * pitch));
  const auto most = std::max<std::size_t>(1, 4096 / cells);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1.0, wanted)), 1, most);
}

}  // namespace

std::vector<std::uint8_t> encode_png(std::size_t columns, std::size_t rows,
                                     std::span<const std::uint8_t> rgba, double dots_per_inch,
                                     const PngText& text) {
  if (columns == 0 || rows == 0 || rgba.size() != 4 * columns * rows) {
    fail("png: {} x {} pixels do not fit {} bytes", columns, rows, rgba.size());
  }
  const Pixels pixels = pixels_of(rgba);
  const PixelLayout layout{static_cast<png_uint_32>(columns), static_cast<png_uint_32>(rows),
                           static_cast<png_uint_32>(std::lround(dots_per_inch / 0.0254))};
  Buffer out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, jump_out, be_silent);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  const bool written =
      info != nullptr && write_png(png, info, layout, pixels, text_entries(text), out);
  png_destroy_write_struct(&png, &info);
  if (!written) fail("png: {} x {} pixels could not be written", columns, rows);
  return out;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a NUL.
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes.data(),
                  static_cast<int>(bytes.size()));
  out.pop_back();
  return out;
}

ImageItem enlarged(const ImageItem& image) {
  const std::size_t across = repeats(image.box.width, image.columns);
  const std::size_t down = repeats(image.box.height, image.rows);
  ImageItem out{image.box, image.columns * across, image.rows * down, {}};
  out.rgba.resize(4 * out.columns * out.rows);
  for (std::size_t r = 0; r < out.rows; ++r) {
    const std::uint8_t* from = image.rgba.data() + 4 * image.columns * (r / down);
    std::uint8_t* to = out.rgba.data() + 4 * out.columns * r;
    for (std::size_t c = 0; c < out.columns; ++c)
      std::memcpy(to + 4 * c, from + 4 * (c / across), 4);
  }
  return out;
}

}  // namespace conelab::figure
