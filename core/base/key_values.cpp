#include "core/base/key_values.h"

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

double checked_number(const std::string& owner, const KeyInfo& key, const std::string& typed) {
  const ParameterInfo info{key.key, 0, key.domain, false, key.about};
  const std::optional<double> value = parse_number(typed);
  if (!value) misuse("{}: {}={} is not a number", owner, key.key, typed);
  check_domain(info, *value);
  if (*value > key.most) {
    misuse("{}: {}={} is too large (expected at most {})", owner, key.key, typed, key.most);
  }
  return *value;
}

}  // namespace

KeyValues::KeyValues(const std::string& owner, const std::vector<KeyInfo>& keys,
                     const KeyTexts& given) {
  const std::vector<std::string> known = all_keys(keys);
  for (const auto& [name, value] : given) (void)index_of_name("key of " + owner, name, known);
  for (const KeyInfo& key : keys) {
    const auto found = given.find(key.key);
    if (found == given.end() && key.needed) {
      misuse("{}: -p {}=... is missing: {}", owner, key.key, key.about);
    }
    const std::string& typed = texts_[key.key] = found == given.end() ? key.initial : found->second;
    if (key.domain == Domain::choice) {
      const ParameterInfo info{key.key, 0, key.domain, false, key.about, key.choices};
      (void)index_of_name(fmt::format("value of {}", key.key), typed, choice_words(info));
    } else if (!key.is_text()) {
      numbers_[key.key] = checked_number(owner, key, typed);
    }
  }
}

}  // namespace conelab
