// What every figure must keep, whatever it shows.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/svg.h"
#include "core/drawing/text.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/dump.h"

namespace conelab::figure {

/// Draws a figure that reads no file.
inline DisplayList drawn(const char* name, const Parameters& parameters, double width = 0) {
  FigureInput input;
  input.info = &figure_named(name);
  input.parameters = parameters;
  input.width = width;
  return input.info->make(input);
}

/// The texts, paths or images of a figure: the items of class T.
template <class T>
std::vector<T> items_of(const DisplayList& list) {
  std::vector<T> out;
  for (const Item& item : list.items) {
    if (const auto* one = std::get_if<T>(&item)) out.push_back(*one);
  }
  return out;
}

inline std::vector<TextItem> texts(const DisplayList& list) { return items_of<TextItem>(list); }

inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// Compares a figure's dump with tests/core/figure/golden/NAME.txt. After a wanted change, run the
/// test with CONELAB_WRITE_GOLDEN=1 and read the difference before it is committed.
inline void expect_golden(const DisplayList& list, const std::string& name) {
  const std::string path = CONELAB_SOURCE_DIR "/tests/core/figure/golden/" + name + ".txt";
  if (std::getenv("CONELAB_WRITE_GOLDEN") != nullptr) std::ofstream(path) << dump(list);
  std::ifstream in(path);
  std::stringstream golden;
  golden << in.rdbuf();
  EXPECT_EQ(dump(list), golden.str()) << path;
}

inline void expect_texts_apart(const DisplayList& list) {
  const std::vector<TextItem> all = texts(list);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(overlap(text_quad(all[i]), text_quad(all[j])))
          << "'" << plain(all[i].runs) << "' lies over '" << plain(all[j].runs) << "'";
    }
  }
}

inline void expect_texts_on_page(const DisplayList& list) {
  for (const TextItem& item : texts(list)) {
    const Box box = bounds(text_quad(item));
    EXPECT_GE(box.x, -0.01) << plain(item.runs);
    EXPECT_GE(box.y, -0.01) << plain(item.runs);
    EXPECT_LE(box.right(), list.width + 0.01) << plain(item.runs);
    EXPECT_LE(box.bottom(), list.height + 0.01) << plain(item.runs);
  }
}

/// Text of 6 pt and lines of 0.5 pt at least; superscripts may be smaller, as in running text.
inline void expect_printable(const DisplayList& list) {
  for (const Item& item : list.items) {
    if (const auto* text = std::get_if<TextItem>(&item)) {
      EXPECT_GE(text->size, 6) << plain(text->runs);
    }
    if (const auto* path = std::get_if<PathItem>(&item)) {
      const double width = path->paint.stroke.width;
      EXPECT_TRUE(width == 0 || width >= 0.5) << width;
    }
  }
}

/// All of the above, and a sound list of whole points.
inline void expect_good_figure(const DisplayList& list) {
  EXPECT_NO_THROW(validate(list));
  EXPECT_EQ(list.width, static_cast<int>(list.width));
  EXPECT_EQ(list.height, static_cast<int>(list.height));
  expect_texts_apart(list);
  expect_texts_on_page(list);
  expect_printable(list);
  EXPECT_EQ(count(to_svg(list), "<text "), texts(list).size());
}

/// All texts of a figure, each between bars.
inline std::string all_text(const DisplayList& list) {
  std::string all = "|";
  for (const TextItem& item : texts(list)) all += plain(item.runs) + "|";
  return all;
}

/// The pixels of the first matrix, four bytes each.
inline std::vector<std::uint8_t> pixels_of(const DisplayList& list) {
  for (const Item& item : list.items) {
    const auto* image = std::get_if<ImageItem>(&item);
    if (image != nullptr && image->rows > 1) return image->rgba;
  }
  return {};
}

}  // namespace conelab::figure
