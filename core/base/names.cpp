#include "core/base/names.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

namespace conelab {

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
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

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void unknown_name(const std::string& what, const std::string& name,
                  const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  misuse("unknown {} '{}'{} (known: {})", what, name, hint, join(known));
}

}  // namespace conelab
