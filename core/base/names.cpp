#include "core/base/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/parse_number.h"

namespace conelab {

int edit_distance(const std::string& a, const std::string& b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> before(width), last(width), row(width);  // rows i - 2, i - 1 and i
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({substituted, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  int fewest = static_cast<int>(std::max<std::size_t>(1, name.size() / 2)) + 1;
  for (const std::string& candidate : known) {
    const int edits = edit_distance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

std::size_t find_word(const std::string& text, std::string name) {
  const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (int form = 0; form < 2 && !name.empty(); ++form) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool begins = at == 0 || !of_word(text[at - 1]);
      if (begins && (end == text.size() || !of_word(text[end]))) return at;
    }
    std::ranges::replace(name, '_', '-');
  }
  return std::string::npos;
}

namespace {

/// Returns whether a piece between commas belongs to the entry before it: the list of numbers of a
/// parameter goes on. A colon ends the list, a semicolon begins that of the next head.
bool continues(const std::string& entry, std::string_view piece) {
  if (entry.find('=') == std::string::npos) return false;
  piece = piece.substr(0, piece.find(':'));
  const std::size_t end = piece.find(';');
  return parse_number(piece.substr(0, end)) &&
         (end == std::string_view::npos || continues(entry, piece.substr(end + 1)));
}

}  // namespace

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view piece : split_commas(text)) {
    if (!names.empty() && continues(names.back(), piece)) {
      names.back().append(",").append(piece);
    } else {
      names.emplace_back(piece);
    }
  }
  return names;
}

std::vector<std::string> parse_names(const std::string& field, std::string_view text) {
  std::vector<std::string> names = split_names(text);
  if (contains(names, "")) {
    misuse("{}: an entry of '{}' is empty", field, text);
  }
  return names;
}

std::size_t index_of_name(const std::string& what, const std::string& name,
                          const std::vector<std::string>& known) {
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) unknown_name(what, name, known);
  return static_cast<std::size_t>(found - known.begin());
}

void unknown_name(const std::string& what, const std::string& name,
                  const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  misuse("unknown {} '{}'{} (known: {})", what, name, hint, join(known));
}

}  // namespace conelab
