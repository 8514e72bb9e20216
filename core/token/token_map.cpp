#include "core/token/token_map.h"

#include <vector>

#include "core/base/names.h"

namespace conelab {

std::span<const TokenMapRow> position_rows();
std::span<const TokenMapRow> matrix_rows();
std::span<const TokenMapRow> value_rows();

std::span<const TokenMapRow> token_map_table() {
  static const std::vector<TokenMapRow> table = [] {
    std::vector<TokenMapRow> all;
    for (const auto rows : {position_rows(), matrix_rows(), value_rows()}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return table;
}

const TokenMapRow* find_token_map(const std::string& name) {
  return find_named(token_map_table(), name);
}

}  // namespace conelab
