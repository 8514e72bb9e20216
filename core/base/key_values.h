// The keys of `-p KEY=VALUE` that a data set or a training takes: declarations, and values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

struct KeyInfo {
  const char* key;
  const char* initial;  ///< The default as typed.
  const char* about;
  Domain domain = Domain::whole;
  /// For Domain::choice its words, "yes|no"; for any other domain "text" allows any text.
  const char* choices = "";
  double most = 1e9;    ///< The largest number allowed.
  bool needed = false;  ///< Whether it must be given.

  [[nodiscard]] bool is_text() const { return *choices != 0; }
};

/// Values by key, as text.
using KeyTexts = std::map<std::string, std::string>;

/// The values of all keys that something takes, checked, with the defaults of those not given.
class KeyValues {
 public:
  /// `owner` is what messages call it: "data set tree". Throws misuse for a key that is unknown
  /// (with the nearest one) or missing, and for a value outside its domain.
  KeyValues(const std::string& owner, const std::vector<KeyInfo>& keys, const KeyTexts& given);

  [[nodiscard]] double number(const std::string& key) const { return numbers_.at(key); }
  [[nodiscard]] std::int64_t whole(const std::string& key) const {
    return static_cast<std::int64_t>(numbers_.at(key));
  }
  [[nodiscard]] const std::string& text(const std::string& key) const { return texts_.at(key); }
  [[nodiscard]] const KeyTexts& texts() const { return texts_; }

 private:
  KeyTexts texts_;  ///< All values.
  std::map<std::string, double> numbers_;
};

}  // namespace conelab
